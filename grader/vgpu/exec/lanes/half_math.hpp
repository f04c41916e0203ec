// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Half precision (1+5+10 bits) and bfloat16 (1+8+7 bits) in integer arithmetic, so that every
/// compiler and every x86-64 gives the same bits.
/// Place in the chain: ops_half.cpp, ops_convert.cpp, atomic_math.hpp.
#pragma once

#include <bit>

#include "grader/vgpu/exec/lanes/lane_math.hpp"
#include "grader/vgpu/program/instruction.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {

/// A storage format below 32 bits.
struct HalfFormat {
  static constexpr u32 kExponentBits = 5, kMantissaBits = 10;
  static constexpr u16 kNan = 0x7FFF;
};
struct Bfloat16Format {
  static constexpr u32 kExponentBits = 8, kMantissaBits = 7;
  static constexpr u16 kNan = 0x7FFF;
};

/// Exact.
template <typename Format>
inline float widen_half(u16 bits) {
  constexpr u32 kM = Format::kMantissaBits, kE = Format::kExponentBits;
  const u32 sign = u32{bits} >> 15 << 31;
  const u32 exponent = (bits >> kM) & ((1u << kE) - 1);
  const u32 mantissa = bits & ((1u << kM) - 1);
  if constexpr (kE == 8) return std::bit_cast<float>(u32{bits} << 16);
  if (exponent == (1u << kE) - 1)
    return std::bit_cast<float>(sign | 0x7F800000u | mantissa << (23 - kM));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<u32>(magnitude) | sign);
  }
  return std::bit_cast<float>(sign | (exponent + 127 - 15) << 23 | mantissa << (23 - kM));
}

/// A double (exact or already rounded to odd) to the format. `rounding`: nearest even, or towards
/// zero, down, up. `saturate`: a finite value that is too large stays finite.
template <typename Format>
inline u16 narrow_half(double value, program::Rounding rounding, bool saturate) {
  using program::Rounding;
  constexpr u32 kM = Format::kMantissaBits, kE = Format::kExponentBits;
  constexpr int kBias = (1 << (kE - 1)) - 1;
  constexpr u16 kInfinity = static_cast<u16>(((1u << kE) - 1) << kM);
  const u64 bits = std::bit_cast<u64>(value);
  const u16 sign = static_cast<u16>(bits >> 63 << 15);
  const u64 fraction = bits & ((u64{1} << 52) - 1);
  const int exponent = static_cast<int>((bits >> 52) & 0x7FF) - 1023;
  if (exponent == 1024) {
    if (fraction != 0) return Format::kNan;  // of a float; see narrow_nan() for double
    return saturate ? static_cast<u16>(sign | (kInfinity - 1)) : static_cast<u16>(sign | kInfinity);
  }
  if (exponent == -1023) return sign;  // zero; a double denormal is far below every format here
  // Below the smallest normal number, fewer bits are kept.
  const int shift_extra = exponent < 1 - kBias ? 1 - kBias - exponent : 0;
  const int drop = 52 - static_cast<int>(kM) + shift_extra;
  const u64 full = fraction | u64{1} << 52;
  u64 kept = 0;
  bool half = false, rest = false;
  if (drop > 53) {
    rest = true;
  } else {
    kept = full >> drop;
    half = (full >> (drop - 1)) & 1;
    rest = (full & ((u64{1} << (drop - 1)) - 1)) != 0;
  }
  bool up = false;
  switch (rounding) {
    case Rounding::kRz:
      break;
    case Rounding::kRm:
      up = sign != 0 && (half || rest);
      break;
    case Rounding::kRp:
      up = sign == 0 && (half || rest);
      break;
    case Rounding::kRna:
      up = half;
      break;
    default:
      up = half && (rest || (kept & 1));
      break;
  }
  kept += up;
  // A carry out of the mantissa moves into the exponent by itself.
  const u64 biased = shift_extra != 0 ? 0 : static_cast<u64>(exponent + kBias - 1);
  const u64 magnitude = (biased << kM) + kept;
  if (magnitude >= kInfinity) {
    const bool stays = saturate || rounding == Rounding::kRz ||
                       (rounding == Rounding::kRm && sign == 0) ||
                       (rounding == Rounding::kRp && sign != 0);
    return static_cast<u16>(sign | (stays ? kInfinity - 1 : kInfinity));
  }
  return static_cast<u16>(sign | magnitude);
}

/// A double NaN keeps its sign and what fits of its payload, and becomes quiet.
template <typename Format>
inline u16 narrow_nan(double nan) {
  constexpr u32 kM = Format::kMantissaBits, kE = Format::kExponentBits;
  const u64 bits = std::bit_cast<u64>(nan);
  const u64 payload = (bits & ((u64{1} << 52) - 1)) >> (52 - kM) | u64{1} << (kM - 1);
  return static_cast<u16>(bits >> 63 << 15 | ((u64{1} << kE) - 1) << kM | payload);
}

/// Sum and product of two halves are exact in double; a fused product and sum nearly always is,
/// and otherwise too close to its rounding to matter for 11-bit results.
template <typename Format>
inline u16 nearest_half(double value) {
  return narrow_half<Format>(value, program::Rounding::kRn, false);
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
