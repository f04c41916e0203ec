// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Data races: two threads access one place, one of them writes, not both atomically, and nothing
/// orders the two. In shared and global memory, to the byte, between any two threads: lanes of one
/// warp (which since Volta do not run in step), warps of a block, blocks of a grid.
///
/// Volatile accesses order nobody: they race as others do, except with what a loop waits for or a
/// branch alone is decided by (program's spin loops). Not a race: what one instruction does for the
/// lanes of a warp that execute it together; two threads writing the value that is there already.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "grader/vgpu/exec/observe/race_rows.hpp"
#include "grader/vgpu/exec/observe/vector_clock.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"

namespace membound::vgpu::exec {

/// May the atomic be one that takes a lock: a compare-and-swap or exchange whose result is looked
/// at?
[[nodiscard]] bool may_take_lock(const program::Instruction& in);

/// The lock that a warp took last, and who gave it back before: null where nobody did.
struct TakenLock {
  const Step *take = nullptr, *give_back = nullptr;
};

/// What is remembered of one block in flight.
struct BlockRaces {
  BlockClock clock;
  memory::ShadowView shared;
  std::vector<std::uint64_t> epochs;   ///< shared memory's cells: writes, then reads
  std::vector<std::uint16_t> origins;  ///< the same
  std::unordered_map<std::uint64_t, SyncVariable> sync_variables;  ///< by offset in shared memory
  std::array<TakenLock, BlockClock::kWarps> locks{};               ///< by warp
};

struct Moment;
struct CellEpoch;

/// A race that was found.
struct Race {
  std::uint32_t lane = 0;     ///< of the access now
  std::uint64_t address = 0;  ///< of the cell: an offset in shared memory
  std::uint64_t before = 0;   ///< the epoch of the other access
  std::uint16_t origin = 0;   ///< and its instruction
  bool before_wrote = false;
  TakenLock lock = {};  ///< of the warp that accesses now; for advice
};

/// One worker's race checker in one launch: it sees the blocks that this worker runs, and nobody
/// else touches its memory. What blocks of two workers do to each other, it does not see; their
/// marks tell whether there is anything to see, and then the launch is run again by one worker.
class RaceChecker {
 public:
  /// `found` is called for each race. `worker` counts from 0.
  RaceChecker(Launch& launch, std::size_t worker,
              std::function<void(const WarpAccess&, const Race&)> found);

  void start_block(Block& block, BlockRaces& races) const;
  /// `lanes` are those to look at. An access whose step is that of the last write may be a copy
  /// that lands: then `lands` says that the two are one.
  RowCheck access(const WarpAccess& access, BlockRaces& races, LanePattern shape,
                  std::uint32_t lanes, bool lands = false);
  void fence(const Warp& warp, const Step* step, BlockRaces& races) const;
  /// An mbarrier is arrived at, or waited for.
  void mbarrier(const Warp& warp, std::uint32_t mask, const std::uint64_t* offsets, bool arrives,
                BlockRaces& races) const;
  /// The device's heap hands out memory.
  void allocated(std::uint64_t address, std::uint64_t bytes);
  /// Was some place accessed by both workers, and not by both atomically, nor read by both?
  [[nodiscard]] bool conflicts_with(const RaceChecker& other) const;

 private:
  struct Cells;
  struct Readers;
  void take_apart(const WarpAccess& access, LanePattern shape, std::uint32_t lanes,
                  std::uint64_t flags);
  [[nodiscard]] bool is_apart(std::uint64_t line) const;
  [[nodiscard]] RowCheck row(const WarpAccess& access, BlockRaces& races, const Moment& now);
  [[nodiscard]] bool whole_line(std::uint64_t number, std::uint32_t per_lane, std::uint32_t part,
                                const Moment& now);
  [[nodiscard]] bool read_line(memory::Line& line, std::uint64_t epoch, const Moment& now) const;
  [[nodiscard]] bool write_line(memory::Line& line, std::uint64_t epoch, const Moment& now) const;
  [[nodiscard]] std::optional<bool> other_kind_apart(std::uint64_t first, std::uint64_t cells,
                                                     const Moment& now) const;
  [[nodiscard]] bool own_lines(const WarpAccess& access, const Moment& now);
  void ordered_access(const WarpAccess& access, BlockRaces& races, std::uint64_t flags,
                      std::uint32_t lanes);
  [[nodiscard]] RowCheck read_together(const WarpAccess& access, const BlockRaces& races,
                                       const Moment& now) const;
  [[nodiscard]] std::uint32_t some_readers(const WarpAccess& access, const BlockRaces& races,
                                           const Moment& now) const;
  [[nodiscard]] bool quiet(const WarpAccess& access, const BlockRaces& races, const Moment& now,
                           std::uint32_t lanes) const;
  void note_read(const memory::ShadowView& view, std::uint64_t cell, std::uint64_t epoch,
                 const BlockRaces& races, const Moment& now) const;
  [[nodiscard]] Readers readers_of(const WarpAccess& access, const BlockRaces& races,
                                   std::uint32_t lanes) const;
  [[nodiscard]] static bool some_write_counts(const WarpAccess& access, const Cells& cells,
                                              std::uint32_t lanes, const Moment& now);
  void lane_by_lane(const WarpAccess& access, BlockRaces& races, const Moment& now,
                    std::uint32_t lanes);
  [[nodiscard]] bool passes_data(const WarpAccess& access, const Cells& cells, std::uint64_t cell,
                                 std::uint64_t epoch, const CellEpoch& before) const;
  void check(const WarpAccess& access, BlockRaces& races, const Cells& cells, const Moment& now);
  void note_lock(const WarpAccess& access, BlockRaces& races, const Moment& now) const;
  [[nodiscard]] SyncVariable* sync_variable_at(const WarpAccess& access, BlockRaces& races,
                                               std::uint64_t address, bool make);

