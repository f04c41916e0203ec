// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where pieces of drawn arrays lie that lanes far apart touched last: lanes that walk along rows
/// come back to them, and so do warps that store to the same rows.
/// Place in the chain: exec/lanes/ops_global -> [lane_pieces] -> memory/drawn_array.
#pragma once

#include <array>
#include <cstdint>

#include "grader/vgpu/memory/drawn_array.hpp"

namespace membound::vgpu::exec {

/// One worker's, for as long as a launch runs: a piece stays where it is for so long.
class LanePieces {
 public:
  static constexpr std::uint64_t kBytes = memory::DrawnArray::kPieceBytes;

  /// Of each lane a whole piece.
  struct Row {
    Row() { begin.fill(std::uint64_t{1} << 63); }  // where no address is
    std::array<std::uint64_t, 32> begin;           ///< address
    std::array<std::uint64_t, 32> host_offset{};   ///< from an address to its host byte

    [[nodiscard]] bool holds(std::uint32_t lane, std::uint64_t address, std::uint64_t bytes) const {
      return address - begin[lane] <= kBytes - bytes;
    }
  };
  /// Of a warp whose first lane is at `address`: what is near it there tends to be so in all lanes.
  [[nodiscard]] Row& row_of(std::uint64_t address) {
    return rows_[(address / kBytes * 0x9E3779B97F4A7C15u) >> (64 - kRowBits)];
  }

 private:
  static constexpr std::uint32_t kRowBits = 3;
  std::array<Row, 1u << kRowBits> rows_;
};

}  // namespace membound::vgpu::exec
