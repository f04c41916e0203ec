// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs some warps of a block, one after another, where no warp needs another.
/// Place in the chain: exec/launch/grid -> [some_warps] -> block.
///
/// A naive kernel may give one thread a whole row of a large result, so that a block takes as many
/// instructions as other launches. Its warps then are what blocks are elsewhere: one stands for
/// those beside it. What an SM's L1 keeps is then asked of fewer warps than share it on a GPU.
#pragma once

#include "grader/vgpu/exec/schedule/block.hpp"

namespace membound::vgpu::exec {

/// Of a block that was given up: has a warp of it ended that took long, while others have not? Then
/// one says nothing of another.
[[nodiscard]] bool has_unequal_warps(const Block& block);

/// Runs warps to their end, in an order that the sample's seed says, until one has taken long.
/// Those left are taken to be like it; the worker counts both. So a warp that has nothing to do, as
/// beyond the end of the data, stands for itself, as far as it comes first.
BlockTurn run_some_warps(Block& block);

}  // namespace membound::vgpu::exec
