// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/launch_validator.hpp"

#include <array>

#include "grader/base/failpoint.hpp"
#include "grader/base/strings.hpp"

namespace membound::harness {
namespace {

constexpr std::array<const char*, 3> kAxes = {"x", "y", "z"};

std::array<std::int64_t, 3> axes_of(const PlanExtent& extent) {
  return {extent.x, extent.y, extent.z};
}

base::Error refused(const std::string& where, std::string found, std::string expected,
                    std::string advice) {
  return {base::ErrorKind::kInput, where, std::move(found), std::move(expected), std::move(advice)};
}

/// "grid.y = 70000 for rows = 5, cols = 7"
std::string value_text(const std::string& name, std::int64_t value, const std::string& sizes) {
  return name + " = " + std::to_string(value) + (sizes.empty() ? "" : " for " + sizes);
}

base::Status check_extent(const std::string& name, const PlanExtent& extent,
                          const PlanExtent& limit, bool zero_allowed, const std::string& where,
                          const std::string& sizes) {
  const auto values = axes_of(extent);
  const auto limits = axes_of(limit);
  for (std::size_t axis = 0; axis < values.size(); ++axis) {
    const std::string axis_name = name + "." + kAxes[axis];
    const std::int64_t least = zero_allowed ? 0 : 1;
    if (values[axis] >= least && values[axis] <= limits[axis]) continue;
    const std::string advice =
        values[axis] < least
            ? (name == "grid" ? "round the number of blocks up, ceil_div(n, threads), not down"
                              : "a block has at least one thread in each direction")
            : (name == "grid" && axis > 0
                   ? "the device takes many more blocks in x than in y and z; or let each thread "
                     "do more work"
                   : "use fewer, and let each do more work");
    return refused(
        where, value_text(axis_name, values[axis], sizes),
        axis_name + " from " + std::to_string(least) + " to " + std::to_string(limits[axis]),
        advice);
  }
  return base::Done{};
}

base::Status check_threads(const PlanShape& shape, const KernelLimits& kernel,
                           const DeviceLimits& device, const std::string& where) {
  const std::int64_t threads = shape.block.x * shape.block.y * shape.block.z;
  const std::string found = "block = " + std::to_string(shape.block.x) + " x " +
                            std::to_string(shape.block.y) + " x " + std::to_string(shape.block.z) +
                            " = " + base::counted(threads, "thread");
  if (threads > device.threads_per_block)
    return refused(where, found,
                   "at most " + base::counted(device.threads_per_block, "thread") + " per block",
                   "make the block smaller in one direction and the grid larger");
  if (threads > kernel.threads_per_block)
    return refused(where,
                   found + "; " + kernel.name + " uses " +
                       base::counted(kernel.registers_per_thread, "register") + " per thread",
                   "at most " + base::counted(kernel.threads_per_block, "thread") +
                       " per block with that many registers (the block has " +
                       std::to_string(device.registers_per_block) + ")",
                   "use a smaller block, or say __launch_bounds__(" + std::to_string(threads) +
                       ") so that the compiler saves registers");
  return base::Done{};
}

base::Status check_shared(const PlanShape& shape, const KernelLimits& kernel,
                          const DeviceLimits& device, const std::string& where,
                          const std::string& sizes) {
  if (shape.shared_bytes < 0)
    return refused(where, value_text("shared_bytes", shape.shared_bytes, sizes), "0 or more",
                   "shared_bytes counts bytes, not elements; leave it out for none");
  // Subtracted, not added: shared_bytes may be as large as 64 bits go.
  if (shape.shared_bytes > device.shared_bytes_per_block - kernel.static_shared_bytes)
    return refused(
        where,
        value_text("shared_bytes", shape.shared_bytes, sizes) +
            (kernel.static_shared_bytes > 0
                 ? ", on top of the " + base::counted(kernel.static_shared_bytes, "byte") +
                       " that " + kernel.name + " declares"
                 : ""),
        "at most " + base::counted(device.shared_bytes_per_block, "byte") +
            " of shared memory per block",
        "use a smaller tile");
  return base::Done{};
}

base::Status check_cooperative(const PlanShape& shape, const KernelLimits& kernel,
                               const std::string& where, const std::string& sizes) {
  if (shape.cooperative == 0 || kernel.blocks_at_once == 0) return base::Done{};
  const std::int64_t blocks = shape.grid.x * shape.grid.y * shape.grid.z;
  if (blocks <= kernel.blocks_at_once) return base::Done{};
  return refused(where,
                 "a cooperative launch of " + base::counted(blocks, "block") +
                     (sizes.empty() ? "" : " for " + sizes),
                 "at most " + base::counted(kernel.blocks_at_once, "block") +
                     ", which is what the device runs at the same time of " + kernel.name,
                 "choose the grid by the device and not by the data: a block that waits for one "
                 "that has no place yet would wait for ever");
}

}  // namespace

bool is_empty_grid(const PlanShape& shape) {
  return shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0;
}

base::Status check_record(const PlanRecord& record, int size_count, const DeviceLimits& device,
                          const std::string& where) {
  if (record.parameter_count != size_count)
    return refused(where,
                   "it takes " + std::to_string(record.parameter_count) +
                       (record.parameter_count == 1 ? " size" : " sizes"),
                   std::to_string(size_count) + (size_count == 1 ? " size" : " sizes"),
                   "keep the parameters that the skeleton gives it");
  if (record.step_count < 1)
    return refused(where, "a plan without a launch", "1 to 8 launches",
                   "add one with .then(\"kernel\", {grid, block})");
  if (record.step_count > PlanRecord::kMaxSteps)
    return refused(where, base::counted(record.step_count, "launch"),
                   "at most " + std::to_string(PlanRecord::kMaxSteps),
                   "let one launch do the work of several");
  if (record.scratch_bytes < 0)
    return refused(where, "scratch of " + base::counted(record.scratch_bytes, "byte"), "0 or more",
                   "does a product of two ints overflow? Multiply as long long");
  if (record.scratch_bytes > device.free_bytes && !base::switched_off("harness.launch-limits"))
    return refused(where, "scratch of " + base::counted(record.scratch_bytes, "byte"),
                   "at most the " + base::counted(device.free_bytes, "byte") +
                       " of device memory that are left",
                   "plan_with_scratch() counts bytes; how many does your algorithm need?");
  return base::Done{};
}

base::Status check_shape(const PlanShape& shape, const KernelLimits& kernel,
                         const DeviceLimits& device, bool empty, const std::string& where,
                         const std::string& sizes_text) {
  if (base::switched_off("harness.launch-limits")) return base::Done{};
  if (auto status = check_extent("block", shape.block, device.block, false, where, sizes_text);
      !status)
    return status;
  if (auto status = check_extent("grid", shape.grid, device.grid, empty, where, sizes_text);
      !status)
    return status;
  if (auto status = check_threads(shape, kernel, device, where); !status) return status;
  if (auto status = check_shared(shape, kernel, device, where, sizes_text); !status) return status;
  return check_cooperative(shape, kernel, where, sizes_text);
}

}  // namespace membound::harness
