// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What has surely ended before something begins: of each stream so many pieces of its work, which
/// end one after the other. By what streams, events and the host ask for, never by when things
/// happened to run. Place in the chain: streams -> [past] -> stream_races.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace membound::vgpu::runtime {

class Past {
 public:
  void learn(const Past& other) {
    for (const auto& [stream, pieces] : other.ended_) learn(stream, pieces);
  }
  /// The first `pieces` of the stream with this id.
  void learn(std::uint64_t stream, std::uint64_t pieces) {
    std::uint64_t& known = ended_[stream];
    known = std::max(known, pieces);
  }
  [[nodiscard]] std::uint64_t pieces_of(std::uint64_t stream) const {
    const auto found = ended_.find(stream);
    return found == ended_.end() ? 0 : found->second;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ended_;
};

}  // namespace membound::vgpu::runtime
