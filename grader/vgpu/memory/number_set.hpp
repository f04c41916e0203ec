// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A set of up to 32 numbers without allocation: distinct sectors, lines or words of one request.
/// Place in the chain: memory's own helper.
#pragma once

#include <array>
#include <cstdint>

namespace membound::vgpu::memory {

/// A small set of numbers for one request; no allocation.
class NumberSet {
 public:
  /// True when `number` is new.
  bool insert(std::uint64_t number) {
    std::uint32_t at = static_cast<std::uint32_t>((number * 0x9E3779B97F4A7C15u) >> 58);
    while ((used_ >> at) & 1) {
      if (keys_[at] == number) return false;
      at = (at + 1) % 64;
    }
    used_ |= std::uint64_t{1} << at;
    keys_[at] = number;
    return true;
  }

 private:
  std::uint64_t used_ = 0;
  std::array<std::uint64_t, 64> keys_;
};

}  // namespace membound::vgpu::memory
