// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Three extents or three indices: the shape of a grid or block, the place of a block or thread.
#pragma once

#include <cstdint>

namespace membound::vgpu {

/// x runs fastest, as in CUDA.
struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  /// Number of elements of a shape.
  [[nodiscard]] constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  /// The index with linear number `n` inside this shape.
  [[nodiscard]] constexpr Dim3 index(std::uint64_t n) const {
    return {static_cast<std::uint32_t>(n % x), static_cast<std::uint32_t>(n / x % y),
            static_cast<std::uint32_t>(n / x / y)};
  }
  friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

}  // namespace membound::vgpu
