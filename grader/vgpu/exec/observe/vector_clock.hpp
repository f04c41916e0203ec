// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Vector clocks of the threads of a block: what orders two accesses. An access is ordered before
/// another if a chain of barriers, warp barriers and releases that were acquired leads from
/// one to the other; never because the emulator happened to run one first. Model: PTX ISA, "Memory
/// Consistency Model".
///
/// Each warp has a time, which moves on when something ordered its past. `floor` is the time of the
/// last barrier of the whole block: what is older is ordered before everything the block does now.
/// What whole-block barriers do not tell is kept only once it happens: warp barriers of some lanes
/// as a list, barriers of some warps and acquires as a table warp x warp, acquires between
/// blocks as a list of blocks. Fences travel as knowledge does: what a thread has fenced before a
/// barrier, any thread after it releases by a write (fence.sc on both sides orders the two).
/// A release is that of the lanes that make it and of those they have met, and tells what these
/// have acquired; so is an acquire. Where that is coarser than the memory model (of several warps
/// that are known, all of their block counts as known; a strong read counts as an acquire without a
/// fence), it hides races and never invents one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grader/vgpu/memory/access_shadow.hpp"

namespace membound::vgpu::exec {

/// How much of one block's past is known: all its warps before `base`, all of `warp` before
/// `whole`, and of that warp `lanes` before `time`.
struct VectorClock {
  std::uint32_t base = 0;
  std::uint32_t warp = 0;
  std::uint32_t time = 0;
  std::uint32_t lanes = ~0u;
  std::uint32_t whole = 0;
  void join(const VectorClock& other);
  /// The access behind an epoch of this block.
  [[nodiscard]] bool covers(std::uint64_t epoch) const {
    using memory::Epoch;
    const std::uint32_t at = Epoch::time(epoch);
    if (at < base) return true;
    if (Epoch::warp(epoch) != warp || at >= time) return false;
    // Of many lanes who they were is not known.
    return at < whole || ((lanes >> Epoch::lane(epoch)) & 1) != 0 ||
           (epoch & Epoch::kManyLanes) != 0;
  }
};

/// By block number.
using VectorClocks = std::map<std::uint64_t, VectorClock>;
using VectorClocksPtr = std::shared_ptr<const VectorClocks>;

/// What other blocks have read, by ranges of blocks, before a time each.
class ReadClock {
 public:
  void add(std::uint64_t first, std::uint64_t last, std::uint32_t time);
  void join(const ReadClock& other);
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  [[nodiscard]] bool cover(std::uint64_t block, std::uint32_t time) const;

 private:
  struct Part {
    std::uint64_t first = 0, last = 0;
    std::uint32_t time = 0;
  };
  std::vector<Part> parts_;  ///< apart, in order; neighbours are one, with the later time
};

/// Some lanes acquired what another warp of the block had released.
struct Acquisition {
  VectorClock past;
  std::uint32_t acquirers = 0;
};

/// What not all lanes of a warp know: of their block and of others.
struct LanesKnow {
  static constexpr std::uint32_t kAcquisitions = 8;
  std::uint32_t count = 0;
  std::array<Acquisition, kAcquisitions> acquisitions;
  VectorClocksPtr blocks;
  std::uint32_t acquirers = 0;  ///< lanes that know `blocks`

  /// What one of the lanes `from` knows, `to` know now, too.
  void spread(std::uint32_t from, std::uint32_t to);
  /// The time before which one of these lanes has `warp` in order.
  [[nodiscard]] std::uint32_t known_of(std::uint32_t warp, std::uint32_t lanes) const;
  void clear();
};

/// What came before a warp's fence: a later write of it releases that.
struct Fence {
  bool made = false;
  VectorClock own;
  VectorClocksPtr blocks;
  LanesKnow of_lanes;  ///< besides
  void join(const Fence& other);
  /// These lanes of the warp, which has `all`, come after it.
  void join(const Fence& other, std::uint32_t lanes, std::uint32_t all);
  /// What these lanes knew.
  [[nodiscard]] VectorClock past_of(std::uint32_t lanes) const;
  [[nodiscard]] VectorClocksPtr blocks_of(std::uint32_t lanes) const;
};

/// What a thread knows: of its block, of others, and what of it fences have told the whole device.
struct Released {
  VectorClock past;
  VectorClocksPtr blocks;
  Fence on_device;
  std::uint32_t lanes = 0;  ///< of warp past.warp: who released; all where several warps did
};

/// What was released to a location of memory: those who read it with an atomic or ordered access
/// acquire it.
struct SyncVariable {
  std::map<std::uint64_t, Released> in_block;  ///< released towards the own block only
  VectorClocksPtr on_device;
  ReadClock reads;  ///< released without a fence, too
  std::uint64_t version = 0;
};

/// How far a fence or an access reaches.
enum class Reach : std::uint8_t { kBlock, kDevice };

/// The clocks of one block in flight.
class BlockClock {
 public:
  static constexpr std::uint32_t kWarps = 32;

  /// A new block: `lanes` are those each warp starts with.
  void start(std::uint64_t block, const std::uint32_t* lanes, std::uint32_t warps);

