// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where a program ends that calls a library for GPUs: `membound run` gives it stand-ins for these
/// (grader/cli/gpu_libraries.hpp), whose functions come here.
#include <cstdio>
#include <cstdlib>

#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/console_messages.hpp"

/// Says why and ends the program as wrong input does, with what it has printed and counted so far.
CUDA_EXPORT __attribute__((noreturn)) void membound_vgpu_stop(const char* message) {
  std::fflush(nullptr);
  membound::vgpu::runtime::messages::print(message);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): as the program's own exit would
  std::exit(membound::base::exit_code_of(membound::base::ErrorKind::kInput));
}
