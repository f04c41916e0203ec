// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Copies and fills: what the API's many spellings come down to, checked, done, and timed; and what
/// checkers say of them: apicheck why a call that copies, fills or frees memory was refused,
/// initcheck which bytes that go to the host nobody has written.
#pragma once

#include <string_view>

#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/graph.hpp"

namespace membound::vgpu::runtime {

/// Bytes from the first to past the last that an end of the copy touches.
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

/// With initcheck on: one finding of a copy that is about to be made, where it takes such bytes to
/// the host.
void tell_of_unwritten(Context& context, const CopyOperation& copy);

/// Each does nothing unless apicheck is on. `call` is the entry point's name: "cudaMemcpy".
void tell_of_refused_copy(Context& context, std::string_view call, const CopyOperation& copy,
                          cudaMemcpyKind kind);
/// A copy within the device that is done, although its two ends overlap.
void tell_of_overlap(Context& context, std::string_view call, const CopyOperation& copy);
void tell_of_refused_symbol(Context& context, std::string_view call, const void* symbol,
                            std::size_t offset, std::size_t bytes);
void tell_of_refused_fill(Context& context, std::string_view call, const FillOperation& fill);
/// `wants_host`: the call gives back pinned memory, else the device's or managed memory.
void tell_of_refused_free(Context& context, std::string_view call, const void* pointer,
                          bool wants_host);

}  // namespace membound::vgpu::runtime
