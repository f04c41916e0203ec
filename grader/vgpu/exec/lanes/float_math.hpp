// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Single and double precision on one lane, to the nearest even unless said otherwise.
/// Place in the chain: ops_float.cpp loops over these; compiled without contraction, so
/// that a product and a sum round twice and fma once. Left out: directed rounding
/// (ops_rounded.cpp). Approximate functions are computed to the nearest float instead of the
/// hardware's error of one or two units in the last place. Source: PTX ISA 9.0, "Floating Point
/// Instructions".
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "grader/vgpu/exec/lanes/lane_math.hpp"

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

struct FAdd {
  template <typename F>
  static F run(F a, F b) {
    return a + b;
  }
};
struct FSub {
  template <typename F>
  static F run(F a, F b) {
    return a - b;
  }
};
struct FMul {
  template <typename F>
  static F run(F a, F b) {
    return a * b;
  }
};
struct FDiv {
  template <typename F>
  static F run(F a, F b) {
    return a / b;
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
  static double run(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct FSqrt {
  static float run(float a) { return __builtin_sqrtf(a); }
  static double run(double a) { return __builtin_sqrt(a); }
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

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
