// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What calls, the functions of the device runtime and the stack ask of each other.
/// Place in the chain: ops_call -> [ops_call] -> ops_builtin,
/// ops_stack.
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// Faults where the running frame, with `more` bytes, is beyond the stack that a GPU's driver gives
/// a thread: what the kernel surely needs, or cudaLimitStackSize where that is more.
bool stack_holds(Warp& w, const Step* s, std::uint64_t more);

/// Calls a function that the device runtime provides, or says that nobody does.
const Step* call_builtin(Warp& w, const Step* s, const program::Call& call);

}  // namespace membound::vgpu::exec
