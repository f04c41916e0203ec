// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "grader/base/result.hpp"
#include "grader/vgpu/exec/schedule/scheduler.hpp"

namespace membound::vgpu::exec {
namespace {

Group& push(Warp& w, const Step* pc, std::uint32_t mask, Frame* frame) {
  MEMBOUND_CHECK(w.group_count < w.groups.size());
  Group& group = w.groups[w.group_count++];
  group = Group{};
  group.pc = pc;
  group.mask = mask;
  group.frame = frame;
  return group;
}

/// The entry on top spins while those below wait for it for ever.
bool spins_for_siblings(Warp& w) {
  constexpr std::uint32_t kHopeless = 2000;
  Group& top = w.groups[w.current];
  if (w.group_count < 2 || ++top.penalty < kHopeless) return false;
  raise(w, top.pc, FaultKind::kDeadlock, static_cast<std::uint32_t>(std::countr_zero(w.mask)), 0,
        "these lanes wait in a loop for other lanes of their own warp, which with lockstep "
        "scheduling cannot run before the loop ends (GPUs before Volta hang here)");
  return true;
}

class LockstepScheduler final : public Scheduler {
 public:
  [[nodiscard]] std::optional<std::uint32_t> pick(const Warp& w) const override {
    if (w.group_count == 0 || w.groups[w.group_count - 1].state != GroupState::kReady)
      return std::nullopt;
    return w.group_count - 1;
  }

  [[nodiscard]] const Step* next_meeting(const Warp& w, const Step*) const override {
    return w.groups[w.current].rejoin;
  }

  /// Back to the entry below.
  void meet(Warp& w) const override { --w.group_count; }

  const Step* diverge(Warp& w, const Step* branch, std::uint32_t taken) const override {
    const std::uint32_t whole = w.mask;
    Group& here = w.groups[w.current];
    const std::uint32_t meeting = branch->extra->in->as<program::Branch>().meeting;
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
    const auto part = [&](const Step* pc, std::uint32_t mask) {
      if (pc == meet && meet != nullptr && meet != outer) return;  // already waits there
      if (pc == outer) return;
      push(w, pc, mask, frame).rejoin = meet;
    };
    part(branch->branch.target, taken);
    part(branch + 1, whole & ~taken);
    w.leave = Leave::kSwitch;
    w.run_begin = nullptr;
    return w.stop;
  }

  const Step* redirect(Warp& w, const Step* target) const override {
    w.groups[w.current].pc = target;
    return target;
  }

  Group& add_group(Warp& w, const Step* pc, std::uint32_t mask, Frame* frame,
                   std::uint32_t penalty) const override {
    Group& group = push(w, pc, mask, frame);
    group.penalty = penalty;
    return group;
  }

  void remove_ended(Warp& w) const override {
    for (std::uint32_t g = 0; g < w.group_count; ++g) w.groups[g].mask &= w.live;
    while (w.group_count > 0 && w.groups[w.group_count - 1].mask == 0) --w.group_count;
  }

  std::optional<Turn> step_back(Warp& w) const override {
    return spins_for_siblings(w) ? Turn::kHalted : Turn::kYielded;
  }

  [[nodiscard]] bool waits_for_lanes() const override { return false; }
};

}  // namespace

const Scheduler& lockstep_scheduler() {
  static const LockstepScheduler scheduler;
  return scheduler;
}

}  // namespace membound::vgpu::exec
