// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "grader/base/result.hpp"
#include "grader/vgpu/exec/schedule/scheduler.hpp"

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

class IndependentScheduler final : public Scheduler {
 public:
  [[nodiscard]] std::optional<std::uint32_t> pick(const Warp& w) const override {
    if (w.group_count == 1)
      return w.groups[0].state == GroupState::kReady ? std::optional(0u) : std::nullopt;
    std::optional<std::uint32_t> best;
    for (std::uint32_t g = 0; g < w.group_count; ++g) {
      if (w.groups[g].state != GroupState::kReady) continue;
      if (!best || runs_before(w.groups[g], w.groups[*best])) best = g;
    }
    return best;
  }

  /// The nearest place at or after `pc` where another group could be joined.
  [[nodiscard]] const Step* next_meeting(const Warp& w, const Step* pc) const override {
    const Step* stop = nullptr;
    for (std::uint32_t g = 0; g < w.group_count; ++g) {
      const Group& group = w.groups[g];
      if (g == w.current || group.frame != w.frame || !can_join(group)) continue;
      if (group.pc >= pc && (stop == nullptr || group.pc < stop)) stop = group.pc;
    }
    return stop;
  }

  void meet(Warp& w) const override {
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

  const Step* diverge(Warp& w, const Step* branch, std::uint32_t taken) const override {
    const std::uint32_t rest = w.mask & ~taken;
    const bool target_first = branch->branch.target < branch + 1;
    const Step* near = target_first ? branch->branch.target : branch + 1;
    const Step* far = target_first ? branch + 1 : branch->branch.target;
    const std::uint32_t near_mask = target_first ? taken : rest;
    const std::uint32_t penalty = w.groups[w.current].penalty;
    add_group(w, far, w.mask & ~near_mask, w.frame, penalty);
    Group& here = w.groups[w.current];
    here.mask = near_mask;
    here.pc = near;
    if (w.time_slice <= 0) {
      w.yielded = branch->branch.cost >= kSpinCost;
      w.leave = Leave::kTimeSliceSpent;
      return w.stop;
    }
    set_mask(w, near_mask);
    w.run_begin = near;
    return redirect(w, near);
  }

  const Step* redirect(Warp& w, const Step* target) const override {
    w.groups[w.current].pc = target;
    const auto best = pick(w);
    if (best && *best == w.current) {
      w.stop = next_meeting(w, target);
      return target;
    }
    w.leave = Leave::kSwitch;
    return w.stop;
  }

  Group& add_group(Warp& w, const Step* pc, std::uint32_t mask, Frame* frame,
                   std::uint32_t penalty) const override {
    for (std::uint32_t g = 0; g < w.group_count; ++g) {
      Group& group = w.groups[g];
      if (g == w.current || group.pc != pc || group.frame != frame || !can_join(group)) continue;
      group.mask |= mask;
      group.state = GroupState::kReady;
      return group;
    }
    MEMBOUND_CHECK(w.group_count < w.groups.size());
    Group& group = w.groups[w.group_count++];
    group = Group{};
    group.pc = pc;
    group.mask = mask;
    group.frame = frame;
    group.penalty = penalty;
    return group;
  }

  void remove_ended(Warp& w) const override { remove_group(w, w.current); }

  std::optional<Turn> step_back(Warp& w) const override {
    w.groups[w.current].penalty += 1;
    const auto other = pick(w);
    if (other && *other != w.current) return std::nullopt;
    return Turn::kYielded;
  }

  [[nodiscard]] bool waits_for_lanes() const override { return true; }
};

}  // namespace

const Scheduler& independent_scheduler() {
  static const IndependentScheduler scheduler;
  return scheduler;
}

}  // namespace membound::vgpu::exec
