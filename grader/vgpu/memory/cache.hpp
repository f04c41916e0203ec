// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A model of L2 and DRAM traffic. Everything here is modelled, none of it exact.
/// Place in the chain: exec/observe/cache_observer -> [cache] -> counters (rows marked "modelled").
///
/// By footprint. The first read of a sector in a launch comes from DRAM, with the other half of its
/// 64 bytes; repeated reads hit L2 as far as the launch's footprint fits into half of it (its two
/// partitions keep copies of each other's lines), and in proportion where it does not. Left out:
/// local memory, what earlier launches left in L2, what the launch leaves in L2 unwritten.
/// docs/counters.md says how far off that is on an H200. L1 is modelled by memory/sm_lines.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "grader/vgpu/memory/sparse_pages.hpp"

namespace membound::vgpu::memory {

/// Which sectors of a range of addresses were touched in a launch. Safe from several threads; what
/// it counts does not depend on their order.
class TouchMap {
 public:
  TouchMap(std::uint64_t begin, std::uint64_t bytes);

  /// Touches `sectors` (a bit each, of four) of line number `line` (address / 128); returns how
  /// many were not touched before. Lines outside the range count as touched.
  std::uint32_t touch(std::uint64_t line, std::uint32_t sectors);
  /// Runs of lines side by side that are shorter than `lines`.
  [[nodiscard]] std::uint64_t short_runs(std::uint64_t lines) const;

 private:
  static constexpr std::uint64_t kLinesOfWord = 16, kLinesOfPage = 2 * kLinesOfWord;
  /// Sectors of a page's lines, a bit each.
  using Sectors = std::array<std::atomic<std::uint64_t>, 2>;

  std::uint64_t first_line_;
  std::uint64_t lines_;
  SparsePages<Sectors> pages_;
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
