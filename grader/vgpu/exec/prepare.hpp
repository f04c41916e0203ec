// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Makes a kernel ready to run: a handler for every instruction, constants spread over 32 lanes.
/// Place in the chain: exec/grid -> [prepare] -> select (handlers).
#pragma once

#include "grader/vgpu/exec/machine.hpp"

namespace membound::vgpu::exec {

/// Which variant of the handlers runs: the best this processor has, or, where the environment says
/// MEMBOUND_HANDLERS=generic, the one for every x86-64.
enum class Variant : std::uint8_t { kGeneric, kAvx2 };
[[nodiscard]] Variant best_variant();
/// The handler of one instruction, or the one that raises "unsupported instruction".
[[nodiscard]] Handler choose_handler(const program::Instruction& in, Variant variant);

/// Fills steps, code and constants of `launch` for every function its kernel can reach.
void prepare(Launch& launch, Variant variant);

}  // namespace membound::vgpu::exec
