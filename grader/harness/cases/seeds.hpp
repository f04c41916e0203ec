// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where the seeds of all data come from. A student's check takes one number that is told to
/// everybody, so that every run can be repeated. A graded run takes a key of 128 bits that nobody
/// knows before it ends: a kernel that sees one run's inputs learns nothing about the next ones.
/// Place in the chain: stage_run, timing -> [seeds]. Left out: drawing the key; the grader does.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

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

}  // namespace membound::harness
