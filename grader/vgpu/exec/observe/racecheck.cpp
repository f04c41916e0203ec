// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// racecheck: two threads at one place with nothing that orders them (race_checker.hpp), and
/// accesses to words that asynchronous copies are on their way to.
#include <atomic>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "grader/vgpu/exec/observe/kernel_checker.hpp"
#include "grader/vgpu/exec/observe/race_checker.hpp"
#include "grader/vgpu/exec/state/observer.hpp"
#include "grader/vgpu/memory/undo_log.hpp"

namespace membound::vgpu::exec {
namespace {

/// A word in flight that an access touches.
struct InFlight {
  std::uint32_t lane = 0;      ///< of the access
  std::uint32_t thread = 0;    ///< that copies
  const Step* copy = nullptr;  ///< its cp.async
};

/// Asynchronous copies of a block on their way to shared memory: who copies to which word, from its
/// cp.async to its wait. In between nobody may read or write the word. By words of 4 bytes, the
/// smallest copy.
class Flights {
 public:
  void clear() {
    if (in_flight_ != 0) words_.clear();
    in_flight_ = 0;
  }
  [[nodiscard]] bool any() const { return in_flight_ != 0; }
  void begin(const WarpAccess& copy) { change(copy, copy.step); }
  void end(const WarpAccess& copy) { change(copy, nullptr); }
  /// The first lane that touches one.
  [[nodiscard]] std::optional<InFlight> touched_by(const WarpAccess& access) const {
    for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::uint64_t end = (access.addresses[lane] + access.bytes + 3) / 4;
      for (std::uint64_t word = access.addresses[lane] / 4; word < end && word < words_.size();
           ++word)
        if (words_[word].copy != nullptr)
          return InFlight{lane, words_[word].thread, words_[word].copy};
    }
    return std::nullopt;
  }

 private:
  struct Word {
    const Step* copy = nullptr;
    std::uint32_t thread = 0;
  };
  void change(const WarpAccess& copy, const Step* step) {
    for (std::uint32_t rest = copy.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::uint64_t first = copy.addresses[lane] / 4, end = first + copy.bytes / 4;
      if (words_.size() < end) words_.resize(end);
      for (std::uint64_t word = first; word < end; ++word) {
        in_flight_ += (step != nullptr ? 1 : 0) - (words_[word].copy != nullptr ? 1 : 0);
        words_[word] = {step, copy.warp->index * 32 + lane};
      }
    }
  }

  std::vector<Word> words_;
  std::int64_t in_flight_ = 0;
};

bool between_blocks(const WarpAccess& access, const Race& race) {
  return access.space == ptx::StateSpace::kGlobal &&
         memory::Epoch::block(race.before) !=
             (access.warp->block->linear & memory::Epoch::kBlockMask);
}

/// Waiting at a barrier: warps, and how many threads.
struct Waiting {
  std::uint32_t warps = 0;
  std::uint32_t threads = 0;
};

Waiting waiting_at(const Block& block, std::uint32_t id) {
  Waiting waiting;
  for (const Warp& w : block.warps) {
    for (std::uint32_t g = 0; g < w.group_count; ++g) {
      const Group& group = w.groups[g];
      if (group.state != GroupState::kBarrier || group.barrier != id) continue;
      waiting.warps |= 1u << w.index;
      waiting.threads += static_cast<std::uint32_t>(std::popcount(group.mask));
    }
  }
  return waiting;
}

/// Each worker has a RaceChecker of its own. A launch of several workers in which blocks raced with
/// each other, or which a fault ended early, is taken back and run again by one.
class Racecheck final : public KernelChecker {
 public:
  Racecheck(Launch& launch, CheckFindings& findings)
      : launch_(launch), findings_(findings), states_(launch) {}

