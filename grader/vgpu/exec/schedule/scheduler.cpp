// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/schedule/scheduler.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/vgpu/exec/schedule/block.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"
#include "grader/vgpu/exec/state/observer.hpp"

namespace membound::vgpu::exec {
namespace {

using program::Instruction;
using program::ValueKind;

/// Steps [first, last) of one function.
struct Loop {
  const Step* first = nullptr;
  const Step* last = nullptr;
};

/// The innermost loop that surely polls around `pc`, as its branch back says; else `pc` alone.
Loop loop_around(const FunctionCode& code, const Step* pc) {
  const Step* const end = code.begin + code.function->code.size();
  for (const Step* s = pc; s != end; ++s) {
    const Instruction& in = *s->extra->in;
    // One of several targets (brx.idx) is no BranchOperand.
    if (in.opcode == program::Opcode::kBra && in.has(program::kPollLoop) && s->branch.target <= pc)
      return {s->branch.target, s + 1};
  }
  return {pc, pc};
}

bool asks(const Instruction& in) {
  const bool loads = in.opcode == program::Opcode::kLd && in.order != program::Order::kWeak;
  return loads || in.opcode == program::Opcode::kAtom;
}

void add(std::size_t& digest, const std::byte* words, std::size_t bytes) {
  const std::string_view text(reinterpret_cast<const char*>(words), bytes);
  digest = digest * 31 + std::hash<std::string_view>{}(text);
}

/// A digest of where the running group spins: its step, the addresses at which its loop asks for
/// what others write, and the registers that the loop leaves as they are. While nothing has come
/// that the group waits for it stays the same, whatever is read meanwhile. One that goes on from
/// word to word, or waits again for something else, has another one.
std::size_t polling_digest(const Warp& w) {
  const Group& group = w.groups[w.current];
  const FunctionCode& code = w.launch->code[group.frame->function];
  const Loop loop = loop_around(code, group.pc);
  const std::byte* const registers = group.frame->registers;
  std::size_t digest = std::hash<const Step*>{}(group.pc);
  std::vector<bool> written(code.function->register_slots, false);
  for (const Step* s = loop.first; s != loop.last; ++s) {
    const Instruction& in = *s->extra->in;
    for (const program::Value& value : in.d) {
      if (value.kind != ValueKind::kRegister) continue;
      for (std::size_t i = 0; i < in.d_slots && value.index + i < written.size(); ++i)
        written[value.index + i] = true;
    }
    if (asks(in) && in.s[0].kind == ValueKind::kRegister)
      add(digest, registers + std::size_t{in.s[0].index} * kSlotBytes,
          program::access_of(in).address_bits / 32 * kSlotBytes);
  }
  for (std::size_t slot = 0; slot < written.size(); ++slot)
    if (!written[slot]) add(digest, registers + slot * kSlotBytes, kSlotBytes);
  return digest;
}

void activate(Warp& w, std::uint32_t index, std::int32_t time_slice) {
  w.current = index;
  const Group& group = w.groups[index];
  w.frame = group.frame;
  w.bases[kFrameArea] = group.frame->registers;
  w.bases[kConstantArea] = w.launch->code[group.frame->function].constants;
  w.predicates = group.frame->predicates;
  set_mask(w, group.mask);
  w.time_slice = time_slice;
  w.leave = Leave::kNone;
  w.run_begin = group.pc;
  w.stop = w.launch->scheduler->next_meeting(w, group.pc);
}

/// Warp instructions of a worker between two looks up.
constexpr std::uint64_t kLookUpEvery = std::uint64_t{1} << 16;

/// What the worker has executed since it last looked, in warp instructions of the limit. Some cost
/// the host a thousand times as much as others (pages touched first, what observers keep), which no
/// table can foresee: where the limit is one of time, the clock decides.
std::uint64_t executed_since_last_look(Worker& worker, const LaunchLimits& limits) {
  const std::uint64_t fresh = worker.steps() - std::exchange(worker.last_look, worker.steps());
  if (limits.cpu_ns_per_instruction == 0) return fresh;
  const std::uint64_t now = thread_cpu_ns();
  const std::uint64_t by_time =
      (now - std::exchange(worker.last_cpu_ns, now)) / limits.cpu_ns_per_instruction;
  worker.is_slow = worker.is_slow || by_time > fresh;
  return std::max(fresh, by_time);
}

/// Looks up now and then: Ctrl-C, another worker's fault, the step limit.
bool should_halt(Warp& w) {
  Launch& launch = *w.launch;
  Worker& worker = *w.worker;
  const LaunchRequest& request = *launch.request;
  if (request.stop != nullptr && request.stop->load(std::memory_order_relaxed))
    raise(w, w.groups[w.current].pc, FaultKind::kStopped, 0, 0, "the program was told to stop");
  // Loops that poll come by every few iterations; that is no time to read a clock.
  if (worker.steps() - worker.last_look < kLookUpEvery)
    return launch.halt.load(std::memory_order_relaxed);
  const std::uint64_t fresh = executed_since_last_look(worker, request.limits);
  if (request.limits.warp_instructions != 0 &&
      launch.instructions.fetch_add(fresh) + fresh > request.limits.warp_instructions) {
    const Step* at = w.groups[w.current].pc;
    raise(w, at, FaultKind::kStepLimit, static_cast<std::uint32_t>(std::countr_zero(w.mask)), 0,
          "the kernel has executed more than " + std::to_string(request.limits.warp_instructions) +
              " warp instructions" +
              (worker.toll == 0 && !worker.is_slow ? ""
                                                   : ", of which slow ones are counted as more") +
              "; " + describe_loop(w, at) + " may never end");
  }
  return launch.halt.load(std::memory_order_relaxed);
}

/// Does something else stand now where the warp handed over? An atomic that changed nothing may be
/// one that polls, whose turn is to end as that of other loops that do.
bool changed(const Pass& pass) {
  return pass.place == nullptr || std::memcmp(pass.place, &pass.before, pass.bytes) != 0;
}

/// Has the warp, which spins, come no further since its last turn? `loops_cost`: of this turn's
/// loops. Those that surely poll have a price of their own. Asked where the launch is timed.
bool only_polled(Warp& w, std::int64_t loops_cost) {
  if (!w.launch->hands_over || loops_cost <= 0 || loops_cost % kPollCost != 0) return false;
  const std::size_t digest = polling_digest(w);
  return std::exchange(w.polling_digest, digest) == digest;
}

}  // namespace

std::uint64_t thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

const Step* scatter_group(Warp& w, const Step* const* targets) {
  const std::uint32_t penalty = w.groups[w.current].penalty;
  const Step* first = targets[std::countr_zero(w.mask)];
  std::uint32_t first_mask = 0;
  for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (targets[lane] == first) first_mask |= 1u << lane;
  }
  for (std::uint32_t rest = w.mask & ~first_mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    Group& group = w.launch->scheduler->add_group(w, targets[lane], 1u << lane, w.frame, penalty);
    group.rejoin = w.groups[w.current].rejoin;
  }
  Group& here = w.groups[w.current];
  here.mask = first_mask;
  here.pc = first;
  w.leave = Leave::kSwitch;
  return w.stop;
}

