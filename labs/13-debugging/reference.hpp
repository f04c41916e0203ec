// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 13: what each stage should compute, an element at a time, in plain loops on the CPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "labs/13-debugging/kernel_constants.hpp"

namespace membound::labs::debugging {

/// Element `i` of the right output of `stage` for n elements; `at(j)` is element j of the input.
template <typename At>
[[nodiscard]] int element(int stage, std::size_t i, std::size_t n, const At& at) {
  using namespace membound::kernel_constants;
  const auto sum = [&](std::size_t first, std::size_t end) {
    int all = 0;
    for (std::size_t j = first; j < std::min(end, n); ++j) all += at(j);
    return all;
  };
  switch (stage) {
    case 1:
      return sum(i == 0 ? 0 : i - 1, i + 2);
    case 2:
      return sum(i / kThreads * kThreads, i + 1);
    case 3:
      return at(i) - (i == 0 ? 0 : at(i - 1));
    case 4:
      return sum(i, i + kWindow);
    case 5:
      return at(i) * at(i) + static_cast<int>(i);
    default:
      return sum(i / kRow * kRow, i / kRow * kRow + kRow);
  }
}

/// All of them.
inline std::vector<int> results(int stage, const std::vector<int>& in) {
  std::vector<int> out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i)
    out[i] = element(stage, i, in.size(), [&](std::size_t j) { return in[j]; });
  return out;
}

}  // namespace membound::labs::debugging
