// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The bit patterns that tell "never written" and "outside of the array" from numbers.
/// Place in the chain: device arrays, compare and device/harness_kernels.cu -> [poison].
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace membound::harness {

/// Outputs start as copies of this word: a quiet NaN as float, two of them a quiet NaN as double,
/// 2146950829 as int.
inline constexpr std::uint32_t kPoisonWord = 0x7FF7DEADU;

/// Guard zones alternate between these two words, so that a read outside of an array shows in sums
/// (NaN) as well as in minima, which ignore a NaN (−3.39e38). The lower halves hold the array's
/// mark.
inline constexpr std::uint32_t kGuardWords[2] = {0x7FF60000U, 0xFF7F0000U};

/// Whether `value` still holds the pattern of an output that nobody wrote.
template <typename T>
[[nodiscard]] bool is_poison(const T& value) {
  static_assert(sizeof(T) % sizeof(std::uint32_t) == 0, "poison comes in words of 4 bytes");
  // NOLINTNEXTLINE(bugprone-sizeof-expression): words of a T that may be one
  std::uint32_t words[sizeof(T) / sizeof(std::uint32_t)];
  std::memcpy(words, &value, sizeof(T));
  for (const std::uint32_t word : words)
    if (word != kPoisonWord) return false;
  return true;
}

}  // namespace membound::harness
