// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/runner_link.hpp"

#include <dlfcn.h>

#include <utility>

namespace membound::harness {
namespace {

template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

std::string runner_problem(int device) {
  static auto* const ask = find<const char*(int)>("membound_remote_problem");
  return ask == nullptr ? std::string() : std::string(ask(device));
}

bool runner_lost_after_launch(int device) {
  static auto* const ask = find<int(int)>("membound_remote_lost_after_launch");
  return ask != nullptr && ask(device) != 0;
}

bool runner_has_pageable_access(int device) {
  static auto* const ask = find<int(int)>("membound_remote_pageable_access");
  return ask != nullptr && ask(device) != 0;
}

bool parameters_match(const void* function, std::span<const std::size_t> sizes) {
  static const bool has_runners = find<void>("membound_remote_problem") != nullptr;
  if (!has_runners) return true;
  std::size_t offset = 0, size = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (cudaFuncGetParamInfo(function, i, &offset, &size) != cudaSuccess || size != sizes[i])
      return false;
  return cudaFuncGetParamInfo(function, sizes.size(), &offset, &size) != cudaSuccess;
}

LaunchBatch::LaunchBatch() {
  static auto* const begin = find<void()>("membound_remote_begin_batch");
  if (begin == nullptr) return;
  begin();
  open_ = true;
}

LaunchBatch::~LaunchBatch() { static_cast<void>(send()); }

cudaError_t LaunchBatch::send() {
  static auto* const end = find<cudaError_t()>("membound_remote_end_batch");
  return std::exchange(open_, false) ? end() : cudaSuccess;
}

}  // namespace membound::harness
