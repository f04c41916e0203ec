// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A mark for each byte of the local memory of a warp's lanes: written (initcheck), in a gap
/// (memcheck). Place in the chain: initcheck, memcheck -> [local_bytes].
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace membound::vgpu::exec {

/// A byte for each byte, 0 or 1; grows with what is touched.
class LocalBytes {
 public:
  void clear() {
    for (auto& lane : marks_) lane.clear();
  }
  /// The bytes of [offset, offset + bytes) of one lane; valid until the next call.
  [[nodiscard]] std::uint8_t* at(std::uint32_t lane, std::uint64_t offset, std::uint32_t bytes) {
    auto& all = marks_[lane];
    if (all.size() < offset + bytes) all.resize(offset + bytes, 0);
    return all.data() + offset;
  }
  void set(std::uint32_t lanes, std::uint64_t offset, std::uint32_t bytes, std::uint8_t value) {
    for (; lanes != 0; lanes &= lanes - 1)
      std::fill_n(at(static_cast<std::uint32_t>(std::countr_zero(lanes)), offset, bytes), bytes,
                  value);
  }

 private:
  std::array<std::vector<std::uint8_t>, 32> marks_;
};

}  // namespace membound::vgpu::exec
