// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Large pieces of device memory that the judge has freed and will soon want again: the arrays of a
/// timed case have the same sizes in each stage, and to map, overwrite and unmap a GiB takes a GPU
/// half a millisecond.
/// Place in the chain: server -> [kept_memory]. Left out: the calls that allocate and free.
///
/// They stay in the process that wrote them, which ends with the run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace membound::runner {

/// Device memory as the runtime gave it.
struct MemoryPiece {
  std::uint64_t address = 0, bytes = 0;
};

/// What is kept at a moment, within a limit.
class KeptMemory {
 public:
  /// Below that the runtime itself keeps memory mapped, and an array of a test gets a piece of its
  /// own.
  static constexpr std::uint64_t kLeastBytes = std::uint64_t{64} << 20;

  explicit KeptMemory(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  /// The smallest piece that will do for so many bytes; none is more than twice as large.
  [[nodiscard]] std::optional<MemoryPiece> take(std::uint64_t bytes);
  /// Keeps the piece; those that have to be freed now, smaller ones first, perhaps itself.
  [[nodiscard]] std::vector<MemoryPiece> keep(MemoryPiece piece);
  /// All, to be freed.
  [[nodiscard]] std::vector<MemoryPiece> take_all();
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::vector<MemoryPiece> pieces_;  // by size
  std::uint64_t most_bytes_, bytes_ = 0;
};

}  // namespace membound::runner
