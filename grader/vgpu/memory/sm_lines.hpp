// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the loads of one SM used last, and when: the memory of the L1 model.
/// Place in the chain: exec/observe/cache_observer -> [sm_lines] -> memory/reuse_times.
///
/// Lines of 128 bytes with four sectors. A line stays for as long as it is used often enough; a
/// sector is there once it was loaded, until its line leaves. Neither is decided here: a use is
/// filed under the longest time the line was left alone since the sector was loaded, and
/// ReuseTimes::kept_by says later which of these times the L1 outlasts.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "grader/vgpu/memory/reuse_times.hpp"

namespace membound::vgpu::memory {

/// The lines of one SM. It grows to hold many times what an L1 does, because blocks and warps come
/// one after another here that run side by side on the machine; what is forgotten for want of room
/// counts as never used.
class SmLines {
 public:
  /// For an L1 of `l1_bytes`.
  explicit SmLines(std::uint64_t l1_bytes);

  /// Fetches what load() will look at into the host's cache: an SM's turn comes seldom, and its
  /// lines have left that cache by then.
  void expect(std::uint64_t line) const {
    __builtin_prefetch(&sets_[place_of(static_cast<std::uint32_t>(line))], 1);
  }
  /// Sectors `sectors` (a bit each) of line number `line` (address / 128) are loaded at `time`.
  /// Files the line's use in `lines`, the sectors' in `uses`; returns sectors never loaded before.
  std::uint32_t load(std::uint64_t line, std::uint32_t sectors, std::uint32_t time,
                     ReuseTimes& lines, ReuseTimes& uses);

 private:
  static constexpr std::uint32_t kWays = 4;
  struct Line {
    std::uint32_t number = 0;  ///< its low 32 bits: lines 512 GiB apart are taken for one
    /// The last uses that were close to each other begin at `from` and go on for `length`: another
    /// warp's use between them meets them.
    std::uint32_t from = 0;
    std::uint16_t length = 0;
    std::uint16_t fetched = 0;  ///< four bits a sector: when after `from`; 15: later, or before
    /// A sector's longest bucket since it was loaded, plus one; 0: not loaded.
    std::array<std::uint8_t, 4> longest{};
    std::uint32_t use(std::uint32_t time);
    void set_fetched(std::uint32_t sector, std::uint32_t time);
    [[nodiscard]] bool was_fetched_at(std::uint32_t sector, std::uint32_t time) const;
    [[nodiscard]] bool is_used() const { return std::bit_cast<std::uint32_t>(longest) != 0; }
  };
  /// As much as a cache line of the host. The line used last (in the order of calls) comes first.
  struct alignas(64) Set {
    std::array<Line, kWays> lines{};
  };
  /// Neighbours lie beside each other; lines some power of two apart do not all fall into few sets.
  [[nodiscard]] std::size_t place_of(std::uint32_t number) const {
    const std::uint64_t eight = (number >> 3) * std::uint64_t{0x9E3779B97F4A7C15};
    return ((eight >> (64 - set_bits_)) + (number & 7)) & (sets_.size() - 1);
  }
  bool grow();

  std::vector<Set> sets_;
  std::uint32_t set_bits_, most_set_bits_;
  std::size_t used_ = 0;  ///< lines
};

}  // namespace membound::vgpu::memory
