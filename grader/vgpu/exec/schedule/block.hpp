// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A block: its warps in turns, its barriers, its shared memory.
/// Place in the chain: exec/launch/grid -> [block] -> scheduler.
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// How a block's turn ended.
enum class BlockTurn : std::uint8_t {
  kDone,
  kYielded,  ///< all its warps only spin
  kPassed,   ///< it has handed something over to other blocks
  kHalted
};

/// A block of the launch with its warps' memory, to be used for one block after another.
[[nodiscard]] std::unique_ptr<Block> make_block(Launch& launch, Worker& worker);
/// Sets every warp to the kernel's first instruction.
void start_block(Block& block, std::uint64_t linear);
/// Runs until the block is done, or (with `may_yield`) until all its warps only spin or one has
/// handed something over to other blocks.
BlockTurn run_block(Block& block, bool may_yield);

/// Lanes of `warp` have exited: barriers may open, frames end.
void leave_block(Warp& warp, std::uint32_t mask);
/// The running group arrives at barrier `id`; opens it if it is the last. True: waits.
bool arrive_at_barrier(Warp& warp, const Step* step, std::uint32_t id, std::uint32_t expected,
                       std::uint32_t predicate);

/// Writes what bar.red computed into the destination of a group that waited.
void deliver_barrier_result(Warp& warp, const Group& group, const BarrierState& barrier);

/// A frame for `function`, called from `caller` (null for the kernel). Null: stack overflow.
Frame* make_frame(Warp& warp, std::uint32_t function, Frame* caller, std::uint32_t lanes);
/// `lanes` lanes leave the frame; the last one frees it.
void leave_frame(Warp& warp, Frame* frame, std::uint32_t lanes);

}  // namespace membound::vgpu::exec
