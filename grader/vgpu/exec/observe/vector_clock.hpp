// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Vector clocks of the threads of a block: what orders two accesses. An access is ordered before
/// another if a chain of barriers, warp barriers and hand-overs (release, then acquire) leads from
/// one to the other; never because the emulator happened to run one first. Model: PTX ISA, "Memory
/// Consistency Model".
///
/// Each warp has a time, which moves on when something ordered its past. `floor` is the time of the
/// last barrier of the whole block: what is older is ordered before everything the block does now.
/// What whole-block barriers do not tell is kept only once it happens: warp barriers of some lanes
/// as a list, barriers of some warps and hand-overs as a table warp x warp, hand-overs between
/// blocks as a list of blocks. Fences travel as knowledge does: what a thread has fenced before a
/// barrier, any thread behind it hands over by a write (fence.sc on both sides orders the two).
/// Where that is coarser than the memory model (a hand-over by a lane counts for its warp; a strong
/// read counts as an acquire without a fence), it hides races and never invents one.
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

/// How much of one block's past is known: all its warps before `base`, and `warp` before `time`.
struct Known {
  std::uint32_t base = 0;
  std::uint32_t warp = 0;
  std::uint32_t time = 0;
  void join(const Known& other);
  [[nodiscard]] bool covers(std::uint32_t of_warp, std::uint32_t at) const {
    return at < base || (of_warp == warp && at < time);
  }
};

/// By block number.
using KnownBlocks = std::map<std::uint64_t, Known>;
using KnownBlocksPtr = std::shared_ptr<const KnownBlocks>;

/// What other blocks have read, by ranges of blocks, before a time each.
class KnownReads {
 public:
  void add(std::uint64_t first, std::uint64_t last, std::uint32_t time);
  void join(const KnownReads& other);
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  [[nodiscard]] bool cover(std::uint64_t block, std::uint32_t time) const;

 private:
  struct Part {
    std::uint64_t first = 0, last = 0;
    std::uint32_t time = 0;
  };
  std::vector<Part> parts_;  ///< apart, in order; neighbours are one, with the later time
};

/// What a thread had behind it at a fence: a later write of it hands that over.
struct Fence {
  bool made = false;
  Known own;
  KnownBlocksPtr blocks;
  void join(const Fence& other);
};

/// What a thread knows: of its block, of others, and what of it fences have told the whole device.
struct Told {
  Known past;
  KnownBlocksPtr blocks;
  Fence on_device;
};

/// What a location of memory hands over to those who read it with an atomic or ordered access.
struct HandOver {
  std::map<std::uint64_t, Told> in_block;  ///< released towards the own block only
  KnownBlocksPtr on_device;
  KnownReads reads;  ///< handed over without a release, too
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
  /// Have some of the warp's lanes met since all of them did?
  [[nodiscard]] bool some_lanes_met(std::uint32_t warp) const {
    return warps_[warp].meeting_count != 0;
  }
  /// The warp accesses memory: what orders it next moves its time on.
  void touch(std::uint32_t warp) { warps_[warp].touched = true; }

  /// All threads met at barrier `id`.
  void meet(std::uint32_t id);
  /// `warp` arrives at barrier `id`, which only some warps wait for.
  void arrive(std::uint32_t warp, std::uint32_t id);
  /// Barrier `id` opened for `warps` (a mask of those that waited).
  void open(std::uint32_t id, std::uint32_t warps);
  /// Lanes of one warp met.
  void meet_lanes(std::uint32_t warp, std::uint32_t lanes);
  /// A fence of the warp.
  void fence(std::uint32_t warp, Reach reach);
  /// Has the warp made a fence in this block?
  [[nodiscard]] bool has_fence(std::uint32_t warp) const { return warps_[warp].block_fence.made; }
  /// An atomic or ordered write hands over: everything before it when it `releases`, else
  /// everything before the last fence. `replaces`: a store, which ends what was handed over before.
  void hand_over(std::uint32_t warp, HandOver& place, Reach reach, bool releases, bool replaces);
  /// A store hands over, released or not, what the block had read before its last barrier: the
  /// value may be made of that, and no value is there before what it is made of (PTX ISA,
  /// "No-Thin-Air").
  void hand_over_reads(std::uint32_t warp, HandOver& place);
  /// An atomic or ordered read takes over.
  void take_over(std::uint32_t warp, const HandOver& place);

  /// Is the access behind `stamp`, of this launch, ordered before what `thread` does now?
  [[nodiscard]] bool ordered(std::uint64_t stamp, std::uint32_t thread) const;
  /// Is the read behind `stamp`, of another block, over before `warp` writes?
  [[nodiscard]] bool read_before(std::uint64_t stamp, std::uint32_t warp) const;

 private:
  /// Some lanes of a warp met; it orders what is older than `time`.
  struct Meeting {
    std::uint32_t time = 0;
    std::uint32_t lanes = 0;
  };
  static constexpr std::uint32_t kMeetings = 16;
  using Times = std::array<std::uint32_t, kWarps>;
  struct WarpClock {
    std::uint32_t time = 1;
    std::uint32_t whole = 1;  ///< the whole warp met here last
    std::uint32_t lanes = 0;
    bool touched = false;
    std::uint32_t meeting_count = 0;
    std::array<Meeting, kMeetings> meetings;
    KnownBlocksPtr blocks;
    KnownReads reads;
    Fence block_fence, device_fence;
    const HandOver* last_taken = nullptr;
    std::uint64_t last_version = 0;
  };
  struct Gathering {
    Times times{};
    KnownBlocksPtr blocks;
    Fence block_fence, device_fence;
  };

  void tick(WarpClock& warp);
  void keep_table();
  void share_fences();
  [[nodiscard]] Known own_past(std::uint32_t warp) const;
  [[nodiscard]] bool lanes_ordered(const WarpClock& warp, std::uint64_t stamp,
                                   std::uint32_t lane) const;
  [[nodiscard]] bool blocks_ordered(const WarpClock& warp, std::uint64_t stamp) const;

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
