// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "labs/00-hello-gpu/reference.hpp"

#include <cstddef>

namespace membound::labs::hello_gpu {

// [sums]
std::vector<float> sums(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> out(a.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = a[i] + b[i];
  return out;
}
// [/sums]

}  // namespace membound::labs::hello_gpu
