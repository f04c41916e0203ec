// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A kernel launch from checked configuration to counted, timed result.
/// Place in the chain: launch API -> [kernel_launch] -> exec, timing, report log.
#pragma once

#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/operation.hpp"

namespace membound::vgpu::runtime {

/// Loads the kernel's module if need be; a failure is explained on standard error once.
cudaError_t load_kernel(Context& context, KernelHandle& handle);

/// Dynamic shared memory a launch of this kernel may ask for.
[[nodiscard]] std::uint32_t max_dynamic_shared_bytes(const Context& context,
                                                     const KernelHandle& handle);
/// Threads a block of it may have: the launch bound, and the registers there are.
[[nodiscard]] std::uint32_t max_threads_per_block(const Context& context,
                                                  const program::Kernel& kernel);

/// The runtime's own checks, with its codes. `dynamic_shared_bytes` is as the program gave it.
cudaError_t check_launch(const Context& context, const KernelHandle& handle, const dim3& grid,
                         const dim3& block, std::size_t dynamic_shared_bytes, bool cooperative);

/// Copies arguments to where the kernel expects them.
[[nodiscard]] std::vector<std::byte> pack_parameters(const program::Kernel& kernel,
                                                     void* const* arguments);

/// Runs it now; its time is added to `timeline`. A fault makes the device unusable. `footprint` is
/// filled in if it is not null.
cudaError_t run_kernel(Context& context, Timeline& timeline, const KernelOperation& operation,
                       std::uint64_t stream_id, bool in_graph, exec::Footprint* footprint);

}  // namespace membound::vgpu::runtime
