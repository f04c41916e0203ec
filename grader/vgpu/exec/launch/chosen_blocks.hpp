// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs some blocks of a launch, with all that is counted or without.
/// Place in the chain: sampled_launch -> [chosen_blocks] -> grid, observe. Left out: which blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "grader/vgpu/exec/launch/scaled_counters.hpp"
#include "grader/vgpu/exec/state/arrivals.hpp"
#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// What they do, on `groups` SMs that take turns; of StratumWork all but `blocks`. A fault is left
/// in `state`. `arrivals` may be null.
[[nodiscard]] StratumWork count_blocks(Launch& state, std::vector<std::uint64_t> blocks,
                                       std::uint32_t groups, Arrivals* arrivals);

/// Leaves their results only; the warp instructions that they took. The last blocks of a launch:
/// nothing is counted from here on.
[[nodiscard]] std::uint64_t run_uncounted(Launch& state, std::vector<std::uint64_t> blocks);

}  // namespace membound::vgpu::exec
