// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which lanes of a warp run next. A warp is a few groups of lanes, each with one program counter;
/// the group deepest in calls and furthest behind runs first, so that groups meet again as early as
/// they can. A group that spins in vain steps back behind the others: every lane makes progress.
/// With lockstep scheduling groups form a stack of reconvergence points instead, as before Volta.
/// Place in the chain: exec/block -> [scheduler] -> handlers.
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// How a warp's turn ended.
enum class Turn : std::uint8_t {
  kDone,     ///< every lane has exited
  kBlocked,  ///< every group waits
  kYielded,  ///< it waits for another thread by spinning
  kHalted    ///< the launch is over
};

/// Runs the warp until it must wait, ends or has spun long enough.
Turn run_warp(Warp& warp);

/// True when some group of the warp could run.
[[nodiscard]] bool has_ready_group(const Warp& warp);

/// A branch only some lanes take: splits the running group. Returns where to go on.
const Step* diverge(Warp& warp, const Step* branch, std::uint32_t taken);
/// The same for a branch with many targets.
const Step* scatter_group(Warp& warp, const Step* branch, const Step* const* targets);
/// A taken branch while other groups wait elsewhere.
const Step* redirect(Warp& warp, const Step* target);

/// Adds lanes at `pc`, joining a group that waits there in the same frame.
Group& add_group(Warp& warp, const Step* pc, std::uint32_t mask, Frame* frame,
                 std::uint32_t penalty);
/// The running lanes end. Returns warp.stop.
const Step* exit_lanes(Warp& warp, const Step* at);

/// Patience of one turn; see Step::cost.
inline constexpr std::int32_t kPatience = 1 << 16;
inline constexpr std::int32_t kPollCost = 1 << 12;  ///< a loop that surely polls: 16 rounds
inline constexpr std::int32_t kSpinCost = 1 << 4;   ///< a loop that may: 4096 rounds
inline constexpr std::int32_t kLoopCost = 1;

}  // namespace membound::vgpu::exec
