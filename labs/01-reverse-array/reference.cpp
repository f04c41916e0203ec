// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "labs/01-reverse-array/reference.hpp"

#include <cstddef>

namespace membound::labs::reverse_array {

// [reversed]
std::vector<int> reversed(const std::vector<int>& in) {
  std::vector<int> out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[in.size() - 1 - i] = in[i];
  return out;
}
// [/reversed]

}  // namespace membound::labs::reverse_array
