// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// synccheck: barriers that not all lanes of a warp come to, or that open after threads have ended;
/// member masks that are not the lanes that come; widths and counts that no warp is divided into.
#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "grader/vgpu/exec/observe/kernel_checker.hpp"
#include "grader/vgpu/exec/state/execution_state.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"
#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec {
namespace {

/// Lanes of one warp that ended together.
struct EndedLanes {
  std::uint32_t warp = 0;
  std::uint32_t lanes = 0;
  const Step* last_branch = nullptr;  ///< of two ways, that they came to; null: none
  const Step* at = nullptr;           ///< where they ended
};

/// Threads that ended before a barrier of their block opened: did they return early, which is in
/// order (since Volta a barrier waits only for threads that have not exited: CUDA C++ Programming
/// Guide, "Independent Thread Scheduling"), or did they go round the barrier, do what comes after
/// it, and end before the others came? Left out: barriers and exits inside of functions that are
/// really called; of those nothing is said to be a return. Of one launch; asked by one worker at a
/// time.
class EarlyReturns {
 public:
  explicit EarlyReturns(const Launch& launch) : launch_(launch) {}

  /// Lanes that ended while others waited at `barrier`: after their last branch, did they do
  /// nothing that is done after the barrier, but end?
  [[nodiscard]] bool returned_before(const Step* barrier, const EndedLanes& ended);

 private:
  [[nodiscard]] std::optional<std::uint32_t> index_of(const Step* step) const;
  [[nodiscard]] const std::vector<bool>& after(std::uint32_t at);
  [[nodiscard]] std::optional<bool> is_clean(std::uint32_t begin, std::uint32_t end,
                                             std::uint32_t barrier);

  const Launch& launch_;
  std::map<std::uint32_t, std::vector<bool>> after_;  ///< by instruction
};

using program::Instruction;
using program::Shape;

/// Its place in the kernel; nothing in another function.
std::optional<std::uint32_t> EarlyReturns::index_of(const Step* step) const {
  const FunctionCode& kernel = launch_.code.front();
  const std::ptrdiff_t index = step - kernel.begin;
  if (index < 0 || index >= static_cast<std::ptrdiff_t>(kernel.function->code.size()))
    return std::nullopt;
  return static_cast<std::uint32_t>(index);
}

const std::vector<bool>& EarlyReturns::after(std::uint32_t at) {
  const auto known = after_.find(at);
  if (known != after_.end()) return known->second;
  return after_[at] = program::reached_from(*launch_.code.front().function, at);
}

/// The way from `begin` to `end` without a branch of two ways: does none of its instructions come
/// after the barrier, too? Nothing: there is no such way round the barrier.
std::optional<bool> EarlyReturns::is_clean(std::uint32_t begin, std::uint32_t end,
                                           std::uint32_t barrier) {
  const program::Function& kernel = *launch_.code.front().function;
  const std::vector<bool>& behind = after(barrier);
  bool clean = true;
  std::uint32_t at = begin;
  for (std::size_t steps = 0; steps < kernel.code.size() && at < kernel.code.size(); ++steps) {
    if (at == end) return clean;
    if (at == barrier) return std::nullopt;
    const Instruction& in = kernel.code[at];
    const Shape shape = program::shape_of(in);
    if (shape == Shape::kBra || shape == Shape::kBrx) {
      if (in.guard || shape == Shape::kBrx) return std::nullopt;
      at = program::targets_of(kernel, in).front();
      continue;
    }
    if (shape == Shape::kEnd && !in.guard) return std::nullopt;
    clean = clean && (!behind[at] || in.has(program::kHidden));
    ++at;
  }
  return std::nullopt;
}

bool EarlyReturns::returned_before(const Step* barrier, const EndedLanes& ended) {
  const auto wait = index_of(barrier), end = index_of(ended.at);
  if (!wait || !end) return false;
  const program::Function& kernel = *launch_.code.front().function;
  // An exit under a condition of its own: others go on from there.
  if (kernel.code[*end].guard) return after(*end)[*wait];
  if (ended.last_branch == nullptr) return is_clean(0, *end, *wait).value_or(false);
  const auto branch = index_of(ended.last_branch);
  if (!branch || (!after(*branch)[*wait] && after(*wait)[*branch])) return false;
  // A loop that ends sooner for some is no return, though nothing comes after it.
  if (kernel.code[*branch].has(program::kBackward)) return false;
  std::optional<bool> clean;
  const auto look = [&](std::uint32_t begin) {
    if (const auto side = is_clean(begin, *end, *wait)) clean = clean.value_or(true) && *side;
  };
  for (const std::uint32_t target : program::targets_of(kernel, kernel.code[*branch])) look(target);
  look(*branch + 1);
  return clean.value_or(false);
}

std::string number_of_lanes(std::uint32_t mask) { return std::to_string(std::popcount(mask)); }

std::string describe_arrival(std::uint32_t lanes, std::uint32_t live, const char* others) {
  return number_of_lanes(lanes) + " of " + number_of_lanes(live) +
         " lanes of the warp come to this barrier, the others " + others;
}

class Synccheck final : public KernelChecker {
 public:
  Synccheck(Launch& launch, CheckFindings& findings)
      : launch_(launch), findings_(findings), states_(launch), returns_(launch) {}

