// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 08: what each stage computes, in plain loops on the CPU, where an index costs nothing. The
/// tests compare every element of every small run with it. Timed runs are compared with the
/// reference kernel; where a class is graded without running that for everybody, with this.
#pragma once

#include <cstdint>
#include <vector>

namespace membound::labs::local_memory {

inline constexpr int kWindow = 8;  ///< stage 1: samples of a window
inline constexpr int kLevels = 8;  ///< stages 2 and 3: the last three bits of a sample

/// `in` is m rows of n samples, as the results of the first two are.
[[nodiscard]] std::vector<int> window_maxima(const std::vector<int>& in, std::int64_t n, int m);
[[nodiscard]] std::vector<int> previous_of_level(const std::vector<int>& in, std::int64_t n, int m);
/// kLevels rows of n counts.
[[nodiscard]] std::vector<int> level_counts(const std::vector<int>& in, std::int64_t n, int m);

}  // namespace membound::labs::local_memory
