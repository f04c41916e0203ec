// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 11: what "scanned", "counted" and "ordered" mean, in plain loops on the CPU. The tests
/// compare every element of every run with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace membound::labs::scan_and_sort {

inline constexpr std::size_t kBins = 256;  ///< values of a digit of 8 bits

/// Element i is the sum of all before it in its run of `run` numbers; with `k` 1, and of itself.
[[nodiscard]] std::vector<std::int64_t> scanned(const std::vector<std::int32_t>& in,
                                                std::int64_t run, int k);

/// How many keys have each of the kBins values of the 8 bits from bit k on.
[[nodiscard]] std::vector<std::uint32_t> counted(const std::vector<std::uint32_t>& in, int k);

/// The keys ordered by these 8 bits; where those are equal, as they stand in `in`.
[[nodiscard]] std::vector<std::uint32_t> ordered(const std::vector<std::uint32_t>& in, int k);

}  // namespace membound::labs::scan_and_sort
