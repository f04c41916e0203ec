// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What an atomic of a warp costs: requests, sectors and turns that lanes on one word take.
/// Place in the chain: ops_atomic -> [atomic_counts] -> memory/coalescer,
/// memory/shared_banks.
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// Of global memory; the lanes of `mask` take part.
void count_global_atomic(Warp& w, StepStats& stats, const program::Instruction& in,
                         const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes);
/// Of shared memory.
void count_shared_atomic(StepStats& stats, const program::Instruction& in,
                         const std::uint32_t* offsets, std::uint32_t mask, std::uint32_t bytes);

}  // namespace membound::vgpu::exec
