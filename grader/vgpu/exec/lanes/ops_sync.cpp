// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Barriers of a block and of a warp, traps, and sleeping.
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/schedule/block.hpp"
#include "grader/vgpu/exec/schedule/scheduler.hpp"
#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec {
namespace {

using generic::at;
using generic::end_run;
using generic::predicate;
using program::Atomic;
using program::BarrierMode;
using program::Instruction;
using program::Opcode;

std::uint32_t first_lane(const Warp& w) {
  return static_cast<std::uint32_t>(__builtin_ctz(w.mask));
}

const Step* go_on(Warp& w, const Step* next) {
  return w.group_count == 1 ? next : w.launch->scheduler->redirect(w, next);
}

const Step* block_barrier(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const auto& barrier = in.as<program::BlockBarrier>();
  const std::uint32_t lane = first_lane(w);
  const std::uint32_t id = at<const std::uint32_t>(w, s->a)[lane];
  const std::uint32_t expected = barrier.counts_all ? 0 : at<const std::uint32_t>(w, s->b)[lane];
  if (id >= w.block->barriers.size())
    return raise(w, s, FaultKind::kIllegalAddress, lane, id,
                 "barrier " + std::to_string(id) + ": a block has the barriers 0 to 15");
  const std::uint32_t holds = barrier.mode == BarrierMode::kRed ? predicate(w, s->c) : 0;
  if (w.observer != nullptr && in.has(program::kAligned)) w.observer->barrier(w, s, w.full);
  w.write_combiner.barrier();
  end_run(w, s + 1);
  w.run_begin = s + 1;
  if (barrier.mode == BarrierMode::kArrive) {
    Group& group = w.groups[w.current];
    if (arrive_at_barrier(w, s, id, expected, 0)) group.state = GroupState::kReady;
    return go_on(w, s + 1);
  }
  if (!arrive_at_barrier(w, s, id, expected, holds)) return go_on(w, s + 1);
  w.leave = Leave::kWait;
  return w.stop;
}

/// Lanes of one warp meet, also at different places of the program.
const Step* warp_barrier(Warp& w, const Step* s) {
  Group& here = w.groups[w.current];
  std::uint32_t members = 0;  // tiles of one warp may each name their own lanes
  for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1)
    members |= at<const std::uint32_t>(w, s->a)[__builtin_ctz(rest)];
  const std::uint32_t wanted = members & w.live;
  if ((wanted & ~w.mask) == 0 || !w.launch->scheduler->waits_for_lanes()) {
    if (w.observer != nullptr) {
      tell_of_members(w, s, at<const std::uint32_t>(w, s->a), w.mask);
      observe_lane_sync(w, at<const std::uint32_t>(w, s->a));
    }
    return s + 1;
  }
  tell_of_members(w, s, at<const std::uint32_t>(w, s->a), ~0u);  // others may still come
  std::uint32_t present = w.mask;
  for (std::uint32_t g = 0; g < w.group_count; ++g) {
    const Group& other = w.groups[g];
    if (g != w.current && other.state == GroupState::kWarpBarrier && other.wanted == members)
      present |= other.mask;
  }
  end_run(w, s + 1);
  w.run_begin = s + 1;
  here.pc = s + 1;
  if ((wanted & ~present) == 0) {
    for (std::uint32_t g = 0; g < w.group_count; ++g) {
      Group& other = w.groups[g];
      if (other.state == GroupState::kWarpBarrier && other.wanted == members)
        other.state = GroupState::kReady;
    }
    if (w.observer != nullptr) w.observer->lanes_sync(w, members & present);
    return w.launch->scheduler->redirect(w, s + 1);
  }
  here.state = GroupState::kWarpBarrier;
  here.wanted = members;
  w.leave = Leave::kWait;
  return w.stop;
}

/// Memory is always in order here; only the race checker wants to know.
const Step* fence(Warp& w, const Step* s) {
  if (w.observer != nullptr) w.observer->fence(w, s);
  return s + 1;
}

const Step* trap(Warp& w, const Step* s) {
  const bool wants_grid = w.launch->request->kernel->uses_grid_sync;
  return raise(w, s, FaultKind::kTrap, first_lane(w), 0,
               std::string("the kernel executed a trap instruction") +
                   (wants_grid && !w.launch->request->cooperative
                        ? ": a barrier of the grid needs cudaLaunchCooperativeKernel"
                        : ""));
}

/// Sleeping lanes step after the others; a warp asleep lets the next one run.
const Step* sleep(Warp& w, const Step* s) {
  end_run(w, s + 1);
  w.groups[w.current].pc = s + 1;
  w.yielded = true;
  w.leave = Leave::kTimeSliceSpent;
  return w.stop;
}

}  // namespace

void deliver_barrier_result(Warp&, const Group& group, const BarrierState& barrier) {
  const Step* s = group.pc - 1;
  const auto& in = s->extra->in->as<program::BlockBarrier>();
  if (in.mode != BarrierMode::kRed) return;
  const bool all = barrier.count == barrier.arrived;
  if (in.operation == Atomic::kPopc) {
    auto* d = reinterpret_cast<std::uint32_t*>(group.frame->registers + (s->d & 0x3FFFFFFFu));
    for (int i = 0; i < 32; ++i) {
      if ((group.mask >> i) & 1) d[i] = barrier.count;
    }
    return;
  }
  const bool holds = in.operation == Atomic::kAnd ? all : barrier.count != 0;
  std::uint32_t& p = group.frame->predicates[s->d >> 1];
  p = (p & ~group.mask) | (holds ? group.mask : 0);
}

Handler select_sync(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kBar:
    case Opcode::kBarrier:
      return in.as<program::BlockBarrier>().mode == BarrierMode::kWarp ? &warp_barrier
                                                                       : &block_barrier;
    case Opcode::kMembar:
    case Opcode::kFence:
      return &fence;
    case Opcode::kTrap:
      return &trap;
    case Opcode::kNanosleep:
      return &sleep;
    default:
      return nullptr;
  }
}

}  // namespace membound::vgpu::exec
