// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/schedule/scheduler.hpp"

#include <bit>

#include "grader/vgpu/exec/schedule/block.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec {
namespace {

bool can_join(const Group& group) {
  return group.state == GroupState::kReady || group.state == GroupState::kConverge;
}

/// Deeper calls first, then the lowest program counter; those that spun in vain come last.
bool runs_before(const Group& a, const Group& b) {
  if (a.penalty != b.penalty) return a.penalty < b.penalty;
  if (a.frame->depth != b.frame->depth) return a.frame->depth > b.frame->depth;
  return a.pc < b.pc;
}

void remove_group(Warp& w, std::uint32_t index) {
  w.groups[index] = w.groups[w.group_count - 1];
  --w.group_count;
  if (w.current == w.group_count) w.current = index;
}

/// The nearest place at or after `pc` where another group could be joined.
const Step* next_stop(const Warp& w, const Step* pc) {
  const Step* stop = nullptr;
  for (std::uint32_t g = 0; g < w.group_count; ++g) {
    const Group& group = w.groups[g];
    if (g == w.current || group.frame != w.frame || !can_join(group)) continue;
    if (group.pc >= pc && (stop == nullptr || group.pc < stop)) stop = group.pc;
  }
  return stop;
}

void activate(Warp& w, std::uint32_t index) {
  w.current = index;
  const Group& group = w.groups[index];
  w.frame = group.frame;
  w.bases[kFrameArea] = group.frame->registers;
  w.bases[kConstantArea] = w.launch->code[group.frame->function].constants;
  w.predicates = group.frame->predicates;
  set_mask(w, group.mask);
  w.patience = kPatience;
  w.leave = Leave::kNone;
  w.run_begin = group.pc;
  w.stop = w.launch->lockstep   ? group.rejoin
           : w.group_count == 1 ? nullptr
                                : next_stop(w, group.pc);
}

std::optional<std::uint32_t> pick(const Warp& w) {
  if (w.launch->lockstep) {
    if (w.group_count == 0 || w.groups[w.group_count - 1].state != GroupState::kReady)
      return std::nullopt;
    return w.group_count - 1;
  }
  if (w.group_count == 1)
    return w.groups[0].state == GroupState::kReady ? std::optional(0u) : std::nullopt;
  std::optional<std::uint32_t> best;
  for (std::uint32_t g = 0; g < w.group_count; ++g) {
    if (w.groups[g].state != GroupState::kReady) continue;
    if (!best || runs_before(w.groups[g], w.groups[*best])) best = g;
  }
  return best;
}

/// The running group has come to where others wait.
void join_here(Warp& w) {
  if (w.launch->lockstep) {  // back to the entry below
    --w.group_count;
    return;
  }
  Group& here = w.groups[w.current];
  for (std::uint32_t g = 0; g < w.group_count;) {
    const Group& other = w.groups[g];
    if (g == w.current || other.pc != here.pc || other.frame != here.frame || !can_join(other)) {
      ++g;
      continue;
    }
    w.groups[w.current].mask |= other.mask;
    w.groups[w.current].penalty = std::min(w.groups[w.current].penalty, other.penalty);
    const bool moved = w.current == w.group_count - 1;
    remove_group(w, g);
    if (moved) w.current = g;
    w.groups[w.current].state = GroupState::kReady;
    g = 0;
  }
}

/// Looks up now and then: Ctrl-C, another worker's fault, the step limit.
bool should_halt(Warp& w) {
  Launch& launch = *w.launch;
  Worker& worker = *w.worker;
  const LaunchRequest& request = *launch.request;
  if (request.stop != nullptr && request.stop->load(std::memory_order_relaxed))
    raise(w, w.groups[w.current].pc, FaultKind::kStopped, 0, 0, "the program was told to stop");
  if (request.limits.warp_instructions != 0) {
    const std::uint64_t total =
        launch.instructions.fetch_add(worker.instructions - worker.next_poll) +
        (worker.instructions - worker.next_poll);
    worker.next_poll = worker.instructions;
    if (total > request.limits.warp_instructions)
      raise(w, w.groups[w.current].pc, FaultKind::kStepLimit,
            static_cast<std::uint32_t>(std::countr_zero(w.mask)), 0,
            "the kernel has executed more than " +
                std::to_string(request.limits.warp_instructions) +
                " warp instructions; a loop may never end");
  }
  return launch.halt.load(std::memory_order_relaxed);
}

/// Lockstep: the entry on top spins while those below wait for it for ever.
bool spins_for_siblings(Warp& w) {
  constexpr std::uint32_t kHopeless = 2000;
  Group& top = w.groups[w.current];
  if (w.group_count < 2 || ++top.penalty < kHopeless) return false;
  raise(w, top.pc, FaultKind::kDeadlock, static_cast<std::uint32_t>(std::countr_zero(w.mask)), 0,
        "these lanes wait in a loop for other lanes of their own warp, which with lockstep "
        "scheduling cannot run before the loop ends (GPUs before Volta hang here)");
  return true;
}

}  // namespace

bool has_ready_group(const Warp& w) { return pick(w).has_value(); }

