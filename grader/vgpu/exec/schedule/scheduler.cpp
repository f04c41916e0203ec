// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/schedule/scheduler.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>

#include "grader/vgpu/exec/schedule/block.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"
#include "grader/vgpu/exec/state/observer.hpp"

namespace membound::vgpu::exec {
namespace {

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
  // Loops that poll come by every few rounds; that is no time to read a clock.
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
  while (true) {
    const auto next = scheduler.pick(w);
    if (!next) return w.group_count == 0 ? Turn::kDone : Turn::kBlocked;
    activate(w, *next, std::exchange(time_slice, kTimeSlice));
    // Whatever goes on for ever executes instructions: loops of barriers and of calls come by here.
    if (w.worker->steps() - w.worker->last_look >= kLookUpEvery && should_halt(w))
      return Turn::kHalted;
    const Step* s = w.groups[w.current].pc;
    if (w.watched) [[unlikely]] {
      for (; s != w.stop; s = s->handler(w, s)) w.observer->step(w, s);
    } else {
      while (s != w.stop) s = s->handler(w, s);
    }
    switch (w.leave) {
      case Leave::kNone:
        generic::end_run(w, s);
        w.groups[w.current].pc = s;
        if (std::exchange(w.pass.wanted, false)) {
          w.interrupted = false;
          if (changed(w.pass)) return w.pass.to_blocks ? Turn::kPassedOn : Turn::kPassed;
          time_slice = w.time_slice;
          break;
        }
        if (std::exchange(w.interrupted, false)) break;
        scheduler.meet(w);
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
        if (const auto turn = scheduler.step_back(w)) return *turn;
        break;
      case Leave::kFault:
        return Turn::kHalted;
    }
  }
}

}  // namespace membound::vgpu::exec