  [[nodiscard]] std::uint32_t floor() const { return floor_; }
  [[nodiscard]] std::uint32_t time(std::uint32_t warp) const { return warps_[warp].time; }
  /// When all lanes of the warp met last.
  [[nodiscard]] std::uint32_t whole(std::uint32_t warp) const { return warps_[warp].whole; }
  /// Have some of the warp's lanes met since all of them did, or acquired something?
  [[nodiscard]] bool some_lanes_joined(std::uint32_t warp) const {
    const WarpClock& clock = warps_[warp];
    return clock.lane_join_count != 0 || clock.of_lanes.count != 0 || clock.of_lanes.acquirers != 0;
  }
  /// The warp accesses memory: what orders it next moves its time on.
  void touch(std::uint32_t warp) { warps_[warp].touched = true; }

  /// All threads met at barrier `id`: their clocks are joined.
  void join_all(std::uint32_t id);
  /// `warp` arrives at barrier `id`, which only some warps wait for.
  void arrive(std::uint32_t warp, std::uint32_t id);
  /// Barrier `id` opened for `warps` (a mask of those that waited).
  void open(std::uint32_t id, std::uint32_t warps);
  /// Lanes of one warp met.
  void join_lanes(std::uint32_t warp, std::uint32_t lanes);
  /// A fence of the warp.
  void fence(std::uint32_t warp, Reach reach);
  /// Has the warp made a fence in this block?
  [[nodiscard]] bool has_fence(std::uint32_t warp) const { return warps_[warp].block_fence.made; }
  /// An atomic or ordered write of these lanes releases: everything before it when it `releases`,
  /// else everything before the last fence. `replaces`: a store, which ends what was released
  /// before.
  void release(std::uint32_t warp, std::uint32_t lanes, SyncVariable& place, Reach reach,
               bool releases, bool replaces);
  /// A store releases, ordered or not, what the block had read before its last barrier: the
  /// value may be made of that, and no value is there before what it is made of (PTX ISA,
  /// "No-Thin-Air").
  void release_reads(std::uint32_t warp, SyncVariable& place);
  /// An atomic or ordered read of these lanes acquires.
  void acquire(std::uint32_t warp, std::uint32_t lanes, const SyncVariable& place);

  /// Is the access behind `epoch`, of this launch, ordered before what `thread` does now?
  [[nodiscard]] bool ordered(std::uint64_t epoch, std::uint32_t thread) const;
  /// Is the read behind `epoch`, of another block, over before `warp` writes?
  [[nodiscard]] bool read_before(std::uint64_t epoch, std::uint32_t warp) const;

 private:
  /// Some lanes of a warp met, or handed something over to others: what `from` did before `time` is
  /// ordered before what `to` does now.
  struct LaneJoin {
    std::uint32_t time = 0;
    std::uint32_t from = 0, to = 0;
  };
  static constexpr std::uint32_t kLaneJoins = 16;
  using Times = std::array<std::uint32_t, kWarps>;
  struct WarpClock {
    std::uint32_t time = 1;
    std::uint32_t whole = 1;  ///< the whole warp met here last
    std::uint32_t lanes = 0;
    bool touched = false;
    std::uint32_t lane_join_count = 0;
    std::array<LaneJoin, kLaneJoins> lane_joins;
    VectorClocksPtr blocks;
    LanesKnow of_lanes;  ///< besides
    ReadClock reads;
    Fence block_fence, device_fence;
    const SyncVariable* last_acquired = nullptr;
    std::uint64_t last_version = 0;
    std::uint32_t last_acquirers = 0;  ///< lanes
  };
  struct Gathering {
    Times times{};
    VectorClocksPtr blocks;
    Fence block_fence, device_fence;
  };

  void tick(WarpClock& warp);
  static void add_join(WarpClock& warp, const LaneJoin& join);
  static void spread(WarpClock& warp, std::uint32_t from, std::uint32_t to);
  static void learn(WarpClock& warp, const VectorClocksPtr& blocks, std::uint32_t lanes);
  void acquire_from(std::uint32_t warp, const VectorClock& past, std::uint32_t lanes);
  [[nodiscard]] static VectorClock told_by(const WarpClock& clock, std::uint32_t warp,
                                           VectorClock past, std::uint32_t lanes);
  [[nodiscard]] std::uint32_t known_of(std::uint32_t warp, std::uint32_t other,
                                       std::uint32_t lanes) const;
  void keep_table();
  void share_fences();
  [[nodiscard]] VectorClock own_past(std::uint32_t warp, std::uint32_t lanes) const;
  [[nodiscard]] static VectorClocksPtr blocks_of(const WarpClock& clock, std::uint32_t lanes);
  [[nodiscard]] bool lanes_ordered(const WarpClock& warp, std::uint64_t epoch,
                                   std::uint32_t lane) const;
  [[nodiscard]] static bool blocks_ordered(const WarpClock& warp, std::uint64_t epoch,
                                           std::uint32_t lane);

  std::uint64_t block_ = 0;
  std::uint32_t floor_ = 1;
  std::uint32_t warp_count_ = 0;
  bool has_table_ = false;
  bool gathered_ = false;
  bool fenced_ = false;  ///< some warp has made a fence
  std::array<WarpClock, kWarps> warps_;
  std::vector<Times> table_;  ///< [w][v]: what of warp v is ordered before warp w's next access
  std::array<Gathering, 16> gatherings_;
};

}  // namespace membound::vgpu::exec
