// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How many different sectors of each array were touched: what part of a launch touched, scaled to
/// all of it, cannot be more than an array has.
/// Place in the chain: exec/observe/cache_observer -> [array_tally] -> exec/launch/sampled_launch.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "grader/vgpu/memory/address_space.hpp"

namespace membound::vgpu::memory {

/// Counts by array. Safe from several threads.
class ArrayTally {
 public:
  /// Of the arrays that are there now.
  explicit ArrayTally(const AddressSpace& space);

  /// `sectors` of line number `line` (address / 128) were touched for the first time.
  void add(std::uint64_t line, std::uint32_t sectors);

  struct Row {
    std::uint64_t touched_sectors = 0;
    std::uint64_t sectors = 0;  ///< that the array has, in whole pieces of 64 bytes
  };
  /// In the order of addresses; first, without a size, what lies in no array.
  [[nodiscard]] std::vector<Row> rows() const;

 private:
  std::vector<std::uint64_t> begins_, bytes_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> touched_;  // one more than arrays
};

}  // namespace membound::vgpu::memory
