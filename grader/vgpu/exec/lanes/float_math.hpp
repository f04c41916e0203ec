// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Floating point on one lane, to the nearest even unless said otherwise: single and double
/// precision; half precision (1+5+10 bits), bfloat16 (1+8+7) and eight-bit floats (e4m3: no
/// infinity, one NaN of each sign; e5m2: a short half) in integer arithmetic, so that every
/// compiler and every processor gives the same bits.
///
/// Compiled without contraction, so that a product and a sum round twice and fma once. Left out:
/// directed rounding (ops_rounded.cpp). Approximate functions are computed to the nearest float
/// instead of the hardware's error of one or two units in the last place. Source: PTX ISA 9.0,
/// "Floating Point Instructions" and "Alternate Floating-Point Data Formats".
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "grader/base/processor.hpp"
#include "grader/vgpu/exec/lanes/integer_math.hpp"
#include "grader/vgpu/program/instruction.hpp"

// NOLINTBEGIN(misc-redundant-expression): a NaN is what differs from itself.
namespace membound::vgpu::exec::MEMBOUND_ISA {

template <typename F>
using BitsOf = std::conditional_t<sizeof(F) == 8, u64, u32>;
template <typename F>
inline constexpr BitsOf<F> kSignBit = BitsOf<F>{1} << (8 * sizeof(F) - 1);

/// The one NaN that single precision arithmetic returns.
[[gnu::always_inline]] inline float canonical(float x) {
  return x == x ? x : std::bit_cast<float>(0x7FFFFFFFu);
}
[[gnu::always_inline]] inline double canonical(double x) { return x; }

/// Denormals become zero of the same sign.
[[gnu::always_inline]] inline float flush(float x) {
  const u32 bits = std::bit_cast<u32>(x);
  return std::bit_cast<float>((bits & 0x7F800000u) == 0 ? bits & 0x80000000u : bits);
}
[[gnu::always_inline]] inline float saturate(float x) {  // NaN becomes 0
  x = x > 0.0f ? x : 0.0f;
  return x < 1.0f ? x : 1.0f;
}
[[gnu::always_inline]] inline double saturate(double x) {
  x = x > 0.0 ? x : 0.0;
  return x < 1.0 ? x : 1.0;
}

/// What was computed of these operands: a double that is no number, though they all are, is a
/// negative NaN on every processor, as it is on a GPU.
template <typename F, typename... Operand>
[[gnu::always_inline]] inline F computed(F result, Operand... operand) {
  if constexpr (base::kMadeNanIsPositive && sizeof(F) == 8)
    if (result != result && ((operand == operand) && ...))
      return std::bit_cast<F>(u64{0xFFF8} << 48);
  return result;
}

struct FAdd {
  template <typename F>
  static F run(F a, F b) {
    return computed(a + b, a, b);
  }
};
struct FSub {
  template <typename F>
  static F run(F a, F b) {
    return computed(a - b, a, b);
  }
};
struct FMul {
  template <typename F>
  static F run(F a, F b) {
    return computed(a * b, a, b);
  }
};
struct FDiv {
  template <typename F>
  static F run(F a, F b) {
    return computed(a / b, a, b);
  }
};
/// div.approx: the reciprocal of a divisor above 2^126 is a subnormal, which the hardware drops.
struct FDivApprox {
  static float run(float a, float b) {
    const float size = std::bit_cast<float>(std::bit_cast<u32>(b) & 0x7FFFFFFFu);
    return size > 0x1p126f && size < std::numeric_limits<float>::infinity() ? a * (b * 0.0f)
                                                                            : a / b;
  }
};
struct FFma {
  static float run(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static double run(double a, double b, double c) {
    return computed(__builtin_fma(a, b, c), a, b, c);
  }
};
struct FSqrt {
  static float run(float a) { return __builtin_sqrtf(a); }
  static double run(double a) { return computed(__builtin_sqrt(a), a); }
};
struct FRcp {
  template <typename F>
  static F run(F a) {
    return F{1} / a;
  }
};
/// rcp.approx.ftz.f64: no subnormals in or out, and only the upper halves of operand and result.
struct FRcpDouble {
  static double run(double a) {
    const auto flushed = [](double x) {
      const u64 bits = std::bit_cast<u64>(x);
      return std::bit_cast<double>((bits << 1 >> 53) == 0 ? bits & kSignBit<double> : bits);
    };
    const auto upper = [](double x) {
      return std::bit_cast<double>(std::bit_cast<u64>(x) >> 32 << 32);
    };
    a = flushed(upper(a));
    if (a != a) return std::bit_cast<double>(u64{0x7FFFFFFF} << 32);
    return upper(flushed(1.0 / a));
  }
};
struct FRsqrt {
  template <typename F>
  static F run(F a) {
    return static_cast<F>(1.0 / std::sqrt(double{a}));
  }
};
struct FSin {
  static float run(float a) { return static_cast<float>(std::sin(double{a})); }
};
struct FCos {
  static float run(float a) { return static_cast<float>(std::cos(double{a})); }
};
struct FLg2 {
  static float run(float a) { return static_cast<float>(std::log2(double{a})); }
};
struct FEx2 {
  static float run(float a) { return static_cast<float>(std::exp2(double{a})); }
};
struct FTanh {
  static float run(float a) { return static_cast<float>(std::tanh(double{a})); }
};

/// Of a double NaN, the sign operations change nothing but make it quiet.
[[gnu::always_inline]] inline double quiet(double nan) {
  return std::bit_cast<double>(std::bit_cast<u64>(nan) | u64{1} << 51);
}
struct FAbs {
  template <typename F>
  static F run(F a) {
    if constexpr (sizeof(F) == 8) {
      if (a != a) return quiet(a);
    }
    return std::bit_cast<F>(std::bit_cast<BitsOf<F>>(a) & ~kSignBit<F>);
  }
};
struct FNeg {
  template <typename F>
  static F run(F a) {
    if constexpr (sizeof(F) == 8) {
      if (a != a) return quiet(a);
    }
    return std::bit_cast<F>(std::bit_cast<BitsOf<F>>(a) ^ kSignBit<F>);
  }
};
struct FCopysign {  // sign of a, magnitude of b
  template <typename F>
  static F run(F a, F b) {
    using U = BitsOf<F>;
    return std::bit_cast<F>((std::bit_cast<U>(a) & kSignBit<F>) |
                            (std::bit_cast<U>(b) & ~kSignBit<F>));
  }
};

/// -0 is below +0; a NaN loses against a number.
struct FMin {
  template <typename F>
  static F run(F a, F b) {
    using U = BitsOf<F>;
    const F equal = std::bit_cast<F>(std::bit_cast<U>(a) | std::bit_cast<U>(b));
    const F smaller = a < b ? a : b < a ? b : equal;
    return canonical(a != a ? b : b != b ? a : smaller);
  }
};
struct FMax {
  template <typename F>
  static F run(F a, F b) {
    using U = BitsOf<F>;
    const F equal = std::bit_cast<F>(std::bit_cast<U>(a) & std::bit_cast<U>(b));
    const F larger = a > b ? a : b > a ? b : equal;
    return canonical(a != a ? b : b != b ? a : larger);
  }
};
/// With .NaN a NaN wins.
template <typename Inner>
struct FNanWins {
  static float run(float a, float b) {
    return a != a || b != b ? std::bit_cast<float>(0x7FFFFFFFu) : Inner::run(a, b);
  }
};
/// With .xorsign.abs: of the magnitudes, with the product's sign.
template <typename Inner>
struct FXorSign {
  static float run(float a, float b) {
    const u32 sign = (std::bit_cast<u32>(a) ^ std::bit_cast<u32>(b)) & 0x80000000u;
    const float chosen = Inner::run(FAbs::run(a), FAbs::run(b));
    if (chosen != chosen) return canonical(chosen);
    const u32 bits = std::bit_cast<u32>(chosen);
    return std::bit_cast<float>((bits & 0x7FFFFFFFu) | sign);
  }
};

/// An operation with its suffixes: flushed operands and result, saturation, one NaN.
template <typename Op, bool kFlush, bool kSaturate>
struct Suffixed {
  template <typename F, typename... Rest>
  static F run(F a, Rest... rest) {
    F result;
    if constexpr (kFlush)
      result = flush(canonical(Op::run(flush(a), flush(rest)...)));
    else
      result = canonical(Op::run(a, rest...));
    if constexpr (kSaturate) result = saturate(result);
    return result;
  }
};

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
// NOLINTEND(misc-redundant-expression)
