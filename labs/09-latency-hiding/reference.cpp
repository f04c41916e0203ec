// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "labs/09-latency-hiding/reference.hpp"

#include <cstddef>

namespace membound::labs::latency_hiding {

// [calibrated]
std::vector<float> calibrated(const std::vector<float>& in, float gain, float offset) {
  std::vector<float> out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = gain * in[i] + offset;
  return out;
}
// [/calibrated]

}  // namespace membound::labs::latency_hiding
