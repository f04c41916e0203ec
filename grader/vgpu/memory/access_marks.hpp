// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which cells of memory one worker thread's blocks read, wrote or changed atomically in a launch:
/// a bit each. Two workers' marks together tell whether blocks of one met blocks of the other at
/// some cell, whatever the order they ran in and without either waiting for the other.
/// Place in the chain: exec/race_checker -> [access_marks]. Left out: who it was (access_shadow).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace membound::vgpu::memory {

/// Memory that reads as zeros and costs nothing until it is written to.
class LazyBytes {
 public:
  explicit LazyBytes(std::size_t bytes);
  ~LazyBytes();
  LazyBytes(const LazyBytes&) = delete;
  LazyBytes& operator=(const LazyBytes&) = delete;
  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// One worker's marks of one launch; used for one launch after the other.
class AccessMarks {
 public:
  enum class Kind : std::uint8_t { kRead, kWrite, kAtomic };

  explicit AccessMarks(std::uint64_t cells);

  /// Nothing was accessed: a launch begins.
  void clear();

  /// Cells [first, first + count) were accessed; those behind the last one are left out.
  void note(std::uint64_t first, std::uint64_t count, Kind kind);

  /// Was some cell accessed by both, not by both atomically, and not read by both?
  [[nodiscard]] bool conflicts_with(const AccessMarks& other) const;

 private:
  static constexpr std::uint64_t kWordBits = 64;
  /// Words of one kind that lie together, between those of the others: one cache line.
  static constexpr std::uint64_t kGroupWords = 8;
  static constexpr std::uint64_t kGroupCells = kGroupWords * kWordBits;
  static constexpr std::uint64_t kChunkShift = 15;  ///< cells whose groups are looked at together
  static constexpr std::uint64_t kChunkGroups = (1u << kChunkShift) / kGroupCells;
  static constexpr std::uint64_t kKinds = 3;
  static constexpr std::uint64_t kChunkWords = kChunkGroups * kKinds * kGroupWords;

  [[nodiscard]] std::uint64_t* word(std::uint64_t cell, Kind kind) const {
    const std::uint64_t group = cell / kGroupCells * kKinds + static_cast<std::uint64_t>(kind);
    return words_ + group * kGroupWords + cell % kGroupCells / kWordBits;
  }

  std::uint64_t cells_;
  LazyBytes bits_;
  LazyBytes chunks_;
  std::uint64_t* words_;
  std::uint8_t* touched_;                 ///< of each chunk: is it in `list_`?
  std::vector<std::uint64_t> list_ = {};  ///< chunks with marks
};

}  // namespace membound::vgpu::memory
