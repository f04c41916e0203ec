// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The critical path of one warp, from the code: what a straight run of instructions takes (issue
/// slots, clocks of the longest chain of results, load batches, requests of shared memory), as sums
/// from the start of the code, so that a run from step a to step b takes weights[b] - weights[a];
/// and the exposed latency of its load batches, since a tile that is fetched while the last one is
/// worked on costs no wait of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grader/vgpu/exec/state/execution_state.hpp"
#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::exec {

/// What the machine of the launch takes for each instruction.
[[nodiscard]] const program::CostTable& costs_of(const Launch& launch);

/// One entry a step of the launch and one after the last.
[[nodiscard]] std::vector<PathSum> critical_path(const Launch& launch);

/// Of the load batches of each instruction, the parts (kUnrollFactor make a batch) that are
/// hidden. `sums` has one entry an instruction of `function` and one after the last.
[[nodiscard]] std::vector<std::uint32_t> hidden_latency(const program::Function& function,
                                                        std::span<const PathSum> sums,
                                                        const program::CostTable& costs);

}  // namespace membound::vgpu::exec
