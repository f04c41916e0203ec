// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A model of L2 and DRAM traffic by footprint: which sectors a launch touches, and how many of
/// each array. Everything here is modelled, none of it exact.
///
/// The first read of a sector in a launch comes from DRAM, with the other half of its 64 bytes;
/// repeated reads hit L2 as far as the launch's footprint fits into half of it (its two partitions
/// keep copies of each other's lines), and in proportion where it does not. What part of a launch
/// touched, scaled to all of it, cannot be more than an array has. Left out: local memory, what
/// earlier launches left in L2, what the launch leaves in L2 unwritten. docs/counters.md says how
/// far off that is on an H200.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "grader/vgpu/memory/address_space.hpp"
#include "grader/vgpu/memory/lazy_tables.hpp"

namespace membound::vgpu::exec {

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
  memory::SparsePages<Sectors> pages_;
};

/// DRAM bytes of a launch by the footprint rule above.
struct Traffic {
  std::uint64_t l2_read_sectors = 0;
  /// Of these, repeated reads of arrays that stay in L2 whatever else passes through it.
  std::uint64_t kept_read_sectors = 0;
  std::uint64_t distinct_read_sectors = 0;
  std::uint64_t distinct_written_sectors = 0;
};
[[nodiscard]] std::uint64_t dram_read_bytes(const Traffic& traffic, std::uint64_t l2_bytes);
[[nodiscard]] std::uint64_t dram_write_bytes(const Traffic& traffic);

/// Counts by array. Safe from several threads.
class ArrayTally {
 public:
  /// Of the arrays that are there now.
  explicit ArrayTally(const memory::AddressSpace& space);

  /// `sectors` of line number `line` (address / 128) were touched for the first time.
  void add(std::uint64_t line, std::uint32_t sectors);
  /// They were asked for, for the first time or again.
  void ask(std::uint64_t line, std::uint32_t sectors);

  struct Row {
    std::uint64_t touched_sectors = 0;
    std::uint64_t asked_sectors = 0;
    std::uint64_t sectors = 0;  ///< that the array has, in whole pieces of 64 bytes
  };
  /// In the order of addresses; first, without a size, what lies in no array.
  [[nodiscard]] std::vector<Row> rows() const;

 private:
  [[nodiscard]] std::size_t row_of(std::uint64_t line) const;

  std::vector<std::uint64_t> begins_, bytes_;
  // One more than arrays.
  std::unique_ptr<std::atomic<std::uint64_t>[]> touched_, asked_;
};

}  // namespace membound::vgpu::exec
