// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Looks on while a launch runs and reports what would be a bug on a GPU even if it went well here:
/// memory nobody wrote, accesses out of bounds, races, barriers and collectives that not all reach.
/// Place in the chain: exec's handlers -> [checker] -> LaunchReport::checks.
/// Left out: leaks, which only the runtime can tell at the end of the program.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "grader/vgpu/exec/observe/race_checker.hpp"
#include "grader/vgpu/exec/state/observer.hpp"
#include "grader/vgpu/memory/undo_log.hpp"

namespace membound::vgpu::exec {

/// One launch's checkers. What is found does not depend on the number of worker threads: of a
/// place's findings those of the lowest block are kept, and with the race checker on, a launch of
/// several workers in which blocks raced with each other, or a fault ended it early, asks to be run
/// again by one (`must_repeat`).
class Checker : public Observer {
 public:
  explicit Checker(Launch& launch);

  void access(const WarpAccess& access) override;
  void barrier(Warp& warp, const Step* step, bool whole_warp) override;
  void collective(Warp& warp, const Step* step, std::uint32_t members,
                  std::uint32_t present) override;
  void block_begins(Block& block) override;
  void arrives(Warp& warp, std::uint32_t id) override;
  void opens(Block& block, std::uint32_t id) override;
  void lanes_meet(Warp& warp, std::uint32_t lanes) override;
  void fence(Warp& warp, const Step* step) override;
  void mbarrier(Warp& warp, std::uint32_t mask, const std::uint64_t* offsets,
                bool arrives) override;
  void allocated(std::uint64_t address, std::uint64_t bytes) override;
  bool bad_access(const WarpAccess& access, FaultKind kind, std::uint32_t lane) override;

  /// Must the launch be taken back and run by one worker, because what was found depends on who
  /// came first? Call it when all workers have ended.
  [[nodiscard]] bool must_repeat() const;
  /// Undoes everything the launch wrote.
  void take_back();

  /// Findings, in the order of their first occurrence in the program.
  [[nodiscard]] std::vector<CheckReport> take_reports();

 private:
  /// Lanes of one warp at a barrier that wants the whole warp, while others are still missing.
  struct Arrival {
    const Step* step = nullptr;
    std::uint32_t lanes = 0;
    std::uint32_t live = 0;  ///< lanes that had not ended when the first came
    const char* others = "have ended";
    Place place = {};
  };
  /// What is remembered of one block in flight.
  struct BlockState : ObserverNotes {
    std::vector<std::uint8_t> written;  ///< bytes of shared memory
    BlockRaces races;
    RaceChecker* race_checker = nullptr;  ///< its worker's; null without racecheck
    SettledReads settled;
    std::vector<Arrival> arrivals;  ///< by warp; empty until lanes of one come apart
  };
  /// Where a finding is kept: findings of one place are counted, not repeated.
  struct Key {
    const Step* step = nullptr;
    std::string kind;
    const Step* other = nullptr;                   ///< of a race
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  struct Entry {
    CheckReport report;
    std::uint64_t block = 0;
  };

  void check_written(const WarpAccess& access, std::uint8_t* shadow, std::uint64_t base, bool row,
                     std::uint32_t lanes);
  void report_unwritten(const WarpAccess& access, std::uint32_t lane, std::uint64_t offset);
  void report_race(const WarpAccess& access, const Race& race);
  /// `make` is called for the first finding of a place, and again for one of a lower block.
  template <typename Make>
  void report(const Warp& warp, const Key& key, Make make);
  void report_sync(const Warp& warp, const Step* step, std::uint32_t lane, const char* kind,
                   const std::string& text);
  void report_exits(const Block& block, std::uint32_t id);
  void report_arrival(const Warp& warp, Arrival& arrival);
  void report_incomplete_arrivals(const Block& block, std::uint32_t id);
  void report_arrivals_of_the_fault();
  BlockState& new_state(Block& block);
  void before_write(const WarpAccess& access, bool row);
  [[nodiscard]] BlockState& state_of(const Block& block) const { return states_.of(block); }

  Launch& launch_;
  Checks checks_;
  const RowLoops& rows_;
  std::mutex mutex_;
  std::map<const Worker*, std::unique_ptr<RaceChecker>> races_;
  std::unique_ptr<memory::UndoLog> undo_;  ///< racecheck with several workers
  std::atomic<bool> blocks_race_ = false;  ///< … and two blocks did
  std::map<Key, Entry> reports_;
  PerBlock<BlockState> states_;
};

}  // namespace membound::vgpu::exec
