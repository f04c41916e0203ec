// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Copies and fills: what the API's many spellings come down to, checked, done, and timed.
/// Place in the chain: memory API -> [data_movement] -> memory, virtual clock.
#pragma once

#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/operation.hpp"

namespace membound::vgpu::runtime {

/// Bytes from the first to behind the last that an end of the copy touches.
[[nodiscard]] std::uint64_t reach_bytes(const CopyEnd& end, const CopyOperation& copy);
/// Host memory the device can use under the same address: pinned or managed.
[[nodiscard]] bool is_shared_memory(const Context& context, std::uint64_t address);

/// Which side of a copy a pointer is on. Pinned and managed memory is on both; it counts as host.
[[nodiscard]] bool is_device_pointer(const Context& context, const void* pointer);

/// Fills in `on_device` of both ends and checks them against `kind`, as the runtime does: a device
/// pointer where the kind says host, or the reverse, is an invalid value; so is a device range that
/// leaves its allocation.
cudaError_t check_copy(const Context& context, CopyOperation& copy, cudaMemcpyKind kind);

/// A plain copy of `bytes`, checked.
cudaError_t make_copy(const Context& context, CopyOperation& out, void* to, const void* from,
                      std::size_t bytes, cudaMemcpyKind kind);

/// What cudaMemcpy3D's parameters mean.
cudaError_t make_copy_3d(const Context& context, CopyOperation& out,
                         const cudaMemcpy3DParms& parameters);

/// Checks a fill's range; null and zero-sized fills are fine.
cudaError_t check_fill(const Context& context, FillOperation& fill);

/// Does it and adds its time to the timeline.
cudaError_t run_copy(Context& context, Timeline& timeline, const CopyOperation& copy);
cudaError_t run_fill(Context& context, Timeline& timeline, const FillOperation& fill);

/// True when the host must wait for an "asynchronous" copy: one end is pageable memory.
[[nodiscard]] bool copy_blocks_host(const Context& context, const CopyOperation& copy);

}  // namespace membound::vgpu::runtime
