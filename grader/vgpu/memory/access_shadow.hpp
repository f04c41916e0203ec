// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Who touched a cell of memory last: the memory of the race checker. A cell is as many bytes as
/// the smallest access of the kernel has, 4 for most. Epochs of earlier launches, and of earlier
/// blocks in shared memory, are recognised as such, so nothing is cleared between them.
///
/// In global memory 32 aligned cells are a line. A warp that accesses whole lines leaves one epoch
/// a line, and so does a thread that is the first to write to some of a line's cells, with marks
/// that say to which; only once somebody else wants a part of one do its cells get epochs of their
/// own. Most kernels never make them. Left out: what orders two accesses
/// (exec/observe/vector_clock).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "grader/vgpu/memory/lazy_tables.hpp"

namespace membound::vgpu::memory {

/// One access in 64 bits; 0 means nobody yet.
///
///   63      56 55            32 31           15 14       5 4       0
///   launch tag      block           time         thread     flags
///
/// Time counts what orders threads, for each block from 1 on; it stops at kLastTime, and accesses
/// from then on are never reported. Block numbers wrap at 2^24: two that look alike can only hide a
/// race.
struct Epoch {
  static constexpr std::uint32_t kThreadShift = 5;
  static constexpr std::uint32_t kWarpShift = 10;
  static constexpr std::uint32_t kTimeShift = 15;
  static constexpr std::uint32_t kBlockShift = 32;
  static constexpr std::uint32_t kTagShift = 56;
  static constexpr std::uint32_t kLastTime = (1u << 17) - 1;
  static constexpr std::uint32_t kLastTag = 255;
  static constexpr std::uint64_t kBlockMask = (std::uint64_t{1} << 24) - 1;

  static constexpr std::uint64_t kAtomic = 1;      ///< atomic, or ordered (volatile, relaxed, …)
  static constexpr std::uint64_t kBlockScope = 2;  ///< … but only towards its own block
  static constexpr std::uint64_t kManyLanes = 4;   ///< reads: other lanes of the warp too
  static constexpr std::uint64_t kManyWarps = 8;   ///< reads: other warps of the block too
  static constexpr std::uint64_t kManyBlocks = 16;
  static constexpr std::uint64_t kMany = kManyLanes | kManyWarps | kManyBlocks;

  /// Masks of whole fields.
  static constexpr std::uint64_t kSameBlock = ~std::uint64_t{0} << kBlockShift;
  static constexpr std::uint64_t kSameWarp = kSameBlock | std::uint64_t{0x1F} << kWarpShift;
  static constexpr std::uint64_t kSameThread = kSameBlock | std::uint64_t{0x3FF} << kThreadShift;

  static constexpr std::uint64_t make(std::uint64_t tag, std::uint64_t block, std::uint64_t time,
                                      std::uint64_t thread, std::uint64_t flags) {
    return tag << kTagShift | (block & kBlockMask) << kBlockShift | time << kTimeShift |
           thread << kThreadShift | flags;
  }
  static constexpr std::uint64_t block(std::uint64_t s) { return (s >> kBlockShift) & kBlockMask; }
  static constexpr std::uint32_t time(std::uint64_t s) {
    return static_cast<std::uint32_t>(s >> kTimeShift) & kLastTime;
  }
  static constexpr std::uint32_t thread(std::uint64_t s) {
    return static_cast<std::uint32_t>(s >> kThreadShift) & 0x3FF;
  }
  static constexpr std::uint64_t tag(std::uint64_t s) { return s >> kTagShift; }
  static constexpr std::uint32_t warp(std::uint64_t s) { return thread(s) / 32; }
  static constexpr std::uint32_t lane(std::uint64_t s) { return thread(s) % 32; }
};

/// The epoch of a line: that of lane 0, with the lanes' layout instead of the lane.
struct LineEpoch {
  static constexpr std::uint32_t kCells = 32;  ///< of a line
  static constexpr std::uint32_t kShift = 5;   ///< log2 of kCells
  static constexpr std::uint64_t kLayout = std::uint64_t{0x1F} << Epoch::kThreadShift;

  /// Which lanes have the line's cells, where 1 << `per_lane` (at most 16) cells are a lane's and
  /// the line is number `part` of the access. 31 is left for apart().
  static constexpr std::uint64_t layout(std::uint32_t per_lane, std::uint32_t part) {
    return std::uint64_t{(1u << per_lane) - 1 + part} << Epoch::kThreadShift;
  }
  /// The line is one thread's, whose epoch this is but for the flag, which no whole line has: the
  /// cells that are marked. Which instruction wrote it each of them knows by itself.
  static constexpr std::uint64_t kOwned = Epoch::kBlockScope;
  static constexpr bool owned(std::uint64_t line) { return (line & kOwned) != 0; }
  /// The cells have epochs of their own.
  static constexpr bool apart(std::uint64_t line) { return (line & (kLayout | kOwned)) == kLayout; }
  /// The epoch of one cell (0 … 31) of a line that is not apart, nor owned.
  static constexpr std::uint64_t of_cell(std::uint64_t line, std::uint32_t cell) {
    const auto layout = static_cast<std::uint32_t>((line & kLayout) >> Epoch::kThreadShift) + 1;
    const auto per_lane = static_cast<std::uint32_t>(std::bit_width(layout)) - 1;
    const std::uint32_t first = (layout - (1u << per_lane)) << (kShift - per_lane);
    return (line & ~kLayout) | std::uint64_t{first + (cell >> per_lane)} << Epoch::kThreadShift;
  }
};

/// How an access looks to blocks of other workers.
enum class Mark : std::uint8_t { kRead, kWrite, kAtomic };

/// 32 neighbouring cells of global memory.
struct alignas(32) Line {
  std::uint64_t write = 0;               ///< LineEpoch of the last write; may be owned
  std::uint64_t read = 0;                ///< and of the last read
  std::array<std::uint32_t, 3> marks{};  ///< by Mark, a bit each cell: of the epochs' launch
  std::uint16_t write_origin = 0, read_origin = 0;
  /// Has the owner written to this cell (0 … 31)?
  [[nodiscard]] bool owns(std::uint32_t cell) const {
    return (marks[static_cast<std::size_t>(Mark::kWrite)] >> cell & 1) != 0;
  }
};

/// Cells of one range of addresses: last write and last read, and the number of the instruction
/// that made each. In global memory they count only where their line is apart.
struct ShadowView {
  std::uint64_t* writes = nullptr;
  std::uint64_t* reads = nullptr;
  std::uint16_t* write_origins = nullptr;
  std::uint16_t* read_origins = nullptr;
  std::uint64_t begin = 0;       ///< first address
  std::uint64_t cells = 0;       ///< how many
  std::uint32_t cell_shift = 2;  ///< log2 of a cell's bytes
  Line* lines = nullptr;         ///< null for shared memory, which has none

