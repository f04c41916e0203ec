// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Seeded input data for tests: the same seed gives the same numbers on every machine.
/// Place in the chain: a lab's test.cpp -> [data] -> device_array. Left out: inputs of timed runs,
/// which the harness's own kernels draw on the device by the same formula (device/kernels.cu).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace membound::harness {

/// Which numbers an array starts with. No fill ever gives a NaN or an infinity; a lab that wants
/// those puts them in with sprinkle().
enum class Fill {
  kUniform,     ///< floating: [-1, 1); integers: the whole range of the type
  kRamp,        ///< 0, 1, 2, … (floating: starting again after 2^24, so that each is exact)
  kConstant,    ///< one value other than 0, drawn from the seed, everywhere
  kAdversarial  ///< ±0, denormals, the smallest and the largest numbers, neighbours of 1
};

/// `count` numbers. T: float, double, int, unsigned, long long, unsigned long long (and the
/// std::int64_t kinds).
template <typename T>
[[nodiscard]] std::vector<T> generate(std::size_t count, Fill fill, std::uint64_t seed);

/// Whole numbers from `low` to `high` (both included), also as float or double: sums of them are
/// exact in any order as long as they stay below 2^24 (float) or 2^53 (double).
template <typename T>
[[nodiscard]] std::vector<T> generate_integers(std::size_t count, std::int64_t low,
                                               std::int64_t high, std::uint64_t seed);

/// Puts `value` in about `share` (0 to 1) of the places.
template <typename T>
void sprinkle(std::vector<T>& values, double share, T value, std::uint64_t seed);

/// 64 well-mixed bits of (seed, index): the only source of randomness of the harness. The device's
/// fill kernels compute the same function.
[[nodiscard]] constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  // SplitMix64, the mixing function of java.util.SplittableRandom (Steele, Lea, Flood, 2014).
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace membound::harness
