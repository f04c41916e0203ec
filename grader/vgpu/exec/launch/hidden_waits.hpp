// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Waits for global memory that are over, in part or wholly, before anything needs what was
/// fetched: a tile that is fetched while the last one is worked on costs no wait of its own. Read
/// from the code: the clocks between a load and the first use of its value, once around the loop
/// where that comes at the loop's start; between an asynchronous copy and the wait for it.
/// Place in the chain: path_weights -> [hidden_waits] -> path_weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grader/vgpu/exec/state/step.hpp"
#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::exec {

/// Of the load rounds of each instruction, the parts (kUnrolledRounds make a round) that are
/// hidden. `sums` has one entry an instruction of `function` and one behind the last; a round takes
/// `round_clocks`.
[[nodiscard]] std::vector<std::uint32_t> hidden_waits(const program::Function& function,
                                                      std::span<const PathSum> sums,
                                                      double round_clocks);

}  // namespace membound::vgpu::exec