  void block_begins(Block& block) override;
  void exits(Warp& warp, const Step* step) override;
  void barrier(Warp& warp, const Step* step, bool whole_warp) override;
  void collective(Warp& warp, const Step* step, std::uint32_t members, std::uint32_t present,
                  std::uint32_t strangers) override;
  void odd_shuffle(Warp& warp, const Step* step, std::uint32_t lane) override;
  void opens(Block& block, std::uint32_t id) override;
  void launch_ends() override { report_arrivals_of_the_fault(); }

 private:
  /// Lanes of one warp at a barrier that wants the whole warp, while others are still missing.
  struct Arrival {
    const Step* step = nullptr;
    std::uint32_t lanes = 0;
    std::uint32_t live = 0;  ///< lanes that had not ended when the first came
    const char* others = "have ended";
    Place place = {};
  };
  struct BlockState : ObserverNotes {
    std::vector<Arrival> arrivals;  ///< by warp; empty until lanes of one come apart
    std::vector<EndedLanes> ended;  ///< in a kernel with barriers, in the order of time
  };
  void report_sync(const Warp& warp, const Step* step, std::uint32_t lane, const char* kind,
                   const std::string& text);
  void report_exits(const Block& block, std::uint32_t id);
  void remark_on_returns(const Warp& warp, const Step* step, std::uint32_t lane);
  [[nodiscard]] bool have_returned(const Warp& warp, std::uint32_t lanes, const Step* barrier);
  void report_arrival(const Warp& warp, Arrival& arrival);
  void report_odd_count(const Warp& warp, const Step* step);
  void report_incomplete_arrivals(const Block& block, std::uint32_t id);
  void report_arrivals_of_the_fault();
  [[nodiscard]] BlockState& state_of(const Block& block) const { return states_.of(block); }

