// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 04: what "the sum" means, in plain loops on the CPU: once on one core and once on all cores.
/// The tests compare every small run with the first; both are timed to stand beside the GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

namespace membound::labs::reduction {

/// values[0] + values[1] + ..., in this order, kept in a double: exact for whole numbers as long as
/// the sum of their absolute values stays below 2^53.
inline double sum_serial(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return sum;
}

/// The same with `threads` threads (0: one per core), each of which adds up one stretch.
inline double sum_parallel(std::span<const float> values, unsigned threads = 0) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t stretch = (values.size() + threads - 1) / threads;
  std::vector<double> sums(threads, 0.0);
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    const std::size_t begin = std::min(values.size(), t * stretch);
    const std::size_t end = std::min(values.size(), begin + stretch);
    workers.emplace_back(
        [&sum = sums[t], part = values.subspan(begin, end - begin)] { sum = sum_serial(part); });
  }
  for (std::thread& worker : workers) worker.join();
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace membound::labs::reduction
