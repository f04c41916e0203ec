// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The 128-byte lines one request touches, and which of their sectors: at most one a lane.
/// Place in the chain: exec/observe/cache_observer -> [line_set].
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "grader/vgpu/memory/coalescer.hpp"

namespace membound::vgpu::memory {

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
    add(address / kLineBytes, 1u << (address / kSectorBytes % 4));
  }
  /// Addresses [begin, end) of at most 32 lines.
  void add_range(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t line = begin / kLineBytes; line * kLineBytes < end; ++line) {
      const std::uint64_t start = line * kLineBytes;
      const std::uint64_t first = begin > start ? (begin - start) / kSectorBytes : 0;
      const std::uint64_t last = end < start + kLineBytes ? (end - 1 - start) / kSectorBytes : 3;
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

}  // namespace membound::vgpu::memory
