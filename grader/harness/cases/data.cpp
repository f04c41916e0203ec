// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/data.hpp"

#include <bit>
#include <charconv>
#include <limits>

#include "grader/base/result.hpp"
#include "grader/base/values.cuh"

namespace membound::harness {
namespace {

/// The state of SipHash and its round, as the paper's figure 2.1 draws it.
struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1, v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0, v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1, v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2, v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }
  void take(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
};

}  // namespace

std::uint64_t keyed_bits(const SeedKey& key, std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMessageBytes = 16;
  SipState state{key[0] ^ 0x736F6D6570736575ULL, key[1] ^ 0x646F72616E646F6DULL,
                 key[0] ^ 0x6C7967656E657261ULL, key[1] ^ 0x7465646279746573ULL};
  state.take(a);
  state.take(b);
  state.take(kMessageBytes << 56);
  state.v2 ^= 0xFF;
  state.rounds(4);
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

base::Result<SeedKey> parse_seed_key(const std::string& text) {
  constexpr std::size_t kDigits = 16;
  SeedKey key{};
  bool good = text.size() == 2 * kDigits;
  for (std::size_t i = 0; good && i < key.size(); ++i) {
    const char* first = text.data() + i * kDigits;
    const auto [stopped, failure] = std::from_chars(first, first + kDigits, key[i], 16);
    good = failure == std::errc() && stopped == first + kDigits;
  }
  if (good) return key;
  return base::Error{base::ErrorKind::kUsage,
                     "--seed-key",
                     std::to_string(text.size()) + " characters",
                     "32 hexadecimal digits",
                     {}};
}

std::uint64_t Seeds::derive(std::uint64_t seed, std::uint64_t index) const {
  return key_ ? keyed_bits(*key_, seed, index) : base::random_bits(seed, index);
}

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
