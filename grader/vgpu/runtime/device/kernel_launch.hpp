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

/// Copies arguments to where the kernel expects them.
[[nodiscard]] std::vector<std::byte> pack_parameters(const program::Kernel& kernel,
                                                     void* const* arguments);

/// Runs it now; its time is added to `timeline`. A fault makes the device unusable. `footprint` is
/// filled in if it is not null.
cudaError_t run_kernel(Context& context, Timeline& timeline, const KernelOperation& operation,
                       std::uint64_t stream_id, bool in_graph, exec::Footprint* footprint);

}  // namespace membound::vgpu::runtime
