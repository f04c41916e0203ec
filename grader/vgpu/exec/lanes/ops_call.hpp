// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What calls, the functions of the device runtime and the stack ask of each other, and where a
/// call's arguments and results lie: in registers or in the frame's memory.
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// Faults where the running frame, with `more` bytes, is beyond the stack that a GPU's driver gives
/// a thread: what the kernel surely needs, or cudaLimitStackSize where that is more.
bool stack_holds(Warp& w, const Step* s, std::uint64_t more);

/// Calls a function that the device runtime provides, or says that nobody does.
const Step* call_builtin(Warp& w, const Step* s, const program::Call& call);

/// `bytes` of the lane's memory in `frame`.
[[nodiscard]] std::byte* frame_place(const Warp& w, const Frame& frame, int lane,
                                     std::uint32_t offset, std::uint32_t bytes);

/// Where the caller has what it passes or gets; a value has at most 8 bytes (the decoder's
/// promise).
[[nodiscard]] std::byte* bytes_of(const Warp& w, const Frame& caller,
                                  const program::ArgumentCopy& copy, int lane);

}  // namespace membound::vgpu::exec
