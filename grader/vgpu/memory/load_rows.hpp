// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// In how many places a block's warps load at once. Lines side by side are one row: a block that
/// copies 4 KiB loads one, a tile of 32 x 32 words 32 of them, and its last row comes later.
/// Place in the chain: exec/observe/cache_observer -> [load_rows] -> counters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "grader/vgpu/memory/line_set.hpp"

namespace membound::vgpu::memory {

/// Rows of one block. A turn is the place of a request among its warp's own: requests of the same
/// turn are under way together.
class LoadRows {
 public:
  struct Counts {
    std::uint64_t turns = 0;  ///< in which the block loads
    std::uint64_t rows = 0;   ///< of all turns
  };

  /// For the next block.
  void clear() { turns_.clear(); }
  /// What a warp's request adds. Late turns of a long loop are like those before.
  void add(std::uint32_t turn, const LineSet& lines, Counts& counts) {
    constexpr std::uint32_t kMostTurns = 64;
    if (turn >= kMostTurns || lines.size() == 0) return;
    if (turn >= turns_.size()) turns_.resize(turn + 1);
    Turn fresh{lines.line(0), lines.line(0), 1};
    for (std::uint32_t i = 1; i < lines.size(); ++i) {
      const std::uint64_t line = lines.line(i);
      fresh.rows += line != lines.line(i - 1) + 1;
      fresh.first = std::min(fresh.first, line);
      fresh.last = std::max(fresh.last, line);
    }
    Turn& turn_before = turns_[turn];
    counts.turns += turn_before.rows == 0;
    if (turn_before.adjoins(fresh)) {
      counts.rows += fresh.rows - std::min(fresh.rows, turn_before.rows);
      fresh.first = std::min(fresh.first, turn_before.first);
      fresh.last = std::max(fresh.last, turn_before.last);
      fresh.rows = std::max(fresh.rows, turn_before.rows);
    } else {
      counts.rows += fresh.rows;
    }
    turn_before = fresh;
  }

 private:
  /// What the last warp loaded, with those before it that it goes on from.
  struct Turn {
    std::uint64_t first = 0, last = 0;  ///< lines
    std::uint64_t rows = 0;             ///< 0: nobody yet
    [[nodiscard]] bool adjoins(const Turn& next) const {
      return rows != 0 && next.first <= last + 1 && next.last + 1 >= first;
    }
  };
  std::vector<Turn> turns_;
};

}  // namespace membound::vgpu::memory