  Launch& launch_;
  CheckFindings& findings_;
  PerBlock<BlockState> states_;
  std::mutex mutex_;  ///< guards what follows
  EarlyReturns returns_;
};

void Synccheck::block_begins(Block& block) {
  BlockState& state = states_.obtain(block);
  state.arrivals.clear();
  state.ended.clear();
}

void Synccheck::exits(Warp& w, const Step* step) {
  if (!launch_.notes_branches) return;
  std::vector<EndedLanes>& ended = state_of(*w.block).ended;
  for (std::uint32_t rest = w.mask; rest != 0;) {
    const Step* const branch = w.last_branches[static_cast<std::size_t>(std::countr_zero(rest))];
    std::uint32_t lanes = 0;
    for (std::uint32_t left = rest; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (w.last_branches[static_cast<std::size_t>(lane)] == branch) lanes |= 1u << lane;
    }
    ended.push_back({w.index, lanes, branch, step});
    rest &= ~lanes;
  }
}

/// Have these lanes, all of which have ended, returned before the barrier?
bool Synccheck::have_returned(const Warp& w, std::uint32_t lanes, const Step* barrier) {
  const std::lock_guard lock(mutex_);
  for (const EndedLanes& ended : state_of(*w.block).ended) {
    if (ended.warp != w.index || (ended.lanes & lanes) == 0) continue;
    if (!returns_.returned_before(barrier, ended)) return false;
    lanes &= ~ended.lanes;
  }
  return lanes == 0;
}

void Synccheck::opens(Block& block, std::uint32_t id) {
  if (!state_of(block).arrivals.empty()) report_incomplete_arrivals(block, id);
  if (block.barriers[id].expected == 0 && block.live_threads < launch_.request->block.count())
      [[unlikely]]
    report_exits(block, id);
}

/// Of threads that have ended before barrier `id` opens: those that returned early are remarked on,
/// others should have come.
void Synccheck::report_exits(const Block& block, std::uint32_t id) {
  const std::uint64_t threads = launch_.request->block.count();
  for (const Warp& w : block.warps) {
    for (std::uint32_t g = 0; g < w.group_count; ++g) {
      const Group& group = w.groups[g];
      if (group.state != GroupState::kBarrier || group.barrier != id) continue;
      const Step* const step = group.pc - 1;
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(group.mask));
      if (std::ranges::all_of(block.warps, [&](const Warp& other) {
            return other.exited == 0 || have_returned(other, other.exited, step);
          }))
        return remark_on_returns(w, step, lane);
      return report_sync(w, step, lane, "barrier after exit",
                         std::to_string(threads - block.live_threads) + " of " +
                             std::to_string(threads) +
                             " threads of the block have ended without reaching this barrier");
    }
  }
}

void Synccheck::remark_on_returns(const Warp& w, const Step* step, std::uint32_t lane) {
  constexpr const char* kKind = "return before a barrier";
  const std::uint64_t threads = launch_.request->block.count();
  findings_.add(w, {step, kKind, nullptr}, [&] {
    CheckReport found{"synccheck",
                      kKind,
                      place_of(w, step, lane),
                      0,
                      0,
                      1,
                      std::to_string(threads - w.block->live_threads) + " of " +
                          std::to_string(threads) +
                          " threads of the block return before this barrier, which is allowed: "
                          "since Volta it waits only for threads that have not ended"};
    found.is_remark = true;
    return found;
  });
}

void Synccheck::report_sync(const Warp& w, const Step* step, std::uint32_t lane, const char* kind,
                            const std::string& text) {
  findings_.add(w, {step, kind, nullptr}, [&] {
    CheckReport found{"synccheck", kind, place_of(w, step, lane), 0, 0, 1, text};
    found.advice = sync_advice(kind);
    return found;
  });
}

// Lanes may come one after the other: since Volta a barrier waits for every thread that has not
// ended, and an aligned one (__syncthreads) wants all lanes of a warp at the same instruction, not
// at the same time (PTX ISA, barrier: "wait for all non-exited threads from its warp").
void Synccheck::barrier(Warp& w, const Step* step, bool whole_warp) {
  report_odd_count(w, step);
  std::vector<Arrival>& arrivals = state_of(*w.block).arrivals;
  if (whole_warp && arrivals.empty()) return;
  arrivals.resize(w.block->warps.size());
  Arrival& here = arrivals[w.index];
  bool elsewhere = false;
  if (here.step != nullptr && (here.step != step || (here.lanes & w.mask) != 0)) {
    here.others = "come to another one";
    report_arrival(w, here);
    elsewhere = true;
  }
  if (here.step == nullptr) {
    if (whole_warp) return;
    here = {step, 0, w.live, elsewhere ? "come to another one" : "have ended",
            place_of(w, step, static_cast<std::uint32_t>(std::countr_zero(w.mask)))};
  }
  here.lanes |= w.mask;
  if (here.lanes == here.live)
    here = {};
  else if (whole_warp)
    report_arrival(w, here);
}

void Synccheck::report_odd_count(const Warp& w, const Step* step) {
  if (step->extra->in->as<program::BlockBarrier>().counts_all) return;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(w.mask));
  const std::uint32_t count = generic::at<const std::uint32_t>(w, step->b)[lane];
  if (count % 32 != 0)
    report_sync(w, step, lane, "invalid barrier count",
                "the barrier counts " + std::to_string(count) +
                    " threads, which is no multiple of the 32 of a warp");
}