  Launch& launch_;
  std::function<void(const WarpAccess&, const Race&)> found_;
  const RowLoops& rows_;
  memory::AccessShadow* shadow_ = nullptr;
  memory::ShadowView global_;
  std::uint64_t tag_ = 0;
  std::uint32_t shared_shift_ = 2;
  bool kernel_waits_ = false;  ///< some of its threads wait for others by a volatile flag
  std::unordered_map<std::uint64_t, SyncVariable>
      sync_variables_;  ///< global memory; blocks interleaved
};

/// Who accesses, and which earlier accesses still count for it: those of its block since the last
/// barrier (`recent`), and in global memory those of other blocks in this launch (`foreign`).
struct Moment {
  using Epoch = memory::Epoch;

  Moment(const WarpAccess& access, const BlockRaces& races, std::uint64_t tag, std::uint64_t flags)
      : load(access.kind == AccessKind::kLoad),
        shared(access.space == ptx::StateSpace::kShared),
        origin(access.step->origin),
        floor(races.clock.floor()),
        whole(races.clock.whole(access.warp->index)),
        epoch(Epoch::make(tag, access.warp->block->linear, races.clock.time(access.warp->index),
                          std::uint64_t{access.warp->index} * 32, flags)),
        own(epoch & Epoch::kSameBlock),
        since(own | floor << Epoch::kTimeShift),
        span(own + (std::uint64_t{1} << Epoch::kBlockShift) - since) {}
  [[nodiscard]] bool recent(std::uint64_t before) const { return before - since < span; }
  [[nodiscard]] bool foreign(std::uint64_t before) const {
    const std::uint64_t difference = before ^ own;
    return !shared && difference >> Epoch::kTagShift == 0 &&
           ((difference & Epoch::kSameBlock) != 0 || (before & Epoch::kManyBlocks) != 0);
  }
  [[nodiscard]] bool counts(std::uint64_t before) const {
    return recent(before) || foreign(before);
  }

  bool load, shared;
  bool lands = false;  ///< an asynchronous copy, which wrote to its place when it was issued, too
  std::uint16_t origin;
  std::uint64_t floor, whole;
  std::uint64_t epoch;  ///< of lane 0
  std::uint64_t own, since, span;
};

// --- the sentences in which races are told: race_messages.cpp

/// The other side of a race. `step` may be null: too many instructions to tell them apart.
[[nodiscard]] OtherAccess other_access(const Warp& warp, const Race& race, const Step* step);
/// "reads 4 bytes at … that thread (1, 3, 0) of the same block wrote at kernel.cu:16; …"
[[nodiscard]] std::string describe_race(const Warp& warp, const WarpAccess& access,
                                        const Race& race, const Place& place,
                                        const OtherAccess& other);
/// "reads 4 bytes at …, to which thread (3, 0, 0) copies at kernel.cu:12; nobody has waited …"
[[nodiscard]] std::string describe_flight(const Warp& warp, const WarpAccess& access,
                                          std::uint32_t lane, const Place& place,
                                          const OtherAccess& copy);
/// What a race's two threads have in common; who is further apart needs more to be ordered.
enum class Relation : std::uint8_t { kWarp, kBlock, kGrid };
[[nodiscard]] Relation relation(const Warp& warp, const Race& race);

/// What to do about a race: one sentence.
struct RaceAdvice {
  std::string text;
  bool is_of_next_iteration =
      false;  ///< what is missing stands where a loop begins its next iteration
};
[[nodiscard]] RaceAdvice race_advice(const Warp& warp, const WarpAccess& access, const Race& race,
                                     const Place& place, const OtherAccess& other);

}  // namespace membound::vgpu::exec