  [[nodiscard]] bool hears_accesses() const override { return true; }
  SameRead check(const WarpAccess& access, std::uint32_t lanes) override;
  void check_landing(const WarpAccess& access) override;
  void block_begins(Block& block) override;
  void arrives(Warp& warp, std::uint32_t id) override;
  void opens(Block& block, std::uint32_t id) override;
  void lanes_sync(Warp& warp, std::uint32_t lanes) override;
  void fence(Warp& warp, const Step* step) override;
  void mbarrier(Warp& warp, std::uint32_t mask, const std::uint64_t* offsets,
                bool arrives) override;
  void allocated(std::uint64_t address, std::uint64_t bytes) override;
  [[nodiscard]] bool must_repeat() const override;
  void take_back() override {
    if (undo_ != nullptr) undo_->roll_back();
  }

 private:
  struct BlockState : ObserverNotes {
    BlockRaces races;
    Flights flights;
    RaceChecker* race_checker = nullptr;  ///< its worker's
  };
  BlockState& new_state(Block& block);
  void before_write(const WarpAccess& access);
  void report_race(const WarpAccess& access, const Race& race);
  void report_flight(const WarpAccess& access, const InFlight& touched);
  [[nodiscard]] BlockState& state_of(const Block& block) const { return states_.of(block); }

  Launch& launch_;
  CheckFindings& findings_;
  std::mutex mutex_;  ///< guards making a block's state
  std::map<const Worker*, std::unique_ptr<RaceChecker>> races_;
  std::unique_ptr<memory::UndoLog> undo_;  ///< with several workers
  std::atomic<bool> blocks_race_ = false;  ///< … and two blocks did
  PerBlock<BlockState> states_;
};

Racecheck::BlockState& Racecheck::new_state(Block& block) {
  const std::lock_guard lock(mutex_);
  BlockState& state = states_.add(block);
  if (launch_.parallel && undo_ == nullptr)
    undo_ = std::make_unique<memory::UndoLog>(*launch_.request->memory);
  const std::size_t number = races_.size();
  auto& races = races_[block.worker];
  if (races == nullptr) {
    races = std::make_unique<RaceChecker>(
        launch_, number,
        [this](const WarpAccess& access, const Race& race) { report_race(access, race); });
  }
  state.race_checker = races.get();
  return state;
}

bool Racecheck::must_repeat() const {
  if (undo_ == nullptr) return false;
  if (launch_.fault && launch_.fault->kind == FaultKind::kStopped) return false;
  if (blocks_race_ || launch_.fault) return true;
  for (auto one = races_.begin(); one != races_.end(); ++one)
    for (auto other = std::next(one); other != races_.end(); ++other)
      if (one->second->conflicts_with(*other->second)) return true;
  return false;
}

void Racecheck::before_write(const WarpAccess& access) {
  if (access.shape == LanePattern::kRow)
    return undo_->before_write(access.addresses[0], std::uint64_t{32} * access.bytes);
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1)
    undo_->before_write(access.addresses[std::countr_zero(rest)], access.bytes);
}

void Racecheck::block_begins(Block& block) {
  BlockState& state = states_.has(block) ? states_.of(block) : new_state(block);
  state.race_checker->start_block(block, state.races);
  state.flights.clear();
}

void Racecheck::arrives(Warp& w, std::uint32_t id) {
  state_of(*w.block).races.clock.arrive(w.index, id);
}

void Racecheck::opens(Block& block, std::uint32_t id) {
  BlockClock& clock = state_of(block).races.clock;
  if (block.barriers[id].expected == 0) return clock.join_all(id);
  const Waiting waiting = waiting_at(block, id);
  if (waiting.threads == block.live_threads) return clock.join_all(id);
  clock.open(id, waiting.warps);
}

void Racecheck::lanes_sync(Warp& w, std::uint32_t lanes) {
  state_of(*w.block).races.clock.join_lanes(w.index, lanes);
}

void Racecheck::fence(Warp& w, const Step* step) {
  BlockState& state = state_of(*w.block);
  state.race_checker->fence(w, step, state.races);
}

