// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Who touched a cell of memory last: the memory of the race checker. A cell is as many bytes as
/// the smallest access of the kernel has, 4 for most. Stamps of earlier launches, and of earlier
/// blocks in shared memory, are recognised as such, so nothing is cleared between them. Place in
/// the chain: exec/race_checker -> [access_shadow]. Left out: what orders two accesses, which
/// exec/race_clock knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "grader/vgpu/memory/access_marks.hpp"

namespace membound::vgpu::memory {

/// One access in 64 bits; 0 means nobody yet.
///
///   63      56 55            32 31           15 14       5 4       0
///   launch tag      block           time         thread     flags
///
/// Time counts what orders threads, for each block from 1 on; it stops at kLastTime, and accesses
/// from then on are never reported. Block numbers wrap at 2^24: two that look alike can only hide a
/// race.
struct Stamp {
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
  static constexpr std::uint32_t warp(std::uint64_t s) { return thread(s) / 32; }
  static constexpr std::uint32_t lane(std::uint64_t s) { return thread(s) % 32; }
};

/// Cells of one range of addresses: last write and last read, and the number of the instruction
/// that made each.
struct ShadowView {
  std::uint64_t* writes = nullptr;
  std::uint64_t* reads = nullptr;
  std::uint16_t* write_origins = nullptr;
  std::uint16_t* read_origins = nullptr;
  std::uint64_t begin = 0;       ///< first address
  std::uint64_t cells = 0;       ///< how many
  std::uint32_t cell_shift = 2;  ///< log2 of a cell's bytes
};

/// Cells for the device's memory, in pages that cost nothing until touched; kept from launch to
/// launch.
class AccessShadow {
 public:
  /// Covers [begin, begin + bytes) in cells of 1 << `cell_shift` bytes.
  AccessShadow(std::uint64_t begin, std::uint64_t bytes, std::uint32_t cell_shift);
  ~AccessShadow();
  AccessShadow(const AccessShadow&) = delete;
  AccessShadow& operator=(const AccessShadow&) = delete;

  [[nodiscard]] const ShadowView& view() const { return view_; }
  /// A tag (1 … 255) that no cell holds.
  [[nodiscard]] std::uint32_t next_tag();
  /// Marks for a launch with other workers beside this one, cleared.
  [[nodiscard]] AccessMarks& cleared_marks();
  /// Nobody has touched these bytes: memory that is handed out anew.
  void forget(std::uint64_t address, std::uint64_t bytes);

 private:
  void reserve();
  void release();
  ShadowView view_;
  std::unique_ptr<AccessMarks> marks_;
  std::uint32_t tag_ = 0;
};

}  // namespace membound::vgpu::memory
