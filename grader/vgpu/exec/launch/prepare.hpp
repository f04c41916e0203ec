// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Makes a kernel ready to run: a handler for every instruction, constants spread over 32 lanes.
/// Place in the chain: exec/launch/grid -> [prepare] -> select (handlers).
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"
#include "grader/vgpu/exec/state/variant.hpp"

namespace membound::vgpu::exec {

/// The handler of one instruction, or the one that raises "unsupported instruction".
[[nodiscard]] Handler choose_handler(const program::Instruction& in, Variant variant);

/// Raises "unsupported instruction".
[[nodiscard]] Handler unsupported_handler();

/// Fills steps, code and constants of `launch` for every function its kernel can reach.
void prepare(Launch& launch, Variant variant);

}  // namespace membound::vgpu::exec
