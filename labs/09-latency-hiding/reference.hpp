// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 09: what "calibrated" means, in a plain loop on the CPU. The tests compare every element of
/// every small run with it. Timed runs are compared with the reference kernel; where a class is
/// graded without running that for everybody, with this.
#pragma once

#include <vector>

namespace membound::labs::latency_hiding {

/// gain * sample + offset for every sample. Exact for whole numbers below 2^24 in between.
[[nodiscard]] std::vector<float> calibrated(const std::vector<float>& in, float gain, float offset);

}  // namespace membound::labs::latency_hiding
