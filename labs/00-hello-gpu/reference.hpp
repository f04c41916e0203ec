// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 00: the sums, in a plain loop on the CPU.
#pragma once

#include <vector>

namespace membound::labs::hello_gpu {

/// a[i] + b[i] for all i; `a` and `b` have the same length.
inline std::vector<float> sums(const std::vector<float>& a, const std::vector<float>& b);
// [sums]
std::vector<float> sums(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> out(a.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = a[i] + b[i];
  return out;
}
// [/sums]

}  // namespace membound::labs::hello_gpu
