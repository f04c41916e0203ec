// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/seeds.hpp"

#include <bit>
#include <charconv>

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

}  // namespace membound::harness