void Racecheck::mbarrier(Warp& w, std::uint32_t mask, const std::uint64_t* offsets, bool arrives) {
  BlockState& state = state_of(*w.block);
  state.race_checker->mbarrier(w, mask, offsets, arrives, state.races);
}

void Racecheck::allocated(std::uint64_t address, std::uint64_t bytes) {
  // Kernels that allocate run on one worker.
  for (const auto& [worker, races] : races_) races->allocated(address, bytes);
}

SameRead Racecheck::check(const WarpAccess& access, std::uint32_t lanes) {
  BlockState& state = state_of(*access.warp->block);
  if (undo_ != nullptr && access.space == ptx::StateSpace::kGlobal &&
      access.kind != AccessKind::kLoad)
    before_write(access);
  if (access.space == ptx::StateSpace::kShared) {
    if (state.flights.any()) {
      if (const auto touched = state.flights.touched_by(access)) report_flight(access, *touched);
    }
    if (access.step->extra->in->opcode == program::Opcode::kCpAsync) state.flights.begin(access);
  }
  const RowCheck found = state.race_checker->access(access, state.races, access.shape, lanes);
  return found == RowCheck::kSettled ? SameRead::kSettled : SameRead::kMatters;
}

/// Nobody hears of the copy before somebody has waited for it: as if it were written now.
void Racecheck::check_landing(const WarpAccess& access) {
  BlockState& state = state_of(*access.warp->block);
  state.flights.end(access);
  state.race_checker->access(access, state.races, access.shape, access.mask, true);
}

void Racecheck::report_flight(const WarpAccess& access, const InFlight& touched) {
  const Warp& w = *access.warp;
  findings_.add(w, {access.step, "copy in flight", touched.copy}, [&] {
    CheckReport found{"racecheck",
                      "copy in flight",
                      place_of(w, access.step, touched.lane),
                      access.addresses[touched.lane],
                      access.bytes,
                      1,
                      ""};
    found.other = OtherAccess{place_of(w, touched.copy, 0), true};
    found.other->place.thread = launch_.request->block.index(touched.thread);
    found.text = describe_flight(w, access, touched.lane, found.place, *found.other);
    found.advice = access.kind == AccessKind::kLoad
                       ? "wait for the copy first (__pipeline_wait_prior, cp.async.wait_group, "
                         "wait()), then let a barrier tell the other threads"
                       : "wait for the copy (and for those who read it) before its place is used "
                         "for something else";
    return found;
  });
}

void Racecheck::report_race(const WarpAccess& access, const Race& race) {
  if (undo_ != nullptr && between_blocks(access, race)) {
    // Who is named, and which of several races, depends on who came first: once more in order.
    blocks_race_ = true;
    launch_.halt.store(true, std::memory_order_relaxed);
    return;
  }
  const Step* const other_step = launch_.origins[race.origin];
  const Relation apart = relation(*access.warp, race);
  findings_.add(
      *access.warp, {access.step, "data race", other_step},
      [&] {
        CheckReport found{"racecheck",
                          "data race",
                          place_of(*access.warp, access.step, race.lane),
                          access.addresses[race.lane],
                          access.bytes,
                          1,
                          ""};
        found.other = other_access(*access.warp, race, other_step);
        found.text = describe_race(*access.warp, access, race, found.place, *found.other);
        const RaceAdvice advice =
            race_advice(*access.warp, access, race, found.place, *found.other);
        found.advice = advice.text;
        found.weight =
            2 * static_cast<std::uint32_t>(apart) + (advice.is_of_next_iteration ? 0 : 1);
        return found;
      },
      static_cast<std::uint32_t>(apart));
}

}  // namespace

std::unique_ptr<KernelChecker> make_racecheck(Launch& launch, CheckFindings& findings) {
  return std::make_unique<Racecheck>(launch, findings);
}

}  // namespace membound::vgpu::exec
