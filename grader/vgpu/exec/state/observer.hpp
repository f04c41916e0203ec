// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What an observer of a running launch hears, and where it keeps what it remembers of a block; and
/// several observers side by side.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <memory>
#include <mutex>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/vgpu/exec/state/execution_state.hpp"
#include "grader/vgpu/exec/state/launch_request.hpp"

namespace membound::vgpu::exec {

/// How the lanes of a full warp lie in memory.
enum class LanePattern : std::uint8_t {
  kUnknown,  ///< nobody has looked
  kRow,      ///< neighbours, in order
  kSame,     ///< all at one address
  kOther     ///< also where lanes are missing
};

/// One warp-wide access, for checkers and the cache model.
struct WarpAccess {
  Warp* warp = nullptr;
  const Step* step = nullptr;
  ptx::StateSpace space = ptx::StateSpace::kGlobal;  ///< global, shared or local
  AccessKind kind = AccessKind::kLoad;
  std::uint32_t mask = 0;
  std::uint32_t bytes = 0;                   ///< a lane
  const std::uint64_t* addresses = nullptr;  ///< of 32 lanes; offsets for shared and local
  LanePattern shape = LanePattern::kUnknown;
};

/// What the address of an access of `bytes` is a multiple of: the elements of a vector are aligned
/// together, up to 16 bytes; a bulk copy moves 16 bytes at a time.
constexpr std::uint32_t alignment_of(std::uint32_t bytes) {
  return std::bit_floor(std::min(bytes, 16u));
}

/// Reads of shared memory by full warps of which the observer need not hear again: they found
/// nothing, and another one would change nothing, as long as nobody writes and no barrier opens.
class SettledReads {
 public:
  [[nodiscard]] bool has(std::uint64_t offset, std::uint32_t bytes, LanePattern shape) const {
    const Entry& entry = entries_[slot(offset, shape)];
    return entry.period == period_ && entry.key == key(offset, bytes, shape);
  }
  void add(std::uint64_t offset, std::uint32_t bytes, LanePattern shape) {
    entries_[slot(offset, shape)] = {key(offset, bytes, shape), period_};
  }
  /// Somebody wrote, or a barrier opened: none counts any more.
  void begin_period() { ++period_; }

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint64_t period = 0;
  };
  static std::uint64_t key(std::uint64_t offset, std::uint32_t bytes, LanePattern shape) {
    return offset << 8 | std::uint64_t{bytes} << 2 | static_cast<std::uint64_t>(shape);
  }
  static std::size_t slot(std::uint64_t offset, LanePattern shape) {
    return (offset >> 2 ^ offset >> 7 ^ (shape == LanePattern::kRow ? 128u : 0u)) & 255u;
  }
  std::array<Entry, 256> entries_{};
  std::uint64_t period_ = 1;
};

/// Looks on while a launch runs; overrides what it is for. Several may look on side by side, none
/// knows the others (ObserverList).
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void access(const WarpAccess&) {}
  /// A texture fetch, a texel a lane: what a filter blends comes one after the other. Nobody writes
  /// there while the launch runs; in an array the addresses are where a GPU keeps the texels.
  virtual void fetch(const WarpAccess&) {}
  /// A group arrives at a block barrier that wants its whole warp; `whole_warp` when no lane is
  /// missing.
  virtual void barrier(Warp&, const Step*, bool /*whole_warp*/) {}
  /// A collective ran, or a warp barrier opened, with the lanes in `present`, although the member
  /// masks also name others that live; or although `strangers` are not named by their own mask.
  virtual void collective(Warp&, const Step*, std::uint32_t /*members*/, std::uint32_t /*present*/,
                          std::uint32_t /*strangers*/) {}
  /// A shuffle in which `lanes` ask lanes that do not take part.
  virtual void deserted_shuffle(Warp&, const Step*, std::uint32_t /*lanes*/) {}
  /// A shuffle within segments that do not divide a warp; `lane` asks for them.
  virtual void odd_shuffle(Warp&, const Step*, std::uint32_t /*lane*/) {}
  /// The running lanes are about to execute a step; told while Warp::watched.
  virtual void step(Warp&, const Step*) {}
  /// A call made the warp's frame; its arguments are there.
  virtual void enters(Warp&) {}
  /// kRedZoneBytes of a lane's local memory from this offset on belong to no variable of the frame.
  virtual void red_zone(Warp&, std::uint32_t /*lane*/, std::uint64_t /*offset*/) {}
  /// Asynchronous copies, each of which access() told when it began, are written to shared memory:
  /// somebody waits for them.
  virtual void copies_land(const WarpAccess&) {}
  /// The running lanes end at this step.
  virtual void exits(Warp&, const Step*) {}
  virtual void block_begins(Block&) {}
  /// All its threads have exited. Not told of a block in which the launch ended.
  virtual void block_ends(Block&) {}
  /// The running lanes arrive at block barrier `id`, which counts its threads itself.
  virtual void arrives(Warp&, std::uint32_t /*id*/) {}
  /// Block barrier `id` opens: groups that wait there go on after this.
  virtual void opens(Block&, std::uint32_t /*id*/) {}
  /// Lanes of one warp met, at a warp barrier or a collective.
  virtual void lanes_sync(Warp&, std::uint32_t /*lanes*/) {}
  virtual void fence(Warp&, const Step*) {}
  /// Lanes arrive at mbarriers, or wait for them.
  virtual void mbarrier(Warp&, std::uint32_t /*mask*/, const std::uint64_t* /*offsets*/,
                        bool /*arrives*/) {}
  /// The device's heap hands out memory.
  virtual void allocated(std::uint64_t /*address*/, std::uint64_t /*bytes*/) {}
  /// An out-of-bounds or misaligned access. True: reported, go on without these lanes.
  virtual bool bad_access(const WarpAccess&, FaultKind, std::uint32_t /*lane*/) { return false; }
  /// Must it hear also of reads that another one has settled?
  [[nodiscard]] virtual bool wants_settled_reads() const { return false; }
};

