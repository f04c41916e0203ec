// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "labs/06-shortcut/reference.hpp"

#include <algorithm>
#include <limits>

namespace membound::labs::shortcut {

// [shortcuts]
std::vector<float> shortcuts(const std::vector<float>& d, std::int64_t n) {
  std::vector<float> r(d.size(), std::numeric_limits<float>::infinity());
  for (std::int64_t from = 0; from < n; ++from) {
    for (std::int64_t via = 0; via < n; ++via) {
      // The inner loop runs along rows, so that the CPU, too, reads neighbours after neighbours.
      for (std::int64_t to = 0; to < n; ++to) {
        r[from * n + to] = std::min(r[from * n + to], d[from * n + via] + d[via * n + to]);
      }
    }
  }
  return r;
}
// [/shortcuts]

}  // namespace membound::labs::shortcut
