// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Feeds the cache model with the sectors of every global access.
///
/// An L1 belongs to an SM. Turn t of the grid is a block of SM t % SMs, as the hardware dispatches
/// them in the first wave; an SM's blocks are shown to its L1 one after another, so that what comes
/// out does not depend on the number of workers. On the machine they run side by side, and so do a
/// block's warps: therefore every warp has a clock, which counts its requests, and in L1 the steps
/// between them: whole ones where a load waits for another. The warps of a block
/// start together and are level again after a barrier; a block starts when the one that had its
/// slot on the SM has ended. What two warps load at about the same time of their clocks meets in
/// L1, whoever is simulated first.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "grader/vgpu/exec/state/observer.hpp"
#include "grader/vgpu/exec/traffic/l1_directory.hpp"
#include "grader/vgpu/exec/traffic/l2_footprint.hpp"
#include "grader/vgpu/exec/traffic/request_lines.hpp"
#include "grader/vgpu/exec/traffic/sector_uses.hpp"

namespace membound::vgpu::exec {

/// The cache model of one launch.
class CacheObserver : public Observer {
 public:
  explicit CacheObserver(Launch& launch);
  ~CacheObserver() override;

  void access(const WarpAccess& access) override;
  void fetch(const WarpAccess& access) override { access_memory(access, false); }
  /// Waits until the SM's block before has ended.
  void block_begins(Block& block) override;
  void block_ends(Block& block) override;
  void opens(Block& block, std::uint32_t id) override;

  /// After the launch: decides what was found in L1, and what of the sectors was used. The counts
  /// of each step go to its worker's, to be summed up like all others.
  void settle();
  /// Then: adds the rows that no step has to the launch's totals.
  void add_to(counters::Counters& totals);
  /// As LaunchReport::l1_kept.
  [[nodiscard]] std::uint32_t l1_kept() const { return kept_there_; }
  /// Different sectors by array, where chosen blocks ran.
  [[nodiscard]] const std::optional<ArrayTally>& reads() const { return reads_of_; }
  [[nodiscard]] const std::optional<ArrayTally>& writes() const { return writes_of_; }

 private:
  struct Sm;
  struct Tally;
  /// A line that a load wants, not yet shown to the SM.
  struct Wanted {
    std::uint64_t line;
    std::uint16_t sectors;
    bool sampled;
    bool passes_l1;
    std::uint32_t clock;
    std::uint32_t time;  ///< in L1
    ReuseDistances* uses;
  };
  /// Of a warp.
  struct Clock {
    std::uint32_t requests = 0;
    std::uint32_t time = 0;   ///< in L1: see kWholeStep
    std::uint32_t loads = 0;  ///< that begin a batch in one of several iterations
    void pass(const WarpAccess& access);
    /// The later of both.
    void catch_up(const Clock& other);
  };
  /// A block on its SM.
  struct Residency : ObserverNotes {
    Tally* tally = nullptr;
    Sm* sm = nullptr;  ///< null: it has ended, or the launch does, and nobody counts any more
    std::uint32_t slot = 0;
    std::vector<Clock> clocks;  ///< of its warps
    Clock began;                ///< by these clocks
    LoadRows rows;
    std::vector<Wanted> wanted;  ///< in order; they wait for the host's cache
    SectorUses::Stores stores;
    [[nodiscard]] Clock last() const;  ///< of its warps' clocks
  };

  void access_memory(const WarpAccess& access, bool passes_l1);
  Residency& make_residency(Block& block);
  void show(Residency& residency);
  void settle_uses();
  bool wait_for_turn(const Sm& sm, std::uint64_t turn);

  Launch& launch_;
  std::uint32_t slots_;  ///< blocks an SM holds at once
  std::uint64_t l1_bytes_;
  TouchMap read_, written_;
  std::vector<Sm> sms_;
  std::optional<ArrayTally> reads_of_, writes_of_;
  SectorUses byte_uses_;
  std::uint64_t joined_ = 0, l2_reads_ = 0;
  std::uint32_t kept_ = 0, kept_there_ = 0;  ///< buckets
  std::atomic<std::uint64_t> distinct_reads_{0}, distinct_writes_{0};
  std::atomic<std::uint64_t> first_reads_{0};       ///< of each SM, where chosen blocks run
  std::uint64_t read_runs_ = 0, written_runs_ = 0;  ///< likewise; short ones

  std::atomic<std::uint32_t> waiting_{0};
  std::condition_variable ended_;

  std::mutex mutex_;  ///< guards what follows
  PerBlock<Residency> residencies_;
  std::vector<std::unique_ptr<Tally>> tallies_;  ///< one a worker
};

}  // namespace membound::vgpu::exec
