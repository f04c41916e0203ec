// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 00: the sums, in a plain loop on the CPU. Each is rounded once, as on the GPU, so any right
/// kernel gives the same bits.
#pragma once

#include <vector>

namespace membound::labs::hello_gpu {

/// a[i] + b[i] for all i; `a` and `b` have the same length.
[[nodiscard]] std::vector<float> sums(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace membound::labs::hello_gpu
