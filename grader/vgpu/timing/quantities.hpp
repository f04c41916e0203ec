// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers that all terms of the model use.
/// Place in the chain: counters -> [quantities] -> block_waits, throughput, model.
#pragma once

#include <cstdint>

namespace membound::vgpu::timing {

inline constexpr double kSectorBytes = 32;
inline constexpr double kQuarters = 4;  ///< BlockWork counts issue slots in quarters

[[nodiscard]] inline double real(std::uint64_t value) { return static_cast<double>(value); }

/// 0 where there is no whole.
[[nodiscard]] inline double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

}  // namespace membound::vgpu::timing