const Step* exit_lanes(Warp& w, const Step* at) {
  if (w.observer != nullptr) w.observer->exits(w, at);
  w.exited |= w.mask;
  w.live &= ~w.mask;
  w.leave = Leave::kExit;
  return w.stop;
}

Turn run_warp(Warp& w) {
  const Scheduler& scheduler = *w.launch->scheduler;
  std::int32_t time_slice = kTimeSlice;
  std::int64_t loops_cost = 0;  // of this turn
  while (true) {
    const auto next = scheduler.pick(w);
    if (!next) return w.group_count == 0 ? Turn::kDone : Turn::kBlocked;
    const std::int32_t given = std::exchange(time_slice, kTimeSlice);
    activate(w, *next, given);
    // Whatever goes on for ever executes instructions: loops of barriers and of calls come by here.
    if (w.worker->steps() - w.worker->last_look >= kLookUpEvery && should_halt(w))
      return Turn::kHalted;
    const Step* s = w.groups[w.current].pc;
    if (w.watched) [[unlikely]] {
      for (; s != w.stop; s = s->handler(w, s)) w.observer->step(w, s);
    } else {
      while (s != w.stop) s = s->handler(w, s);
    }
    loops_cost += given - w.time_slice;
    // Lanes that part and meet again in a loop do not make its turn longer.
    if (w.leave != Leave::kTimeSliceSpent && w.time_slice > 0) time_slice = w.time_slice;
    switch (w.leave) {
      case Leave::kNone:
        generic::end_run(w, s);
        w.groups[w.current].pc = s;
        if (std::exchange(w.pass.wanted, false)) {
          w.interrupted = false;
          if (changed(w.pass)) return w.pass.to_blocks ? Turn::kPassedOn : Turn::kPassed;
          break;
        }
        if (std::exchange(w.interrupted, false)) break;
        scheduler.reconverge(w);
        break;
      case Leave::kSwitch:
      case Leave::kWait:
        break;
      case Leave::kExit:
        scheduler.remove_ended(w);
        leave_block(w, w.mask);
        break;
      case Leave::kTimeSliceSpent:
        if (should_halt(w)) return Turn::kHalted;
        if (!w.yielded) break;
        if (const auto turn = scheduler.step_back(w))
          return *turn == Turn::kYielded && only_polled(w, loops_cost) ? Turn::kPolled : *turn;
        break;
      case Leave::kFault:
        return Turn::kHalted;
    }
  }
}

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

  void reconverge(Warp& w) const override {
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
  void reconverge(Warp& w) const override { --w.group_count; }

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
