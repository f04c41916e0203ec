// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 10: what each stage's result is, in plain loops on the CPU. The tests compare every small
/// run with it; where a class is graded without running the reference answer, timed runs as well.
#pragma once

#include <cstdint>
#include <vector>

namespace membound::labs::warp_primitives {

inline constexpr std::int64_t kRow = 32;   ///< numbers of a row
inline constexpr std::int64_t kHead = 32;  ///< index of the first kept number

/// For each row of 32, how many numbers are smaller than k.
[[nodiscard]] std::vector<int> kept_of_rows(const std::vector<int>& in, std::int64_t k);

/// For each number below k, how many before it in its row equal it; -1 for the others.
[[nodiscard]] std::vector<int> ranks(const std::vector<int>& in, std::int64_t k);

/// kHead + in.size() words: how many numbers are smaller than k, from kHead on these numbers in
/// their order, and zeros.
[[nodiscard]] std::vector<int> compacted(const std::vector<int>& in, std::int64_t k);

/// Numbers l and l + 16 of each row after k exchanges; what overflows wraps.
[[nodiscard]] std::vector<int> traded(const std::vector<int>& in, std::int64_t k);

/// k times each number less the sum of all; what overflows wraps.
[[nodiscard]] std::vector<int> centered(const std::vector<int>& in, std::int64_t k);

}  // namespace membound::labs::warp_primitives