void Synccheck::odd_shuffle(Warp& w, const Step* step, std::uint32_t lane) {
  const std::uint32_t c = generic::at<const std::uint32_t>(w, step->c)[lane];
  report_sync(w, step, lane, "invalid shuffle width",
              "the width is " + std::to_string(32 - (c >> 8 & 31)) +
                  ", and only 1, 2, 4, 8, 16 and 32 divide a warp: which lane's value comes is not "
                  "defined");
}

void Synccheck::report_arrival(const Warp& w, Arrival& arrival) {
  report_sync(w, arrival.step, static_cast<std::uint32_t>(std::countr_zero(arrival.lanes)),
              "divergent barrier", describe_arrival(arrival.lanes, arrival.live, arrival.others));
  arrival = {};
}

/// Barrier `id` opens although lanes of a warp that wait there still miss some.
void Synccheck::report_incomplete_arrivals(const Block& block, std::uint32_t id) {
  std::vector<Arrival>& arrivals = state_of(block).arrivals;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (arrivals[i].step == nullptr) continue;
    const Warp& w = block.warps[i];
    const auto waits = [&](const Group& group) {
      return group.state == GroupState::kBarrier && group.barrier == id &&
             group.pc == arrivals[i].step + 1;
    };
    if (std::none_of(w.groups.begin(), w.groups.begin() + w.group_count, waits)) continue;
    const std::uint32_t missing = arrivals[i].live & ~arrivals[i].lanes;
    if ((missing & w.live) == 0 && have_returned(w, missing, arrivals[i].step))
      arrivals[i] = {};
    else
      report_arrival(w, arrivals[i]);
  }
}

/// A launch that hangs ends in a fault; the lanes its block waited for never came.
void Synccheck::report_arrivals_of_the_fault() {
  if (!launch_.fault ||
      (launch_.fault->kind != FaultKind::kDeadlock && launch_.fault->kind != FaultKind::kStepLimit))
    return;
  // Lanes that still run a loop are late for the barrier because the loop does not end: that is
  // told.
  const Dim3& threads = launch_.request->block;
  const auto& [x, y, z] = launch_.fault->place.thread;
  const std::size_t busy = launch_.fault->kind == FaultKind::kStepLimit
                               ? (x + threads.x * (y + threads.y * z)) / 32
                               : std::numeric_limits<std::size_t>::max();
  for (const auto& state : states_.all()) {
    for (std::size_t warp = 0; warp < state->arrivals.size(); ++warp) {
      const Arrival& arrival = state->arrivals[warp];
      if (arrival.step == nullptr || !(arrival.place.block == launch_.fault->place.block)) continue;
      CheckReport found{
          "synccheck",
          "divergent barrier",
          arrival.place,
          0,
          0,
          1,
          describe_arrival(arrival.lanes, arrival.live,
                           warp == busy ? "run a loop that does not end" : "never do")};
      found.advice = warp == busy ? "look at the loop first: does it wait for what comes after "
                                    "this barrier, or for what nobody writes?"
                                  : sync_advice(found.kind);
      findings_.add_at_end({arrival.step, found.kind, nullptr}, found);
    }
  }
}

void Synccheck::collective(Warp& w, const Step* step, std::uint32_t members, std::uint32_t present,
                           std::uint32_t strangers) {
  const std::uint32_t missing = members & w.live & ~present;
  const auto lane =
      static_cast<std::uint32_t>(std::countr_zero(strangers != 0 ? strangers : present));
  std::string text;
  if (missing != 0)
    text = "the member mask " + hex(members) + " names " + number_of_lanes(missing) +
           " lanes that do not take part (" + hex(missing) + ")";
  else
    text = number_of_lanes(strangers) + " lanes take part that the member mask " + hex(members) +
           " does not name (" + hex(strangers) + ")";
  report_sync(w, step, lane, "invalid member mask", text);
}

}  // namespace

std::unique_ptr<KernelChecker> make_synccheck(Launch& launch, CheckFindings& findings) {
  return std::make_unique<Synccheck>(launch, findings);
}

}  // namespace membound::vgpu::exec
