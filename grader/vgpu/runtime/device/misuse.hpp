// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// apicheck: says why a call that copies, fills or frees memory was refused.
/// Place in the chain: copy_api, memory_api -> [misuse] -> report log.
/// Left out: deciding; data_movement.cpp and memory_api.cpp refuse.
#pragma once

#include <string_view>

#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/operation.hpp"

namespace membound::vgpu::runtime {

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
