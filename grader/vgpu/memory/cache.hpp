// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A model of L1, L2 and DRAM traffic. Everything here is modelled, none of it exact.
/// Place in the chain: exec/cache_observer -> [cache] -> counters (rows marked "modelled").
///
/// L1: sectored (128-byte lines, 32-byte sectors), 4 ways, least recently used, write through, no
/// allocation on writes; one private L1 a block, of the SM's size divided by the resident blocks,
/// cold when the block starts. So the result does not depend on which block runs when.
/// L2 and DRAM: by footprint. The first read of a sector in a launch comes from DRAM, with the
/// other half of its 64 bytes; repeated reads hit L2 as far as the launch's footprint fits into
/// half of it (its two partitions keep copies of each other's lines), and in proportion where it
/// does not. Left out: hits between blocks of one SM, local memory, what earlier launches left in
/// L2, what the launch leaves in L2 unwritten. docs/counters.md says how far off that is on an
/// H200.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace membound::vgpu::memory {

/// One set-associative cache of sectored lines.
class SectoredCache {
 public:
  explicit SectoredCache(std::uint64_t bytes);
  void clear();
  /// True when the sector (address / 32) was there; it is afterwards.
  bool load(std::uint64_t sector);

 private:
  static constexpr std::uint32_t kWays = 4;
  struct Line {
    std::uint64_t tag = ~std::uint64_t{0};
    std::uint32_t used = 0;    ///< time of last use
    std::uint8_t sectors = 0;  ///< those present
  };
  std::vector<std::array<Line, kWays>> sets_;
  std::uint32_t time_ = 0;
};

/// Which sectors of a range of addresses were touched in a launch. Safe from several threads; what
/// it counts does not depend on their order.
class TouchMap {
 public:
  TouchMap(std::uint64_t begin, std::uint64_t bytes);
  ~TouchMap();
  TouchMap(const TouchMap&) = delete;
  TouchMap& operator=(const TouchMap&) = delete;

  /// Memory is taken at the first touch. True when the sector was not touched before. Sectors
  /// outside the range count as touched.
  bool touch(std::uint64_t sector);

 private:
  std::uint64_t first_sector_;
  std::uint64_t sectors_;
  std::uint64_t* map();

  std::atomic<std::uint64_t*> words_ = nullptr;
};

/// DRAM bytes of a launch by the footprint rule above.
struct Traffic {
  std::uint64_t l2_read_sectors = 0;
  std::uint64_t distinct_read_sectors = 0;
  std::uint64_t distinct_written_sectors = 0;
};
[[nodiscard]] std::uint64_t dram_read_bytes(const Traffic& traffic, std::uint64_t l2_bytes);
[[nodiscard]] std::uint64_t dram_write_bytes(const Traffic& traffic);

}  // namespace membound::vgpu::memory
