// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 04: what "the sum" means, in plain loops on the CPU: once on one core and once on all cores.
/// The tests compare every small run with the first; both are timed to stand beside the GPU.
#pragma once

#include <span>

namespace membound::labs::reduction {

/// values[0] + values[1] + ..., in this order, kept in a double: exact for whole numbers as long as
/// the sum of their absolute values stays below 2^53.
[[nodiscard]] double sum_serial(std::span<const float> values);

/// The same with `threads` threads (0: one per core), each of which adds up one stretch.
[[nodiscard]] double sum_parallel(std::span<const float> values, unsigned threads = 0);

}  // namespace membound::labs::reduction
