// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/data.hpp"

#include <limits>

#include "grader/base/result.hpp"

namespace membound::harness {

using base::integer_value;
using base::second_seed;
using base::unit_value;

template <typename T>
std::vector<T> generate(std::size_t count, Fill fill, std::uint64_t seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = base::fill_value<T>(fill, seed, i);
  return values;
}

template <typename T>
std::vector<T> generate_integers(std::size_t count, std::int64_t low, std::int64_t high,
                                 std::uint64_t seed) {
  MEMBOUND_CHECK(low <= high && high - low < (std::int64_t{1} << 32));
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(integer_value(random_bits(seed, i), low, high));
  return values;
}

template <typename T>
std::vector<T> draw(std::size_t count, const Draw& how) {
  const unsigned long long share_seed = second_seed(how.seed);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = drawn_value<T>(how, share_seed, i, std::numeric_limits<T>::infinity());
  return values;
}

template <typename T>
void sprinkle(std::vector<T>& values, double share, T value, std::uint64_t seed) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (unit_value(random_bits(second_seed(seed), i)) < share) values[i] = value;
}

std::uint64_t fingerprint_of(std::span<const std::uint32_t> words, std::uint64_t key) {
  std::uint64_t sum = 0;
  const std::size_t pairs = words.size() / 2;
  for (std::size_t i = 0; i < pairs; ++i)
    sum += base::fingerprint_term(key, i, words[2 * i], words[2 * i + 1]);
  if (words.size() % 2 != 0) sum += base::fingerprint_term(key, pairs, words.back(), 0);
  return sum;
}

// The types a lab may use; the two 64-bit kinds are distinct types of C++.
#define MEMBOUND_INSTANTIATE_DATA(T)                                                    \
  template std::vector<T> generate<T>(std::size_t, Fill, std::uint64_t);                \
  template std::vector<T> generate_integers<T>(std::size_t, std::int64_t, std::int64_t, \
                                               std::uint64_t);                          \
  template std::vector<T> draw<T>(std::size_t, const Draw&);                            \
  template void sprinkle<T>(std::vector<T>&, double, T, std::uint64_t);
MEMBOUND_INSTANTIATE_DATA(float)
MEMBOUND_INSTANTIATE_DATA(double)
MEMBOUND_INSTANTIATE_DATA(int)
MEMBOUND_INSTANTIATE_DATA(unsigned)
MEMBOUND_INSTANTIATE_DATA(long)
MEMBOUND_INSTANTIATE_DATA(unsigned long)
MEMBOUND_INSTANTIATE_DATA(long long)
MEMBOUND_INSTANTIATE_DATA(unsigned long long)
#undef MEMBOUND_INSTANTIATE_DATA

}  // namespace membound::harness
