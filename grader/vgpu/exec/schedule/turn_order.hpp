// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// In which order the warps of a block take their turns: by their numbers, or in orders drawn from
/// a seed. A GPU promises none, so a result that hangs on one was right by luck. A turn ends where
/// its warp waits; each round of turns draws anew, so that what comes after a barrier does not
/// depend on what came before it.
/// Place in the chain: exec/launch/grid -> [turn_order] <- exec/schedule/block.
/// Left out: the order of blocks (grid's), and of the lanes of a warp (the scheduler's).
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// The first round of a block that begins.
void start_turns(Block& block);
/// The next round. The order depends on the seed, the block and the number of the round alone.
void draw_turns(Block& block);

/// Does the warp's turn end here, where it has just heard or told something? A block that only
/// waits must not go on for ever by pausing, so there are not many of them.
[[nodiscard]] bool draw_pause(Warp& warp);

}  // namespace membound::vgpu::exec
