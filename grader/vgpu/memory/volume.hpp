// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How many bytes are used between two times of the warps' clocks.
/// Place in the chain: line_times, stored_parts -> [volume].
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace membound::vgpu::memory {

/// Seven binary digits: late uses need not be told apart so finely.
[[nodiscard]] inline std::uint32_t time_of(std::uint32_t clock) {
  const int more = std::max(0, static_cast<int>(std::bit_width(clock)) - 7);
  return clock >> more << more;
}
/// The time that follows.
[[nodiscard]] inline std::uint32_t after(std::uint32_t time) {
  return time + (1u << std::max(0, static_cast<int>(std::bit_width(time)) - 7));
}

/// Bytes that were used until some time: add them all, sum them up, ask.
class Volume {
 public:
  void add(std::uint32_t time, std::uint64_t bytes) { steps_.push_back({time, bytes}); }
  void sum_up();
  /// Between two uses; half of what is used at the times of both.
  [[nodiscard]] double between(std::uint32_t from, std::uint32_t to) const {
    return (until(to) + up_to(to) - until(from) - up_to(from)) / 2;
  }
  /// From one use to the end, likewise.
  [[nodiscard]] double from(std::uint32_t time) const;

 private:
  [[nodiscard]] double until(std::uint32_t time) const;  // without it
  [[nodiscard]] double up_to(std::uint32_t time) const { return until(time + 1); }

  std::vector<std::pair<std::uint32_t, std::uint64_t>> steps_;
};

}  // namespace membound::vgpu::memory
