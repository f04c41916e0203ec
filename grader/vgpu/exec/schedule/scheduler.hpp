// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which lanes of a warp run next. A warp is a few groups of lanes, each with one program counter;
/// a launch has one of two schedulers, chosen at its start.
#pragma once

#include <optional>

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// How a warp's turn ended.
enum class Turn : std::uint8_t {
  kDone,      ///< every lane has exited
  kBlocked,   ///< every group waits
  kYielded,   ///< it waits for another thread by spinning
  kPolled,    ///< … as when its last turn ended: nothing has come since that it waits for
  kPassed,    ///< it has handed something over: others take it before it goes on
  kPassedOn,  ///< … to other blocks, too
  kHalted     ///< the launch is over
};

/// How groups of lanes part, take turns and meet again. Has no state of its own: that is the
/// warp's.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  /// The group to run next, if one can.
  [[nodiscard]] virtual std::optional<std::uint32_t> pick(const Warp& warp) const = 0;
  /// Where the running group, now at `pc`, will meet others; null: nowhere.
  [[nodiscard]] virtual const Step* next_meeting(const Warp& warp, const Step* pc) const = 0;
  /// The running group has come to that place.
  virtual void reconverge(Warp& warp) const = 0;
  /// A branch only some lanes take: splits the running group. Returns where to go on.
  virtual const Step* diverge(Warp& warp, const Step* branch, std::uint32_t taken) const = 0;
  /// A taken branch while other groups wait elsewhere.
  virtual const Step* redirect(Warp& warp, const Step* target) const = 0;
  /// Adds lanes at `pc`, joining a group that waits there in the same frame.
  virtual Group& add_group(Warp& warp, const Step* pc, std::uint32_t mask, Frame* frame,
                           std::uint32_t penalty) const = 0;
  /// The running lanes have ended.
  virtual void remove_ended(Warp& warp) const = 0;
  /// The running group spins in vain. Nothing: another group of the warp goes on.
  virtual std::optional<Turn> step_back(Warp& warp) const = 0;
  /// Do lanes at a collective or a warp barrier wait for lanes that are elsewhere?
  [[nodiscard]] virtual bool waits_for_lanes() const = 0;
};

/// Since Volta: the group deepest in calls and furthest behind runs first, so that groups meet
/// again as early as they can; one that spins in vain steps back behind the others, so that every
/// lane makes progress.
[[nodiscard]] const Scheduler& independent_scheduler();
/// Before Volta: groups form a stack of reconvergence points, only the top one runs.
[[nodiscard]] const Scheduler& lockstep_scheduler();

/// Runs the warp until it must wait, ends or has spun long enough.
Turn run_warp(Warp& warp);
/// A branch with many targets, one a lane. Returns where to go on.
const Step* scatter_group(Warp& warp, const Step* const* targets);
/// The running lanes end at this step. Returns warp.stop.
const Step* exit_lanes(Warp& warp, const Step* at);

/// What one turn may cost; see BranchOperand::cost and charge().
inline constexpr std::int32_t kTimeSlice = 1 << 20;
inline constexpr std::int32_t kPollCost = 1 << 16;  ///< a loop that surely polls: 16 iterations
inline constexpr std::int32_t kSpinCost = 1 << 8;   ///< a loop that may: 4096 iterations
/// Any other loop: its instructions, so that a turn of a long one is not much longer.
inline constexpr std::int32_t kLeastLoopCost = 1 << 4, kMostLoopCost = kSpinCost - 1;

/// CPU time of the calling thread, the system's for it included, in ns.
[[nodiscard]] std::uint64_t thread_cpu_ns();

}  // namespace membound::vgpu::exec
