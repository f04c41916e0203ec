// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The 128-byte lines that one request touches and which of their sectors, at most one a lane; and
/// in how many places a block's warps load at once. Lines side by side are one row: a block that
/// copies 4 KiB loads one, a tile of 32 x 32 words 32 of them, and its last row comes later.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "grader/vgpu/memory/coalescer.hpp"

namespace membound::vgpu::exec {

/// Lines in the order of the first lane that wants them; no allocation.
class LineSet {
 public:
  /// Sectors `sectors` (a bit each, of four) of a line.
  void add(std::uint64_t line, std::uint32_t sectors) {
    if (count_ == 0 || lines_[count_ - 1] != line) {
      const std::uint32_t place = rises_to(line) ? count_ : find(line);
      if (place != count_) {
        sectors_[place] |= sectors;
        return;
      }
      lines_[count_] = line;
      sectors_[count_++] = 0;
    }
    sectors_[count_ - 1] |= sectors;
  }
  /// The sector that holds `address`.
  void add_address(std::uint64_t address) {
    add(address / memory::kLineBytes, 1u << (address / memory::kSectorBytes % 4));
  }
  /// Addresses [begin, end) of at most 32 lines.
  void add_range(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t line = begin / memory::kLineBytes; line * memory::kLineBytes < end; ++line) {
      const std::uint64_t start = line * memory::kLineBytes;
      const std::uint64_t first = begin > start ? (begin - start) / memory::kSectorBytes : 0;
      const std::uint64_t last =
          end < start + memory::kLineBytes ? (end - 1 - start) / memory::kSectorBytes : 3;
      lines_[count_] = line;
      sectors_[count_++] = (2u << last) - (1u << first);
    }
  }

  [[nodiscard]] std::uint32_t size() const { return count_; }
  [[nodiscard]] std::uint64_t line(std::uint32_t i) const { return lines_[i]; }
  [[nodiscard]] std::uint32_t sectors(std::uint32_t i) const { return sectors_[i]; }

 private:
  /// Has every line been larger than those before? Then none need be looked for.
  bool rises_to(std::uint64_t line) {
    if (!rises_ || count_ == 0 || line > lines_[count_ - 1]) return rises_;
    rises_ = false;
    const std::uint32_t before = std::exchange(count_, 0);
    for (; count_ < before; ++count_) find(lines_[count_]);
    return false;
  }
  /// Where it is; `count_` when it is new, and then its place is taken for it.
  std::uint32_t find(std::uint64_t line) {
    std::uint32_t at = static_cast<std::uint32_t>((line * 0x9E3779B97F4A7C15u) >> 58);
    for (; (used_ >> at & 1) != 0; at = (at + 1) % 64)
      if (lines_[places_[at]] == line) return places_[at];
    used_ |= std::uint64_t{1} << at;
    places_[at] = static_cast<std::uint8_t>(count_);
    return count_;
  }

  std::uint32_t count_ = 0;
  bool rises_ = true;
  std::uint64_t used_ = 0;
  std::array<std::uint8_t, 64> places_;
  std::array<std::uint64_t, 32> lines_;
  std::array<std::uint32_t, 32> sectors_;
};

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

}  // namespace membound::vgpu::exec
