// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "labs/08-local-memory/reference.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace membound::labs::local_memory {

std::vector<int> window_maxima(const std::vector<int>& in, std::int64_t n, int m) {
  std::vector<int> out(in.size());
  for (std::int64_t series = 0; series < n; ++series) {
    // [ring]
    std::array<int, kWindow> window{};
    for (int j = 0; j < m; ++j) {
      window[j % kWindow] = in[j * n + series];
      out[j * n + series] = *std::max_element(window.begin(), window.end());
    }
    // [/ring]
  }
  return out;
}

std::vector<int> previous_of_level(const std::vector<int>& in, std::int64_t n, int m) {
  std::vector<int> out(in.size());
  for (std::int64_t series = 0; series < n; ++series) {
    // [previous]
    std::array<int, kLevels> last{};
    for (int j = 0; j < m; ++j) {
      const int sample = in[j * n + series];
      out[j * n + series] = last[sample & 7];
      last[sample & 7] = sample;
    }
    // [/previous]
  }
  return out;
}

std::vector<int> level_counts(const std::vector<int>& in, std::int64_t n, int m) {
  std::vector<int> out(static_cast<std::size_t>(n) * kLevels, 0);
  for (int j = 0; j < m; ++j)
    for (std::int64_t series = 0; series < n; ++series)
      ++out[(in[j * n + series] & 7) * n + series];
  return out;
}

}  // namespace membound::labs::local_memory
