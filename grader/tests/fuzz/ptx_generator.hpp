// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels by chance, as PTX: most instructions are of forms that the decoder takes, with addresses
/// that often lead somewhere; the rest is what mutations make of them.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace membound::fuzz {

/// The same numbers on every machine: distributions of the standard library are not.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}
  /// 0 … `choices` - 1.
  std::uint32_t of(std::uint32_t choices) {
    return static_cast<std::uint32_t>((random_() >> 32) * choices >> 32);
  }
  bool one_in(std::uint32_t times) { return of(times) == 0; }
  std::uint64_t bits() { return random_(); }

 private:
  std::mt19937_64 random_;
};

/// A module with kernel `k(data, texture, surface, n)`.
[[nodiscard]] std::string generate_ptx(Chance& chance);

/// The text with some of its words and lines changed for others.
[[nodiscard]] std::string mutate_ptx(const std::string& text, Chance& chance);

}  // namespace membound::fuzz
