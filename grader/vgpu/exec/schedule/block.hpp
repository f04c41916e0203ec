// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A block: its warps in turns, its barriers, its shared memory.
///
/// Warps take their turns by their numbers, or in orders drawn from a seed. A GPU promises none, so
/// a result that depends on one was right by luck. A turn ends where its warp waits; the order is
/// drawn anew each time all have had one, so that what comes after a barrier does not always begin
/// with the same warp. Where no warp needs another, some of them can stand for all.
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// The first sweep of a block that begins.
void start_turns(Block& block);
/// The next sweep. The order depends on the seed, the block and the number of the sweep alone.
void draw_turns(Block& block);

/// Are orders drawn at this instruction, if they are at all (LaunchRequest::order_lines)?
[[nodiscard]] bool draws_at(const Launch& launch, const Extra& extra);

/// Does the warp's turn end here, where it has just heard or told something? A block that only
/// waits must not go on for ever by pausing, so there are not many of them.
[[nodiscard]] bool draw_pause(Warp& warp);

/// Of the running lanes, those that go on by themselves from here where orders are drawn: a GPU
/// promises nobody that lanes without a barrier stay together. Mostly all of them.
[[nodiscard]] std::uint32_t draw_lanes(Warp& warp, const Step* step);

/// The lanes of a warp in some order: all 32, each in a turn of its own.
struct LaneOrder {
  std::uint32_t first = 0, stride = 1;  ///< odd
  [[nodiscard]] std::uint32_t lane(std::uint32_t turn) const {
    return (first + turn * stride) % 32;
  }
};

/// In which order an atomic operation serves its lanes this time, where that is drawn
/// (LaunchRequest::lane_order_seed is set). It depends on the seed, the block, the warp, the
/// instruction and what the block has executed so far; other draws stay as they are.
[[nodiscard]] LaneOrder draw_lane_order(const Warp& warp, const Step* step);

/// How a block's turn ended.
enum class BlockTurn : std::uint8_t {
  kDone,
  kYielded,  ///< all its warps only spin
  kPolled,   ///< … as when their last turn ended: nothing has come that they wait for
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

/// Of a block that was given up: has a warp of it ended that took long, while others have not? Then
/// one says nothing of another.
[[nodiscard]] bool has_unequal_warps(const Block& block);

/// Runs warps to their end, in an order that the sample's seed says, until one has taken long.
/// Those left are taken to be like it; the worker counts both. So a warp that has nothing to do, as
/// beyond the end of the data, stands for itself, as far as it comes first.
BlockTurn run_some_warps(Block& block);

}  // namespace membound::vgpu::exec
