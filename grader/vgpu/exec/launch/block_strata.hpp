// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A large launch as a stratified sample of its blocks: which run to stand for all (whole SMs of
/// whole waves), running them, and their counters scaled stratum by stratum to the whole.
///
///   wave 0   0 | 1 2 3 … of the first wave          block 0 stands for itself:
///   wave 1   |                                      what only it does would else
///   wave 2   | SM s: blocks s, s + SMs, s + 2 SMs   count for a whole stratum.
///    …       |  = a group                           So may the last block.
///   wave n   … of the last wave | N − 1
///
/// The blocks that are resident on an SM at once are a group: they share its L1. A draw has the
/// groups of neighbouring SMs in one wave, because blocks that differ often do so in turns (every
/// third at the end of a row): which wave and SMs, the seed says. So no kernel can know what will
/// be looked at, and one that differs along the grid shows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/exec/state/execution_state.hpp"
#include "grader/vgpu/exec/state/last_block_pattern.hpp"
#include "grader/vgpu/exec/traffic/l2_footprint.hpp"
#include "grader/vgpu/memory/address_sets.hpp"

namespace membound::vgpu::exec {

/// Blocks that are alike in where they lie, and those of them that run.
struct Stratum {
  std::uint64_t first = 0, blocks = 0;  ///< [first, first + blocks)
};

/// A launch, as its blocks are dispatched.
class BlockChoice {
 public:
  /// Which of block 0 and the last stand for themselves.
  enum class Ends : std::uint8_t { kFirst, kLast, kBoth };
  /// `blocks` on `sms`, each of which has `slots`. `most`: so many blocks of a group
  /// run.
  BlockChoice(std::uint64_t blocks, std::uint32_t sms, std::uint32_t slots, std::uint64_t seed,
              Ends ends, std::uint32_t most);

  /// Block 0, the first wave, the middle, the last wave, the last block; those without blocks are
  /// left out.
  [[nodiscard]] const std::vector<Stratum>& strata() const { return strata_; }

  /// Blocks of `groups` groups of a stratum, in turn order: turn t belongs to group t % groups,
  /// which becomes less where there are fewer. Each draw has others; none when no more are left.
  /// All blocks in the first draw, where that many groups have no fewer.
  [[nodiscard]] std::vector<std::uint64_t> take(const Stratum& stratum, std::uint32_t& groups,
                                                std::uint32_t draw) const;
  /// Which part of the blocks that an SM holds of this stratum run, where not all of it do.
  [[nodiscard]] double part_of_group(const Stratum& stratum) const;

 private:
  [[nodiscard]] std::uint64_t held_by_sm(const Stratum& stratum) const;
  [[nodiscard]] std::uint64_t random(std::uint64_t a, std::uint64_t b) const;
  std::uint64_t wave_;
  std::uint32_t sms_, slots_, most_;
  std::uint64_t seed_;
  std::vector<Stratum> strata_;
};

/// What the chosen blocks of one stratum did.
struct StratumWork {
  std::uint64_t blocks = 0;             ///< of the stratum
  std::vector<counters::BlockWork> of;  ///< of each that ran
  counters::LaunchCounters counters;    ///< of all that ran; without `work.runs`
  std::vector<ArrayTally::Row> reads, writes;
  memory::HotWords hottest, busiest, busiest_sectors;
  /// Where of each block only some warps ran (schedule/block): those that took long, and those
  /// that they stand for.
  std::uint64_t long_warps = 0, left_warps = 0;
  /// As LaunchReport::l1_kept, of the blocks that ran last; nothing where warps of one that was
  /// given up are unequal.
  std::optional<std::uint32_t> l1_kept = {};

  /// How many blocks each of them stands for.
  [[nodiscard]] double weight() const {
    return of.empty() ? 0 : static_cast<double>(blocks) / static_cast<double>(of.size());
  }
  /// For how much stands what was counted.
  [[nodiscard]] double weight_of_counters() const {
    return left_warps == 0 ? weight()
                           : weight() * static_cast<double>(long_warps + left_warps) /
                                 static_cast<double>(long_warps);
  }
  /// Adds what more blocks of the same stratum did.
  void add(StratumWork&& more);
};

/// The whole launch, as far as a sample can tell. `l2_bytes` is the machine's; `wave` blocks run at
/// the same time.
[[nodiscard]] counters::LaunchCounters scaled(std::vector<StratumWork>& strata,
                                              std::uint64_t l2_bytes, std::uint64_t wave);

/// Standard error of the launch's work, as a share of it: of what blocks issue, wait for and ask of
/// shared memory, whichever is known worst.
[[nodiscard]] double error_of(const std::vector<StratumWork>& strata);

/// What they do, on `groups` SMs that take turns; of StratumWork all but `blocks`. A fault is left
/// in `state`. `last_block` may be null.
[[nodiscard]] StratumWork count_blocks(Launch& state, std::vector<std::uint64_t> blocks,
                                       std::uint32_t groups, LastBlockPattern* last_block);

/// Runs of the kernel of a prepared launch, for these blocks, only what decides where they store
/// and which way they go (program_slice.cpp). What they leave is not what the kernel computes.
[[nodiscard]] SliceFacts run_slice(Launch& state, std::vector<std::uint64_t> blocks);

/// Leaves their results only; the warp instructions that they took. The last blocks of a launch:
/// nothing is counted from here on.
[[nodiscard]] std::uint64_t run_uncounted(Launch& state, std::vector<std::uint64_t> blocks);

}  // namespace membound::vgpu::exec
