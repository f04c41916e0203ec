// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Stores that fill a sector in part: does the rest follow soon? L2 takes lines faster whose
/// sectors are filled while they are among the last that were stored to (store_lines.cu).
/// Place in the chain: exec/observe/sector_uses -> [stored_parts] -> counters (row
/// "unfinished_store_lines").
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grader/vgpu/memory/byte_uses.hpp"

namespace membound::vgpu::memory {

/// Stores to watched lines (watched_lines.hpp). Two of them are as far apart as their blocks are in
/// launch order, or their times by the warps' clocks, whichever is more: what a wave of blocks does
/// at one time, a GPU does block by block. Safe from several threads; what comes out does not
/// depend on their order.
class StoredParts {
 public:
  /// `blocks`: of the launch. Of many, some in a row count as one place in its order.
  explicit StoredParts(std::uint64_t blocks);

  /// A warp of the block stores these bytes of a line.
  void add(std::uint64_t line, std::uint32_t clock, std::uint64_t block, const LineBytes& bytes);

  /// Stores to lines of which a sector stays filled in part until lines of more than `dirty_bytes`
  /// were stored to. `ran`: blocks; `part`: of what runs at the same time, so much did.
  [[nodiscard]] std::uint64_t unfinished(double dirty_bytes, std::uint64_t ran, double part) const;

 private:
  /// Where and when; many blocks may store to one line again and again.
  struct Key {
    std::uint64_t line;
    std::uint32_t time, place;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Stores {
    std::uint64_t count = 0;
    LineBytes bytes;
  };
  struct Part {
    mutable std::mutex mutex;
    std::unordered_map<Key, Stores, Hash> stores;
  };
  [[nodiscard]] std::vector<std::pair<Key, Stores>> sorted() const;

  std::uint64_t blocks_of_place_;
  std::array<Part, 16> parts_;
};

}  // namespace membound::vgpu::memory
