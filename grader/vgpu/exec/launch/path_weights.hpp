// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a straight run of instructions asks of its warp, as sums from the start of the code: a run
/// from step a to step b asks weights[b] - weights[a].
/// Place in the chain: prepare -> [path_weights] -> lanes (end_run).
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// What the machine of the launch takes for each instruction.
[[nodiscard]] const program::CostTable& costs_of(const Launch& launch);

/// One entry a step of the launch and one behind the last.
[[nodiscard]] std::vector<PathSum> path_weights(const Launch& launch);

}  // namespace membound::vgpu::exec
