// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where undefined values came from that lie in shared or local memory: somebody did write there,
/// but what nobody has written. Whoever makes use of them is told of the first read, not of this
/// memory. By words of 4 bytes: of a word's bytes the last store's origin is kept.
/// Place in the chain: initcheck -> [undefined_origins]. Left out: which bytes are undefined.
#pragma once

#include <algorithm>
#include <unordered_map>

#include "grader/vgpu/exec/observe/undefined_values.hpp"

namespace membound::vgpu::exec {

/// One thread's read of what nobody has written.
struct UndefinedOrigin {
  const Step* step = nullptr;
  ptx::StateSpace space = ptx::StateSpace::kNone;
  std::uint32_t bytes = 0;
  std::uint32_t thread = 0;  ///< its number in the block
  std::uint64_t address = 0;
};

/// Of a lane's value, which need not be its own: a shuffle may have moved it.
[[nodiscard]] inline UndefinedOrigin origin_of(const Warp& warp, const UndefinedSource& source,
                                               std::uint32_t lane) {
  const std::uint32_t from = source.lane_of(lane);
  const std::uint32_t thread = source.was_stored ? source.threads[from] : warp.index * 32 + from;
  return {source.step, source.space, source.bytes, thread, source.addresses[from]};
}

class UndefinedOrigins {
 public:
  void clear() { words_.clear(); }
  /// Undefined bytes were stored at `place`.
  void stored(std::uint64_t place, std::uint32_t bytes, const UndefinedOrigin& origin) {
    for (std::uint64_t word = place / 4; word * 4 < place + bytes; ++word) words_[word] = origin;
  }
  /// Where undefined bytes at `place` came from; null: nobody has stored any there.
  [[nodiscard]] const UndefinedOrigin* find(std::uint64_t place, std::uint32_t bytes) const {
    if (words_.empty()) return nullptr;
    for (std::uint64_t word = place / 4; word * 4 < place + bytes; ++word)
      if (const auto found = words_.find(word); found != words_.end()) return &found->second;
    return nullptr;
  }

 private:
  std::unordered_map<std::uint64_t, UndefinedOrigin> words_;
};

}  // namespace membound::vgpu::exec
