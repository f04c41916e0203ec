// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The entry points the virtual GPU does not have: each exists, so that every program loads,
/// returns cudaErrorNotSupported, and says its name once.
#include <atomic>

#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/reports.hpp"

namespace membound::vgpu::runtime {
namespace {

cudaError_t refuse(const char* name, std::atomic<bool>& was_said) {
  if (!was_said.exchange(true)) messages::print(messages::missing_call(name));
  return remember_error(cudaErrorNotSupported);
}

}  // namespace
}  // namespace membound::vgpu::runtime

// Arguments are the caller's to clean up, so one signature serves all.
#define REFUSE_answered(name)
#define REFUSE_refused(name)                                 \
  CUDA_CALL name() {                                         \
    static std::atomic<bool> was_said{false};                \
    return membound::vgpu::runtime::refuse(#name, was_said); \
  }
#define ENTRY_POINT(name, what) REFUSE_##what(name)
#include "grader/device_code/cuda_api/entry_points.def"
#undef ENTRY_POINT
