// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/kept_memory.hpp"

#include <algorithm>
#include <utility>

namespace membound::runner {
namespace {

bool is_smaller(const MemoryPiece& one, const MemoryPiece& other) {
  return one.bytes < other.bytes;
}

}  // namespace

std::optional<MemoryPiece> KeptMemory::take(std::uint64_t bytes) {
  if (bytes < kLeastBytes) return std::nullopt;
  const auto found =
      std::lower_bound(pieces_.begin(), pieces_.end(), MemoryPiece{0, bytes}, is_smaller);
  if (found == pieces_.end() || found->bytes / 2 > bytes) return std::nullopt;
  const MemoryPiece piece = *found;
  pieces_.erase(found);
  bytes_ -= piece.bytes;
  return piece;
}

std::vector<MemoryPiece> KeptMemory::keep(MemoryPiece piece) {
  if (piece.bytes < kLeastBytes) return {piece};
  pieces_.insert(std::upper_bound(pieces_.begin(), pieces_.end(), piece, is_smaller), piece);
  bytes_ += piece.bytes;
  // A larger one can stand for a smaller, within limits, and never the other way round.
  auto last = pieces_.begin();
  while (bytes_ > most_bytes_) bytes_ -= last++->bytes;
  std::vector<MemoryPiece> freed(pieces_.begin(), last);
  pieces_.erase(pieces_.begin(), last);
  return freed;
}

std::vector<MemoryPiece> KeptMemory::take_all() {
  bytes_ = 0;
  return std::exchange(pieces_, {});
}

}  // namespace membound::runner
