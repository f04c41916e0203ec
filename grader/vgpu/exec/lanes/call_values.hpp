// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a call passes and gets back: arguments and results, in registers or in the frame's memory.
/// Place in the chain: ops_call, ops_builtin -> [call_values].
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// `bytes` of the lane's memory in `frame`.
[[nodiscard]] std::byte* frame_place(const Warp& w, const Frame& frame, int lane,
                                     std::uint32_t offset, std::uint32_t bytes);

/// Where the caller has what it passes or gets; a value has at most 8 bytes (the decoder's
/// promise).
[[nodiscard]] std::byte* bytes_of(const Warp& w, const Frame& caller,
                                  const program::ArgumentCopy& copy, int lane);

}  // namespace membound::vgpu::exec
