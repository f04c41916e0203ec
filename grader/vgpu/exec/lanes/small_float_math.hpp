// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Eight-bit floats: e4m3 (1+4+3 bits, no infinity, one NaN of each sign) and e5m2 (1+5+2 bits, as
/// a short half). Place in the chain: ops_small_float.cpp. Source: PTX ISA 9.0,
/// "Fundamental Types: Alternate Floating-Point Data Formats".
#pragma once

#include <cmath>

#include "grader/vgpu/exec/lanes/lane_math.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {

struct E4m3 {
  static constexpr u32 kMantissaBits = 3;
  static constexpr int kBias = 7;
  static constexpr u32 kLargest = 0x7E;  ///< 448
  static constexpr u32 kNan = 0x7F;
  static bool is_nan(u32 magnitude) { return magnitude == 0x7F; }
  static bool is_infinite(u32) { return false; }
};
struct E5m2 {
  static constexpr u32 kMantissaBits = 2;
  static constexpr int kBias = 15;
  static constexpr u32 kLargest = 0x7B;  ///< 57344
  static constexpr u32 kNan = 0x7F;
  static bool is_nan(u32 magnitude) { return magnitude > 0x7C; }
  static bool is_infinite(u32 magnitude) { return magnitude == 0x7C; }
};

/// Exact.
template <typename Format>
inline double widen_small(u32 bits) {
  const u32 magnitude = bits & 0x7F;
  double value;
  if (Format::is_nan(magnitude)) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (Format::is_infinite(magnitude)) {
    value = std::numeric_limits<double>::infinity();
  } else {
    constexpr u32 kM = Format::kMantissaBits;
    const int exponent = static_cast<int>(magnitude >> kM);
    const u32 fraction = magnitude & ((1u << kM) - 1);
    const u32 whole = exponent == 0 ? fraction : fraction | 1u << kM;
    const int scale = (exponent == 0 ? 1 : exponent) - Format::kBias - static_cast<int>(kM);
    value = std::ldexp(static_cast<double>(whole), scale);
  }
  return bits & 0x80 ? -value : value;
}

/// To nearest even; what is too large becomes the largest finite value (.satfinite, which PTX asks
/// for in every such conversion); with `relu` nothing is below zero.
template <typename Format>
inline u32 narrow_small(double value, bool relu) {
  if (value != value) return Format::kNan;
  const u32 sign = std::signbit(value) ? 0x80 : 0;
  if (relu && sign != 0) return 0;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65536) return sign | Format::kLargest;
  if (magnitude == 0) return sign;
  constexpr int kM = static_cast<int>(Format::kMantissaBits);
  const int exponent = std::max(std::ilogb(magnitude), 1 - Format::kBias);
  // In units of the last place; nearbyint rounds to even, as the process does throughout.
  const auto units = static_cast<u32>(std::nearbyint(std::ldexp(magnitude, kM - exponent)));
  // A carry out of the fraction moves into the exponent by itself.
  const u32 bits = (static_cast<u32>(exponent + Format::kBias - 1) << kM) + units;
  return sign | (bits > Format::kLargest ? Format::kLargest : bits);
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
