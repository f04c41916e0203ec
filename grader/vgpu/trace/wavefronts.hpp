// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which wavefront serves which word of which lane, for pictures of shared memory.
/// Place in the chain: trace -> [wavefronts] -> memory/shared_banks, whose counts these are.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "grader/vgpu/exec/state/launch_request.hpp"

namespace membound::vgpu::trace {

/// For each of 32 lanes the wavefront, from 1 on, of each word it wants; nothing for lanes that do
/// not take part.
using LaneWavefronts = std::array<std::vector<std::uint32_t>, 32>;

/// Lanes of one pass that want the same word are served together; the different words of one bank
/// one after the other, in the order of the lanes. The largest
/// number that appears is what the counters say.
[[nodiscard]] LaneWavefronts assign_wavefronts(const std::uint64_t* offsets, std::uint32_t mask,
                                               std::uint32_t bytes, exec::AccessKind kind);

}  // namespace membound::vgpu::trace
