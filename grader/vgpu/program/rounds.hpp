// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How often a warp must wait for memory. Loads that can be in flight together form a round; the
/// first of a round is marked. A round ends at the end of a basic block, at a barrier, at a store
/// that might be to the same place, and where an address depends on a load of the round. A short
/// piece that a branch leads around ends none: ptxas makes predicated instructions of it.
/// Place in the chain: program/linker, before registers get slots -> counters *_load_rounds.
#pragma once

#include <cstddef>

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// Sets kStartsGlobalRound and kStartsSharedRound; operands still carry virtual registers.
void mark_rounds(Function& function, std::size_t registers);

}  // namespace membound::vgpu::program