/// What one observer remembers of each block in flight. The observer owns it; the block keeps its
/// place, so that finding it is one load.
template <std::derived_from<ObserverNotes> Notes>
class PerBlock {
 public:
  explicit PerBlock(Launch& launch) : slot_(launch.observers_with_notes++) {
    MEMBOUND_CHECK(slot_ < kMostObservers);
  }
  /// Makes them where the block has none yet; they stay when it is used for the next block.
  Notes& add(Block& block) {
    all_.push_back(std::make_unique<Notes>());
    block.notes[slot_] = all_.back().get();
    return *all_.back();
  }
  /// The block's, made on first use; from whichever worker runs it.
  Notes& obtain(Block& block) {
    if (has(block)) return of(block);
    const std::lock_guard lock(mutex_);
    return add(block);
  }
  [[nodiscard]] bool has(const Block& block) const { return block.notes[slot_] != nullptr; }
  [[nodiscard]] Notes& of(const Block& block) const {
    return static_cast<Notes&>(*block.notes[slot_]);
  }
  [[nodiscard]] const std::vector<std::unique_ptr<Notes>>& all() const { return all_; }

 private:
  std::size_t slot_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Notes>> all_;
};

/// Tells each of them everything, in the order in which they were added.
class ObserverList : public Observer {
 public:
  void add(Observer& observer) { all_.push_back(&observer); }
  /// Whom to tell: nobody (null), the only one, or this list.
  [[nodiscard]] Observer* front() {
    return all_.empty() ? nullptr : all_.size() == 1 ? all_[0] : this;
  }

  void access(const WarpAccess& access) override {
    for (Observer* each : all_) each->access(access);
  }
  void fetch(const WarpAccess& access) override {
    for (Observer* each : all_) each->fetch(access);
  }
  void copies_land(const WarpAccess& access) override {
    for (Observer* each : all_) each->copies_land(access);
  }
  void barrier(Warp& warp, const Step* step, bool whole_warp) override {
    for (Observer* each : all_) each->barrier(warp, step, whole_warp);
  }
  void collective(Warp& warp, const Step* step, std::uint32_t members, std::uint32_t present,
                  std::uint32_t strangers) override {
    for (Observer* each : all_) each->collective(warp, step, members, present, strangers);
  }
  void deserted_shuffle(Warp& warp, const Step* step, std::uint32_t lanes) override {
    for (Observer* each : all_) each->deserted_shuffle(warp, step, lanes);
  }
  void odd_shuffle(Warp& warp, const Step* step, std::uint32_t lane) override {
    for (Observer* each : all_) each->odd_shuffle(warp, step, lane);
  }
  void step(Warp& warp, const Step* step) override {
    for (Observer* each : all_) each->step(warp, step);
  }
  void enters(Warp& warp) override {
    for (Observer* each : all_) each->enters(warp);
  }
  void red_zone(Warp& warp, std::uint32_t lane, std::uint64_t offset) override {
    for (Observer* each : all_) each->red_zone(warp, lane, offset);
  }
  void exits(Warp& warp, const Step* step) override {
    for (Observer* each : all_) each->exits(warp, step);
  }
  void block_begins(Block& block) override {
    for (Observer* each : all_) each->block_begins(block);
  }
  void block_ends(Block& block) override {
    for (Observer* each : all_) each->block_ends(block);
  }
  void arrives(Warp& warp, std::uint32_t id) override {
    for (Observer* each : all_) each->arrives(warp, id);
  }
  void opens(Block& block, std::uint32_t id) override {
    for (Observer* each : all_) each->opens(block, id);
  }
  void lanes_sync(Warp& warp, std::uint32_t lanes) override {
    for (Observer* each : all_) each->lanes_sync(warp, lanes);
  }
  void fence(Warp& warp, const Step* step) override {
    for (Observer* each : all_) each->fence(warp, step);
  }
  void mbarrier(Warp& warp, std::uint32_t mask, const std::uint64_t* offsets,
                bool arrives) override {
    for (Observer* each : all_) each->mbarrier(warp, mask, offsets, arrives);
  }
  void allocated(std::uint64_t address, std::uint64_t bytes) override {
    for (Observer* each : all_) each->allocated(address, bytes);
  }
  bool bad_access(const WarpAccess& access, FaultKind kind, std::uint32_t lane) override {
    bool reported = false;
    for (Observer* each : all_) reported |= each->bad_access(access, kind, lane);
    return reported;
  }
  [[nodiscard]] bool wants_settled_reads() const override {
    bool wanted = false;
    for (const Observer* each : all_) wanted |= each->wants_settled_reads();
    return wanted;
  }

 private:
  std::vector<Observer*> all_;
};

}  // namespace membound::vgpu::exec
