// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/launch_limits.hpp"

#include <algorithm>

#include "grader/vgpu/timing/occupancy.hpp"

namespace membound::vgpu::runtime {
namespace {

// The same on every compute capability so far: programming guide, technical specifications.
constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
constexpr std::uint32_t kMaxBlockZ = 64;
constexpr std::uint32_t kMaxGridX = 0x7fffffff;
constexpr std::uint32_t kMaxGridYZ = 65535;
constexpr std::uint32_t kRegisterUnit = 256;

std::string shape(const dim3& size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

std::string limit(std::uint64_t most) { return "; the limit is " + std::to_string(most); }

/// One direction of grid or block.
struct Extent {
  const char* name;
  std::uint32_t asked, most;
};

/// What is wrong with a grid or a block of this shape; empty: nothing.
std::string bad_extent(const std::string& whose, const dim3& size, const Extent (&extents)[3]) {
  for (const Extent& extent : extents) {
    if (extent.asked == 0)
      return whose + " of " + shape(size) + " is empty: each extent is at least 1";
    if (extent.asked > extent.most)
      return whose + " of " + shape(size) + " has " + std::to_string(extent.asked) + " along " +
             extent.name + limit(extent.most);
  }
  return "";
}

std::string bad_shape(const dim3& grid, const dim3& block) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads > kMaxThreadsPerBlock)
    return "a block of " + shape(block) + " has " + std::to_string(threads) + " threads" +
           limit(kMaxThreadsPerBlock);
  std::string wrong = bad_extent("a block", block,
                                 {{"x", block.x, kMaxThreadsPerBlock},
                                  {"y", block.y, kMaxThreadsPerBlock},
                                  {"z", block.z, kMaxBlockZ}});
  if (wrong.empty())
    wrong = bad_extent(
        "a grid", grid,
        {{"x", grid.x, kMaxGridX}, {"y", grid.y, kMaxGridYZ}, {"z", grid.z, kMaxGridYZ}});
  return wrong;
}

std::string bad_shared(const Context& context, const KernelHandle& handle, std::size_t dynamic) {
  const std::uint64_t fixed = handle.kernel->static_shared_bytes;
  const std::uint32_t most = max_dynamic_shared_bytes(context, handle);
  const std::uint32_t opted = context.machine.shared_per_block_optin_bytes;
  const std::string asked = std::to_string(dynamic) +
                            " bytes of dynamic shared memory are asked for" +
                            (fixed == 0 ? "" : " beside " + std::to_string(fixed) + " static ones");
  if (dynamic + fixed > opted) return asked + "; a block has at most " + std::to_string(opted);
  if (dynamic > most)
    return asked +
           "; without cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, "
           "bytes) the limit is " +
           std::to_string(most);
  return "";
}

std::string bad_block_of_kernel(const program::Kernel& kernel, const dim3& block) {
  const std::uint32_t threads = block.x * block.y * block.z;
  if (threads > kernel.max_threads_per_block)
    return "a block of " + std::to_string(threads) +
           " threads is larger than the kernel's "
           "__launch_bounds__" +
           limit(kernel.max_threads_per_block);
  if (kernel.required_block && *kernel.required_block != Dim3{block.x, block.y, block.z})
    return "a block of " + shape(block) + " is not the one that the kernel was compiled for, " +
           shape({kernel.required_block->x, kernel.required_block->y, kernel.required_block->z});
  return "";
}

}  // namespace

std::uint32_t registers_of_warp(const program::Kernel& kernel) {
  return (kernel.register_count * 32 + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
}

std::uint32_t max_dynamic_shared_bytes(const Context& context, const KernelHandle& handle) {
  if (handle.max_dynamic_shared_bytes >= 0)
    return static_cast<std::uint32_t>(handle.max_dynamic_shared_bytes);
  const std::uint32_t fixed = handle.kernel->static_shared_bytes;
  return context.machine.shared_per_block_bytes -
         std::min(context.machine.shared_per_block_bytes, fixed);
}

std::uint32_t max_threads_per_block(const Context& context, const program::Kernel& kernel) {
  std::uint32_t threads = std::min(kMaxThreadsPerBlock, kernel.max_threads_per_block);
  if (const std::uint32_t per_warp = registers_of_warp(kernel); per_warp > 0)
    threads = std::min(threads, context.machine.registers_per_block / per_warp / 4 * 4 * 32);
  return threads;
}

std::optional<RefusedLaunch> refused_launch(const Context& context, const KernelHandle& handle,
                                            const LaunchConfiguration& launch) {
  const program::Kernel& kernel = *handle.kernel;
  // Not cudaErrorInvalidConfiguration: CUDA 13.0 with driver 580 on an H200 calls a bad shape this.
  std::string why = bad_shape(launch.grid, launch.block);
  // A block of a cluster would find itself alone, as it does nowhere else.
  if (why.empty() && kernel.cluster_blocks > 1)
    return RefusedLaunch{cudaErrorNotSupported, "the kernel runs in clusters of " +
                                                    std::to_string(kernel.cluster_blocks) +
                                                    " blocks, of which there is no model"};
  if (why.empty()) why = bad_shared(context, handle, launch.dynamic_shared_bytes);
  if (why.empty()) why = bad_block_of_kernel(kernel, launch.block);
  if (!why.empty()) return RefusedLaunch{cudaErrorInvalidValue, std::move(why)};
  const std::uint32_t threads = launch.block.x * launch.block.y * launch.block.z;
  if (const std::uint32_t most = max_threads_per_block(context, kernel); threads > most)
    return RefusedLaunch{cudaErrorLaunchOutOfResources,
                         "a block of " + std::to_string(threads) + " threads with " +
                             std::to_string(kernel.register_count) +
                             " registers each needs more than the " +
                             std::to_string(context.machine.registers_per_block) +
                             " that a block may have; with so "
                             "many of them a block has at most " +
                             std::to_string(most) + " threads"};
  if (!launch.cooperative) return std::nullopt;
  const auto shared =
      static_cast<std::uint32_t>(kernel.static_shared_bytes + launch.dynamic_shared_bytes);
  const timing::Occupancy occupancy =
      occupancy_of(context.machine, {threads, kernel.register_count, shared});
  const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  const std::uint64_t most = std::uint64_t{occupancy.blocks} * context.machine.sm_count;
  if (blocks <= most) return std::nullopt;
  return RefusedLaunch{cudaErrorCooperativeLaunchTooLarge,
                       "a cooperative launch of " + std::to_string(blocks) +
                           " blocks, which must all run at the same time" + limit(most)};
}

}  // namespace membound::vgpu::runtime
