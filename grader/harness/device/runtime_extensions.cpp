// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/runtime_extensions.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace membound::harness {

bool device_checks() {
  static const bool on = [] {
    const char* const checks = std::getenv("MEMBOUND_CHECK");
    return checks != nullptr && *checks != '\0' && std::strcmp(checks, "none") != 0;
  }();
  return on;
}

bool all_are_watched() {
  static const bool traced = [] {
    const char* const trace = std::getenv("MEMBOUND_TRACE");
    return trace != nullptr && *trace != '\0' && std::strcmp(trace, "off") != 0;
  }();
  return traced || device_checks();
}

void forget_writes(const void* d_begin, std::size_t bytes) {
  if (!device_checks() || bytes == 0) return;
  using Forget = void(const void*, std::size_t);
  auto* const forget = runtime_function<Forget>("membound_vgpu_forget_writes");
  if (forget != nullptr) forget(d_begin, bytes);
}

std::string runner_problem(int device) {
  static auto* const ask = runtime_function<const char*(int)>("membound_remote_problem");
  return ask == nullptr ? std::string() : std::string(ask(device));
}

bool runner_lost_after_launch(int device) {
  static auto* const ask = runtime_function<int(int)>("membound_remote_lost_after_launch");
  return ask != nullptr && ask(device) != 0;
}

bool runner_has_pageable_access(int device) {
  static auto* const ask = runtime_function<int(int)>("membound_remote_pageable_access");
  return ask != nullptr && ask(device) != 0;
}

bool parameters_match(const void* function, std::span<const std::size_t> sizes) {
  static const bool has_runners = runtime_function<void>("membound_remote_problem") != nullptr;
  if (!has_runners) return true;
  std::size_t offset = 0, size = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (cudaFuncGetParamInfo(function, i, &offset, &size) != cudaSuccess || size != sizes[i])
      return false;
  return cudaFuncGetParamInfo(function, sizes.size(), &offset, &size) != cudaSuccess;
}

LaunchBatch::LaunchBatch() {
  static auto* const begin = runtime_function<void()>("membound_remote_begin_batch");
  if (begin == nullptr) return;
  begin();
  open_ = true;
}

LaunchBatch::~LaunchBatch() { static_cast<void>(send()); }

cudaError_t LaunchBatch::send() {
  static auto* const end = runtime_function<cudaError_t()>("membound_remote_end_batch");
  return std::exchange(open_, false) ? end() : cudaSuccess;
}

}  // namespace membound::harness
