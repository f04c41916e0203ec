// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Seeded input data for tests: the same seed gives the same numbers on every machine.
/// Place in the chain: a lab's test.cpp -> [data] -> device_array. Inputs of timed runs
/// are drawn on a GPU by the harness's own kernels (device/harness_kernels.cu), by the same formula
/// (base/values.cuh, where also Fill is declared).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "grader/base/drawn_input.hpp"

namespace membound::harness {

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