  /// Who wrote, or read, a cell last.
  [[nodiscard]] std::uint64_t last_write(std::uint64_t cell) const {
    if (lines == nullptr) return writes[cell];
    const Line& line = lines[cell >> LineEpoch::kShift];
    if (LineEpoch::owned(line.write))
      return line.owns(cell % 32) ? line.write & ~LineEpoch::kOwned : 0;
    return LineEpoch::apart(line.write) ? writes[cell] : LineEpoch::of_cell(line.write, cell % 32);
  }
  [[nodiscard]] std::uint64_t last_read(std::uint64_t cell) const {
    if (lines == nullptr) return reads[cell];
    const std::uint64_t line = lines[cell >> LineEpoch::kShift].read;
    return LineEpoch::apart(line) ? reads[cell] : LineEpoch::of_cell(line, cell % 32);
  }
  [[nodiscard]] std::uint16_t write_origin(std::uint64_t cell) const {
    const Line* line = lines == nullptr ? nullptr : lines + (cell >> LineEpoch::kShift);
    const bool each = line == nullptr || LineEpoch::apart(line->write);
    return each || LineEpoch::owned(line->write) ? write_origins[cell] : line->write_origin;
  }
  [[nodiscard]] std::uint16_t read_origin(std::uint64_t cell) const {
    const Line* line = lines == nullptr ? nullptr : lines + (cell >> LineEpoch::kShift);
    return line == nullptr || LineEpoch::apart(line->read) ? read_origins[cell] : line->read_origin;
  }
};

/// Cells and lines for the device's memory, in pages that cost nothing until touched; kept from
/// launch to launch. One worker's: nobody else touches it while a launch runs.
class AccessShadow {
 public:
  /// Covers [begin, begin + bytes) in cells of 1 << `cell_shift` bytes.
  AccessShadow(std::uint64_t begin, std::uint64_t bytes, std::uint32_t cell_shift);

  [[nodiscard]] const ShadowView& view() const { return view_; }
  /// A launch begins: a tag (1 … 255) that no cell holds; nothing is marked.
  [[nodiscard]] std::uint32_t next_tag();
  /// Launches to come touch most of their arrays, and those are large.
  void expect_dense_use();
  /// Nobody has touched these bytes: memory that is handed out anew.
  void forget(std::uint64_t address, std::uint64_t bytes);

  /// A line that is about to be accessed. Whoever asks sets the epoch of its writes or its reads.
  [[nodiscard]] Line& line(std::uint64_t number, Mark mark) {
    Line& line = view_.lines[number];
    if (Epoch::tag(line.write) != tag_ && Epoch::tag(line.read) != tag_) line.marks = {};
    std::uint8_t& group = group_marks_[number >> kGroupShift];
    const auto bit = static_cast<std::uint8_t>(1u << static_cast<std::uint32_t>(mark));
    if ((group & bit) == 0) [[unlikely]] {
      if (group == 0) groups_.push_back(number >> kGroupShift);
      group |= bit;
    }
    return line;
  }
  /// If the line is owned, its cells get epochs of their own.
  void take_from_owner(std::uint64_t number) {
    const std::uint64_t write = view_.lines[number].write;
    if (LineEpoch::owned(write) && Epoch::tag(write) == tag_) [[unlikely]]
      spread_writes(number);
  }
  /// Cells [first, first + count) are about to be accessed one by one: from now on their lines'
  /// writes (or reads) are apart. Cells past the last one are left out.
  void take_apart(std::uint64_t first, std::uint64_t count, Mark mark, bool writes);

  /// Was some cell accessed in this launch and in the other's, not atomically by both, and not read
  /// by both?
  [[nodiscard]] bool conflicts_with(const AccessShadow& other) const;

 private:
  static constexpr std::uint32_t kGroupShift = 10;  ///< lines that are looked at together
  [[nodiscard]] std::uint64_t apart() const {
    return std::uint64_t{tag_} << Epoch::kTagShift | LineEpoch::kLayout;
  }
  void spread_writes(std::uint64_t number);
  void spread_reads(std::uint64_t number);
  [[nodiscard]] std::array<std::uint32_t, 3> marks_of(std::uint64_t number) const;

  ShadowView view_;
  LazyBytes writes_, reads_, write_origins_, read_origins_, lines_, group_bytes_;
  std::uint8_t* group_marks_;               ///< of each group: a bit each Mark
  std::vector<std::uint64_t> groups_ = {};  ///< those with marks
  std::uint32_t tag_ = 0;
};

}  // namespace membound::vgpu::memory
