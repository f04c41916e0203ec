// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What strata of a launch did, each scaled from the blocks of it that ran, added up.
/// Place in the chain: sampled_launch -> [scaled_counters] -> counters, memory/cache.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/memory/array_tally.hpp"
#include "grader/vgpu/memory/hot_words.hpp"

namespace membound::vgpu::exec {

/// What the chosen blocks of one stratum did.
struct StratumWork {
  std::uint64_t blocks = 0;             ///< of the stratum
  std::vector<counters::BlockWork> of;  ///< of each that ran
  counters::LaunchCounters counters;    ///< of all that ran; without `work.runs`
  std::vector<memory::ArrayTally::Row> reads, writes;
  memory::HotWords hottest, busiest, busiest_sectors;
  /// Where of each block only some warps ran (schedule/some_warps): those that took long, and those
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

}  // namespace membound::vgpu::exec