Group& add_group(Warp& w, const Step* pc, std::uint32_t mask, Frame* frame, std::uint32_t penalty) {
  for (std::uint32_t g = 0; g < w.group_count && !w.launch->lockstep; ++g) {
    Group& group = w.groups[g];
    if (g == w.current || group.pc != pc || group.frame != frame || !can_join(group)) continue;
    group.mask |= mask;
    group.state = GroupState::kReady;
    return group;
  }
  Group& group = w.groups[w.group_count++];
  group = Group{};
  group.pc = pc;
  group.mask = mask;
  group.frame = frame;
  group.penalty = penalty;
  return group;
}

const Step* redirect(Warp& w, const Step* target) {
  w.groups[w.current].pc = target;
  if (w.launch->lockstep) return target;
  const auto best = pick(w);
  if (best && *best == w.current) {
    w.stop = next_stop(w, target);
    return target;
  }
  w.leave = Leave::kSwitch;
  return w.stop;
}

namespace {

const Step* diverge_lockstep(Warp& w, const Step* branch, std::uint32_t taken) {
  const std::uint32_t whole = w.mask;
  Group& here = w.groups[w.current];
  const std::uint32_t meeting = branch->extra->in->meeting;
  const Step* meet = meeting == program::kNoTarget
                         ? here.rejoin
                         : w.launch->code[branch->extra->function].begin + meeting;
  Frame* frame = here.frame;
  const Step* outer = here.rejoin;
  if (meet == nullptr || meet == outer) {
    --w.group_count;  // nothing left to do for both together
  } else {
    here.pc = meet;
  }
  const auto push = [&](const Step* pc, std::uint32_t mask) {
    if (pc == meet && meet != nullptr && meet != outer) return;  // already waits there
    if (pc == outer) return;
    Group& group = w.groups[w.group_count++];
    group = Group{};
    group.pc = pc;
    group.mask = mask;
    group.frame = frame;
    group.rejoin = meet;
  };
  push(branch->target, taken);
  push(branch + 1, whole & ~taken);
  w.leave = Leave::kSwitch;
  w.run_begin = nullptr;
  return w.stop;
}

}  // namespace

const Step* diverge(Warp& w, const Step* branch, std::uint32_t taken) {
  if (w.launch->lockstep) return diverge_lockstep(w, branch, taken);
  const std::uint32_t rest = w.mask & ~taken;
  const bool target_first = branch->target < branch + 1;
  const Step* near = target_first ? branch->target : branch + 1;
  const Step* far = target_first ? branch + 1 : branch->target;
  const std::uint32_t near_mask = target_first ? taken : rest;
  const std::uint32_t penalty = w.groups[w.current].penalty;
  add_group(w, far, w.mask & ~near_mask, w.frame, penalty);
  Group& here = w.groups[w.current];
  here.mask = near_mask;
  here.pc = near;
  if (w.patience <= 0) {
    w.yielded = branch->cost > kLoopCost;
    w.leave = Leave::kTired;
    return w.stop;
  }
  set_mask(w, near_mask);
  w.run_begin = near;
  return redirect(w, near);
}

const Step* scatter_group(Warp& w, const Step*, const Step* const* targets) {
  const std::uint32_t penalty = w.groups[w.current].penalty;
  const Step* first = targets[std::countr_zero(w.mask)];
  std::uint32_t first_mask = 0;
  for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (targets[lane] == first) first_mask |= 1u << lane;
  }
  for (std::uint32_t rest = w.mask & ~first_mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    Group& group = add_group(w, targets[lane], 1u << lane, w.frame, penalty);
    group.rejoin = w.groups[w.current].rejoin;
  }
  Group& here = w.groups[w.current];
  here.mask = first_mask;
  here.pc = first;
  w.leave = Leave::kSwitch;
  return w.stop;
}

const Step* exit_lanes(Warp& w, const Step*) {
  w.exited |= w.mask;
  w.live &= ~w.mask;
  w.leave = Leave::kExit;
  return w.stop;
}

Turn run_warp(Warp& w) {
  while (true) {
    const auto next = pick(w);
    if (!next) return w.group_count == 0 ? Turn::kDone : Turn::kBlocked;
    activate(w, *next);
    const Step* s = w.groups[w.current].pc;
    while (s != w.stop) s = s->handler(w, s);
    switch (w.leave) {
      case Leave::kNone:
        generic::end_run(w, s);
        w.groups[w.current].pc = s;
        join_here(w);
        break;
      case Leave::kSwitch:
      case Leave::kWait:
        break;
      case Leave::kExit:
        if (w.launch->lockstep) {
          for (std::uint32_t g = 0; g < w.group_count; ++g) w.groups[g].mask &= w.live;
          while (w.group_count > 0 && w.groups[w.group_count - 1].mask == 0) --w.group_count;
        } else {
          remove_group(w, w.current);
        }
        leave_block(w, w.mask);
        break;
      case Leave::kTired: {
        if (should_halt(w)) return Turn::kHalted;
        if (!w.yielded) break;
        if (w.launch->lockstep) {
          if (spins_for_siblings(w)) return Turn::kHalted;
          return Turn::kYielded;
        }
        w.groups[w.current].penalty += 1;
        const auto other = pick(w);
        if (other && *other != w.current) break;
        return Turn::kYielded;
      }
      case Leave::kFault:
        return Turn::kHalted;
    }
  }
}

}  // namespace membound::vgpu::exec
