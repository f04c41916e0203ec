// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Seeded input data for tests: the same seed gives the same numbers on every machine. Inputs of
/// timed runs are drawn on a GPU by the harness's own kernels (device/harness_kernels.cu), by the
/// same formula (base/values.cuh, where also Fill is declared). Also the bit patterns that tell
/// "never written" and "outside of the array" from numbers.
///
/// A student's check takes one seed that is told to everybody, so that every run can be repeated. A
/// graded run takes a key of 128 bits that nobody knows before it ends: a kernel that sees one
/// run's inputs learns nothing about the next ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "grader/base/drawn_input.hpp"
#include "grader/base/result.hpp"

namespace membound::harness {

/// A secret key for SipHash.
using SeedKey = std::array<std::uint64_t, 2>;

/// SipHash-2-4 of two numbers (Aumasson, Bernstein, 2012): without the key its answers cannot be
/// told from random ones, which SplitMix64's, the generator of the data itself, can.
[[nodiscard]] std::uint64_t keyed_bits(const SeedKey& key, std::uint64_t a, std::uint64_t b);

/// 32 hexadecimal digits.
[[nodiscard]] base::Result<SeedKey> parse_seed_key(const std::string& text);

/// Seeds from seeds.
class Seeds {
 public:
  Seeds() = default;
  explicit Seeds(const std::optional<SeedKey>& key) : key_(key) {}
  /// The `index`-th seed below `seed`.
  [[nodiscard]] std::uint64_t derive(std::uint64_t seed, std::uint64_t index) const;

 private:
  std::optional<SeedKey> key_;
};

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

using base::Draw;
using base::drawn_value;
using base::ElementType;
using base::Fill;
using base::random_bits;

/// `count` numbers. T: float, double, int, unsigned, long long, unsigned long long (and the
/// std::int64_t kinds).
template <typename T>
[[nodiscard]] std::vector<T> generate(std::size_t count, Fill fill, std::uint64_t seed);

/// Whole numbers from `low` to `high` (both included), also as float or double: sums of them are
/// exact in any order as long as they stay below 2^24 (float) or 2^53 (double).
template <typename T>
[[nodiscard]] std::vector<T> generate_integers(std::size_t count, std::int64_t low,
                                               std::int64_t high, std::uint64_t seed);

/// An input of a timed run, as the harness's own kernels draw it on a device.
template <typename T>
[[nodiscard]] std::vector<T> draw(std::size_t count, const Draw& how);

/// Puts `value` in about `share` (0 to 1) of the places.
template <typename T>
void sprinkle(std::vector<T>& values, double share, T value, std::uint64_t seed);

/// The fingerprint of base/values.cuh, computed here.
[[nodiscard]] std::uint64_t fingerprint_of(std::span<const std::uint32_t> words, std::uint64_t key);

}  // namespace membound::harness
