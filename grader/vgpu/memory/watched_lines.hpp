// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which lines of global memory are looked at closely: one of every 64, where each stands for all.
/// Place in the chain: exec/observe/sector_uses -> [watched_lines] -> address_space.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "grader/vgpu/memory/address_space.hpp"
#include "grader/vgpu/memory/coalescer.hpp"
#include "grader/vgpu/memory/line_set.hpp"

namespace membound::vgpu::memory {

inline constexpr std::uint64_t kWatchedOf = 64;  ///< lines, one is watched

[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t number) {
  const std::uint64_t once = number * 0x9E3779B97F4A7C15u;
  return (once ^ once >> 29) * 0xBF58476D1CE4E5B9u;
}

/// The choice of one launch. It hangs on the place of a line in its allocation and not on where
/// that lies, so that a launch counts the same whatever was allocated before. Of every 64 lines in
/// a row one is chosen, at random: nothing that is whole is counted wrong, and no stride meets only
/// lines that are chosen.
class WatchedLines {
 public:
  explicit WatchedLines(const std::vector<Allocation>& live) {
    for (const Allocation& each : live) firsts_.push_back(each.address / kLineBytes);
    std::sort(firsts_.begin(), firsts_.end());
  }

  /// Is line number `line` (address / 128) one of them?
  [[nodiscard]] bool hold(std::uint64_t line) const {
    return is_chosen(line - allocation_of(line).first);
  }
  /// Which of the set's are: a bit each.
  [[nodiscard]] std::uint32_t of(const LineSet& lines) const {
    Lines allocation{1, 0};
    std::uint32_t chosen = 0;
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
      const std::uint64_t line = lines.line(i);
      if (line < allocation.first || line > allocation.last) allocation = allocation_of(line);
      chosen |= static_cast<std::uint32_t>(is_chosen(line - allocation.first)) << i;
    }
    return chosen;
  }

 private:
  static_assert(kWatchedOf == std::uint64_t{1} << (64 - 58));
  /// By the line's place in its allocation.
  static bool is_chosen(std::uint64_t at) {
    return mixed(at / kWatchedOf + 1) >> 58 == at % kWatchedOf;
  }

  struct Lines {
    std::uint64_t first, last;
  };
  /// The allocation about a line, and what follows it up to the next.
  [[nodiscard]] Lines allocation_of(std::uint64_t line) const {
    const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), line);
    return {after == firsts_.begin() ? 0 : *std::prev(after),
            after == firsts_.end() ? ~std::uint64_t{0} : *after - 1};
  }

  std::vector<std::uint64_t> firsts_;  ///< lines where an allocation begins
};

}  // namespace membound::vgpu::memory
