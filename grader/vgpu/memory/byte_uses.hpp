// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which bytes of global memory a launch uses, in the lines that are looked at (watched_lines).
/// Place in the chain: exec/observe/sector_uses -> [byte_uses].
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "grader/vgpu/memory/coalescer.hpp"

namespace membound::vgpu::memory {

/// Bytes of one line, a bit each.
struct LineBytes {
  std::array<std::uint64_t, 2> half{};

  /// Bytes [begin, end) of the line; at most 64 of them cross its middle or lie on one side.
  void add(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t h = 0; h < 2; ++h) {
      const std::uint32_t low = begin > 64 * h ? begin - 64 * h : 0;
      const std::uint32_t high = end > 64 * h ? end - 64 * h : 0;
      if (low >= 64 || high <= low) continue;
      const std::uint64_t up_to = high >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << high) - 1;
      half[h] |= up_to & ~((std::uint64_t{1} << low) - 1);
    }
  }
  void add(const LineBytes& other) {
    half[0] |= other.half[0];
    half[1] |= other.half[1];
  }
  [[nodiscard]] std::uint32_t count() const {
    return static_cast<std::uint32_t>(std::popcount(half[0]) + std::popcount(half[1]));
  }
  /// Those of sector 0 to 3.
  [[nodiscard]] std::uint32_t in_sector(std::uint32_t sector) const {
    return static_cast<std::uint32_t>(
        std::popcount(half[sector / 2] >> (sector % 2 * kSectorBytes) & 0xFFFFFFFFu));
  }
};

/// Bytes of many lines. Safe from several threads.
class ByteMap {
 public:
  void add(std::uint64_t line, const LineBytes& bytes);
  [[nodiscard]] LineBytes of(std::uint64_t line) const;
  [[nodiscard]] std::uint64_t count() const;

 private:
  struct Part {
    mutable std::mutex mutex;
    std::unordered_map<std::uint64_t, LineBytes> lines;
  };
  std::array<Part, 16> parts_;
};

/// Up to 64 sectors out of all that were added: those with the smallest hash, whatever the order.
class SectorSample {
 public:
  void add(std::uint64_t sector);
  void add(const SectorSample& other);
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& by_hash() const { return kept_; }

 private:
  std::map<std::uint64_t, std::uint64_t> kept_;  ///< sectors (address / 32) by their hash
};

}  // namespace membound::vgpu::memory
