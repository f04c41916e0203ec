// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// When sampled lines are fetched and stored to, how long they stay in L2, and what follows of that
/// for DRAM, which moves 64 bytes at a time. A piece of 64 bytes stays in L2 until so many others
/// were wanted. If it is wanted later it is fetched again; if a sector of it was stored only in
/// part by then, it must be fetched, filled and written back. L2 takes lines faster whose sectors
/// are filled while they are among the last that were stored to (store_lines.cu). Times are those
/// of the warps' clocks (cache_observer.hpp), the same on all SMs.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "grader/vgpu/exec/traffic/l1_directory.hpp"
#include "grader/vgpu/exec/traffic/line_sampling.hpp"

namespace membound::vgpu::exec {

/// Seven binary digits: late uses need not be told apart so finely.
[[nodiscard]] inline std::uint32_t time_of(std::uint32_t clock) {
  const int more = std::max(0, static_cast<int>(std::bit_width(clock)) - 7);
  return clock >> more << more;
}
/// The time that follows.
[[nodiscard]] inline std::uint32_t after(std::uint32_t time) {
  return time + (1u << std::max(0, static_cast<int>(std::bit_width(time)) - 7));
}

/// Bytes that were used until some time: add them all, sum them up, ask.
class Volume {
 public:
  void add(std::uint32_t time, std::uint64_t bytes) { steps_.push_back({time, bytes}); }
  void sum_up();
  /// Between two uses; half of what is used at the times of both.
  [[nodiscard]] double between(std::uint32_t from, std::uint32_t to) const {
    return (until(to) + up_to(to) - until(from) - up_to(from)) / 2;
  }
  /// From one use to the end, likewise.
  [[nodiscard]] double from(std::uint32_t time) const;

 private:
  [[nodiscard]] double until(std::uint32_t time) const;  // without it
  [[nodiscard]] double up_to(std::uint32_t time) const { return until(time + 1); }

  std::vector<std::pair<std::uint32_t, std::uint64_t>> steps_;
};

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
[[nodiscard]] KeptBytes kept_in_l2(std::uint64_t l2_bytes, std::uint64_t stored_bytes,
                                   double dirty_bytes, double part = 1);

/// Pieces of 64 bytes, as far as lines are sampled.
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
  /// An SM wants sectors of a line, as far as its L1 does not serve them.
  void load(std::uint64_t line, std::uint32_t clock, const LoadedSectors& sectors);
  void store(std::uint64_t line, std::uint32_t clock, const LineBytes& bytes);
  /// After the last use. `served`: so many of the first buckets L1 serves.
  [[nodiscard]] PieceCounts counts(const KeptBytes& kept, std::uint32_t served = 0);

  struct Use {
    std::uint32_t time = 0;                ///< see time_of
    std::array<std::uint8_t, 2> loads{};   ///< of pieces: the farthest of LoadedSectors::filed
    std::array<std::uint16_t, 2> first{};  ///< SMs that want it for their first time
    LineBytes stored;
  };

 private:
  template <typename Change>
  void use(std::uint64_t line, std::uint32_t clock, const Change& change);

  LineMap<std::uint64_t, std::vector<Use>> lines_;
};

/// Stores to sampled lines. Two of them are as far apart as their blocks are in
/// launch order, or their times by the warps' clocks, whichever is more: what a wave of blocks does
/// at one time, a GPU does block by block. Safe from several threads; what comes out does not
/// depend on their order.
class PartialStores {
 public:
  /// `blocks`: of the launch. Of many, some in a row count as one place in its order.
  explicit PartialStores(std::uint64_t blocks);

  /// A warp of the block stores these bytes of a line.
  void add(std::uint64_t line, std::uint32_t clock, std::uint64_t block, const LineBytes& bytes);

  /// Stores to lines of which a sector stays filled in part until lines of more than `dirty_bytes`
  /// were stored to. `ran`: blocks; `part`: of what runs at the same time, so much did.
  [[nodiscard]] std::uint64_t unfinished(double dirty_bytes, std::uint64_t ran, double part) const;

 private:
  /// Where and when; many blocks may store to one line again and again.
  struct Key {
    std::uint64_t line;
    std::uint32_t time, place;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Stores {
    std::uint64_t count = 0;
    LineBytes bytes;
  };
  [[nodiscard]] std::vector<std::pair<Key, Stores>> sorted() const;

  std::uint64_t blocks_of_place_;
  LineMap<Key, Stores, Hash> stores_;
};

}  // namespace membound::vgpu::exec
