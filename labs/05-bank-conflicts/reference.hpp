// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 05: what each stage computes, in plain loops on the CPU. The tests compare every element of
/// every small run with it. Timed runs are compared with the reference kernel; where a class is
/// graded without running that for everybody, with this. n and k are those of kernel.cuh; all is
/// integers, so any right kernel gives the same.
#pragma once

#include <cstdint>
#include <vector>

namespace membound::labs::bank_conflicts {

inline constexpr std::int64_t kTableWords = 64;  ///< stage 2: words of the table
inline constexpr std::int64_t kWindow = 32;      ///< stage 3: structs that each is multiplied with
inline constexpr std::int64_t kDelay = 16;       ///< stage 4: samples from one echo to the next

/// Stage 1: n signals of k samples; each sample plus all before it in its signal.
[[nodiscard]] std::vector<int> running_sums(const std::vector<int>& in, std::int64_t n,
                                            std::int64_t k);

/// Stage 2: kTableWords words of table and n words of data; the data with each byte b of word i
/// replaced k times by table[b ^ i % 256].
[[nodiscard]] std::vector<int> looked_up(const std::vector<int>& in, std::int64_t n,
                                         std::int64_t k);

/// Stage 3: n structs of k words; the sum of each one's products with the kWindow after it.
[[nodiscard]] std::vector<int> correlated(const std::vector<int>& in, std::int64_t n,
                                          std::int64_t k);

/// Stage 4: n samples; each plus the k - 1 that are kDelay, 2 kDelay, … later.
[[nodiscard]] std::vector<int> with_echoes(const std::vector<int>& in, std::int64_t n,
                                           std::int64_t k);

/// Stage 5: n tiles of k x k; for each the sums of its rows, then of its columns.
[[nodiscard]] std::vector<int> tile_sums(const std::vector<int>& in, std::int64_t n,
                                         std::int64_t k);

}  // namespace membound::labs::bank_conflicts
