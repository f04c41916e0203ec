// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether a launch keeps the limits of the device and of its kernel; a refusal names the limit.
/// Place in the chain: launcher -> [launch_validator]. Left out: CUDA; limits arrive as numbers.
#pragma once

#include <cstdint>
#include <string>

#include "grader/base/result.hpp"
#include "grader/harness/cases/launch_plan.hpp"

namespace membound::harness {

/// What the device allows any launch.
struct DeviceLimits {
  PlanExtent grid{2147483647, 65535, 65535};
  PlanExtent block{1024, 1024, 64};
  std::int64_t threads_per_block = 1024;
  std::int64_t shared_bytes_per_block = 0;  ///< with the opt-in above 48 KiB
  std::int64_t registers_per_block = 0;
  std::int64_t free_bytes = 0;  ///< memory left for scratch
};

/// What the compiled kernel allows.
struct KernelLimits {
  std::string name;  ///< for messages
  std::int64_t static_shared_bytes = 0;
  std::int64_t threads_per_block = 1024;  ///< what its registers leave room for
  std::int64_t registers_per_thread = 0;
};

/// Checks what can be said of a record before its kernels are looked up: sizes, steps, scratch.
/// `where` names the function: "LAUNCH_SHAPE(transpose_tiled)".
[[nodiscard]] base::Status check_record(const PlanRecord& record, int size_count,
                                        const DeviceLimits& device, const std::string& where);

/// Checks one launch. `sizes_text` ("rows = 5, cols = 7") goes into the message; a grid of 0 blocks
/// is allowed only when `empty` says that there is nothing to do.
[[nodiscard]] base::Status check_shape(const PlanShape& shape, const KernelLimits& kernel,
                                       const DeviceLimits& device, bool empty,
                                       const std::string& where, const std::string& sizes_text);

/// Whether the shape asks for no block at all.
[[nodiscard]] bool is_empty_grid(const PlanShape& shape);

}  // namespace membound::harness
