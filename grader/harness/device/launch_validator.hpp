// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether a launch keeps the limits of the device and of its kernel; a refusal names the limit.
/// The launch is what the student's LAUNCH_SHAPE or LAUNCH_PLAN answers, as it lies in memory: the
/// host's view of the structs of student/membound.cuh, which a test compares with it byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "grader/base/result.hpp"

namespace membound::harness {

/// Blocks or threads in x, y and z; 64 bits wide so that a number that is too large stays visible.
struct PlanExtent {
  std::int64_t x, y, z;
};

struct PlanShape {
  PlanExtent grid, block;
  std::int64_t shared_bytes;
  std::int32_t cooperative;  ///< 1: all blocks at the same time
};

struct PlanStep {
  char kernel[64];  ///< without parameters; empty in the record of a LAUNCH_SHAPE
  PlanShape shape;
};

/// What the one-thread kernel `membound_launch_of_<name>` writes.
struct PlanRecord {
  static constexpr int kMaxSteps = 8;

  PlanStep steps[kMaxSteps];
  std::int32_t step_count;  ///< may pass kMaxSteps; then the plan is refused
  std::int64_t scratch_bytes;
  std::int32_t parameter_count;  ///< how many sizes the student's function takes
  std::int32_t is_plan;          ///< 1: LAUNCH_PLAN, 0: LAUNCH_SHAPE
};

/// The second argument of the evaluation kernel.
struct PlanGpu {
  std::int32_t sm_count, max_threads_per_sm, max_shared_bytes_per_block, max_shared_bytes_per_sm,
      registers_per_sm;
  std::int64_t l2_bytes;
};

/// The third: the lab's sizes in order, the rest 0.
struct PlanSizes {
  static constexpr int kMax = 6;
  std::int64_t value[kMax];
};

static_assert(std::is_trivially_copyable_v<PlanRecord>);

/// The kernel that evaluates the launch of `stage_kernel`.
[[nodiscard]] inline std::string evaluation_kernel_name(const std::string& stage_kernel) {
  return "membound_launch_of_" + stage_kernel;
}

/// What the device allows any launch, as its runtime says: there are no numbers of our own.
struct DeviceLimits {
  PlanExtent grid = {};
  PlanExtent block = {};
  std::int64_t threads_per_block = 0;
  std::int64_t shared_bytes_per_block = 0;       ///< for a kernel that opted in
  std::int64_t shared_bytes_without_opt_in = 0;  ///< per block
  std::int64_t registers_per_block = 0;
  std::int64_t free_bytes = 0;  ///< memory left for scratch
};

/// What the compiled kernel allows.
struct KernelLimits {
  std::string name;  ///< for messages
  std::int64_t static_shared_bytes = 0;
  std::int64_t threads_per_block = 0;  ///< what its registers leave room for
  std::int64_t registers_per_thread = 0;
  std::int64_t blocks_at_once = 0;  ///< of a cooperative launch, on the whole device; 0: unknown
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
