// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What checkers do with a whole warp that reads or writes one row of memory, in vector
/// instructions: the case that decides how fast they are. Compiled twice, as ops_*.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grader/base/processor.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/memory/access_shadow.hpp"

namespace membound::vgpu::exec {

/// A row of cells, none of them in a line with one epoch for all, and who accesses it.
struct CellRow {
  std::size_t first = 0;         ///< index of the first cell; not of scattered ones
  std::uint32_t cells = 0;       ///< a multiple of 32
  std::uint32_t per_lane = 0;    ///< log2 of the cells of one lane
  std::uint64_t epoch = 0;       ///< of the first lane; the next adds 1 << Epoch::kThreadShift
  std::uint64_t floor = 0;       ///< time of the block's last barrier
  std::uint64_t whole = 0;       ///< when the whole warp met last
  std::uint16_t origin = 0;      ///< the instruction
  bool check_other_kind = true;  ///< of a read, earlier writes; of a write, earlier reads
  bool between_blocks = false;   ///< global memory
};

/// What came of noting an access.
enum class RowCheck : std::uint8_t {
  kUndecided,  ///< nothing was noted: some cell needs a closer look
  kNoRace,     ///< no race
  kSettled     ///< no race, and so many read the row that one more read changes nothing
};

/// The loops, for one instruction set.
struct RowLoops {
  RowCheck (*read)(const memory::ShadowView& view, const CellRow& row) = nullptr;
  RowCheck (*write)(const memory::ShadowView& view, const CellRow& row) = nullptr;
  /// The same for a warp's lanes anywhere in shared memory, a cell each. Only the simple case:
  /// nobody else has touched their cells since the last barrier; else kUndecided.
  RowCheck (*scattered)(const memory::ShadowView& view, const std::uint64_t* addresses,
                        const CellRow& row, bool load) = nullptr;
  /// Are all bytes 1?
  bool (*all_set)(const std::uint8_t* bytes, std::size_t count) = nullptr;
  /// Are the four bytes at each of 32 offsets 1?
  bool (*all_set_words)(const std::uint8_t* bytes, const std::uint64_t* offsets) = nullptr;
  /// Which of 32 lanes have this address?
  std::uint32_t (*lanes_at)(const std::uint64_t* addresses, std::uint64_t address) = nullptr;
  /// How the addresses of 32 lanes lie, each of `stride` bytes.
  LanePattern (*shape)(const std::uint64_t* addresses, std::uint64_t stride) = nullptr;
};

/// Those for this CPU.
[[nodiscard]] const RowLoops& row_loops();

namespace generic {
[[nodiscard]] RowLoops make_row_loops();
}
namespace MEMBOUND_NEWER_LANES {
[[nodiscard]] RowLoops make_row_loops();
}

}  // namespace membound::vgpu::exec
