// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What checkers do with a whole warp that reads or writes one piece of memory, in vector
/// instructions: the case that decides how fast they are.
/// Place in the chain: exec/checker, exec/race_checker -> [race_rows]. Compiled twice, as
/// ops_*.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grader/vgpu/memory/access_shadow.hpp"

namespace membound::vgpu::exec {

/// A row of cells and who accesses it.
struct CellRow {
  std::size_t first = 0;         ///< index of the first cell
  std::uint32_t cells = 0;       ///< a multiple of 32
  std::uint32_t per_lane = 0;    ///< log2 of the cells of one lane
  std::uint64_t stamp = 0;       ///< of lane 0; lane l adds l << Stamp::kThreadShift
  std::uint64_t floor = 0;       ///< time of the block's last barrier
  std::uint64_t whole = 0;       ///< when the whole warp met last
  std::uint16_t origin = 0;      ///< the instruction
  bool check_other_kind = true;  ///< of a read, earlier writes; of a write, earlier reads
  bool between_blocks = false;   ///< global memory
};

/// What came of noting an access.
enum class Noted : std::uint8_t {
  kNo,      ///< nothing was noted: some cell needs a closer look
  kYes,     ///< no race
  kSettled  ///< no race, and so many read the row that one more read changes nothing
};

/// How the lanes of a full warp lie in memory.
enum class Shape : std::uint8_t {
  kRow,   ///< neighbours, in order
  kSame,  ///< all at one address
  kOther
};

/// The loops, for one instruction set.
struct RowLoops {
  Noted (*read)(const memory::ShadowView& view, const CellRow& row) = nullptr;
  Noted (*write)(const memory::ShadowView& view, const CellRow& row) = nullptr;
  /// Are all bytes non-zero?
  bool (*all_set)(const std::uint8_t* bytes, std::size_t count) = nullptr;
  /// How the addresses of 32 lanes lie, each of `stride` bytes.
  Shape (*shape)(const std::uint64_t* addresses, std::uint64_t stride) = nullptr;
};

/// Those for this CPU.
[[nodiscard]] const RowLoops& row_loops();

namespace generic {
[[nodiscard]] RowLoops make_row_loops();
}
namespace avx2 {
[[nodiscard]] RowLoops make_row_loops();
}

}  // namespace membound::vgpu::exec
