// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// When watched lines (watched_lines.hpp) are fetched and stored to, and what follows of that for
/// DRAM, which moves 64 bytes at a time. A piece stays in L2 until so many others were wanted. If
/// it is wanted later it is fetched again; if a sector of it was stored only in part by then, it
/// must be fetched, filled and written back. Place in the chain: exec/observe/sector_uses ->
/// [line_times] -> counters (rows marked "modelled"). Times are those of the warps' clocks
/// (exec/observe/cache_observer), the same on all SMs.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "grader/vgpu/memory/byte_uses.hpp"

namespace membound::vgpu::memory {

/// What L2 keeps, of a launch or of the part of one that runs.
struct KeptBytes {
  std::uint64_t read = 0;    ///< so much is wanted until loads must fetch a piece again
  std::uint64_t stored = 0;  ///< lines of so much until two of three that were stored to have left
  double dirty = 0;          ///< stores to so much are among the last, of all that runs
  double part = 1;           ///< of what runs at the same time, so much is seen
  bool to_the_end = true;    ///< the launch ends where the uses end
};

/// `stored_bytes`, `dirty_bytes`: the machine's.
/// Loads find half of L2: its two partitions keep copies of each other's lines. Stores leave little
/// by little: words stored in a random order or a step apart cost an H200 so much more in 4 to 1024
/// MiB (clock_mechanisms_h200.csv), threads that walk through stretches of their own an H100
/// (clock_stretches_h100.csv).
[[nodiscard]] KeptBytes kept_by(std::uint64_t l2_bytes, std::uint64_t stored_bytes,
                                double dirty_bytes, double part = 1);

/// Pieces of 64 bytes, as far as lines are watched.
struct PieceCounts {
  std::uint64_t fetched = 0;  ///< from DRAM, each time
  std::uint64_t lone = 0;     ///< of these: the other half of their line is not, at about that time
  std::uint64_t wanted = 0;   ///< by an SM, for its first time
  std::uint64_t waiting = 0;  ///< of these: while DRAM is still on its way
  std::uint64_t filled = 0;   ///< written with one of its sectors stored in part
  std::uint64_t halves = 0;   ///< written with one whole sector of two
};

/// Uses of many lines. Safe from several threads; what comes out does not depend on their order.
class LineTimes {
 public:
  /// An SM wants `pieces` (a bit each, of two) of a line, some of them for its first time.
  void load(std::uint64_t line, std::uint32_t clock, std::uint32_t pieces, std::uint32_t first);
  void store(std::uint64_t line, std::uint32_t clock, const LineBytes& bytes);
  /// After the last use.
  [[nodiscard]] PieceCounts counts(const KeptBytes& kept);

  struct Use {
    std::uint32_t time = 0;                ///< see time_of
    std::uint8_t loads = 0;                ///< pieces
    std::array<std::uint16_t, 2> first{};  ///< SMs that want it for their first time
    LineBytes stored;
  };

 private:
  struct Part {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::vector<Use>> lines;
  };
  template <typename Change>
  void use(std::uint64_t line, std::uint32_t clock, const Change& change);

  std::array<Part, 16> parts_;
};

}  // namespace membound::vgpu::memory
