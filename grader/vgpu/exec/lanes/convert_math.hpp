// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One value to another type, with every rounding and saturation of cvt.
/// Place in the chain: ops_convert.cpp.
/// Source: PTX ISA 9.0, "Data Movement and Conversion Instructions: cvt".
#pragma once

#include <cmath>

#include "grader/vgpu/exec/lanes/float_math.hpp"
#include "grader/vgpu/exec/lanes/half_math.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {

/// Stand-ins for the two 16-bit float types, told apart by type.
enum class Half : u16 {};
enum class Bfloat16 : u16 {};

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;
template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T> || kIsHalf<T>;

/// Any float exactly.
template <typename T>
inline double as_double(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return widen_half<HalfFormat>(static_cast<u16>(value));
  else if constexpr (std::is_same_v<T, Bfloat16>)
    return widen_half<Bfloat16Format>(static_cast<u16>(value));
  else
    return static_cast<double>(value);
}

/// `exact` rounded to F in a direction: the nearest one, moved by a step if it went the wrong way.
template <typename F>
inline F directed(long double exact, program::Rounding rounding) {
  using program::Rounding;
  F result = static_cast<F>(exact);
  const long double got = static_cast<long double>(result);
  const F inf = std::numeric_limits<F>::infinity();
  const bool down = rounding == Rounding::kRm || (rounding == Rounding::kRz && exact > 0);
  const bool up = rounding == Rounding::kRp || (rounding == Rounding::kRz && exact < 0);
  if (down && got > exact) result = std::nextafter(result, -inf);
  if (up && got < exact) result = std::nextafter(result, inf);
  return result;
}

/// To an integral value, still a double.
inline double to_integral(double value, program::Rounding rounding) {
  using program::Rounding;
  if (value != value)
    return value + value;  // quiet; without SSE 4.1, floor() would keep it as it is
  switch (rounding) {
    case Rounding::kRzi:
    case Rounding::kRz:
      return std::trunc(value);
    case Rounding::kRmi:
    case Rounding::kRm:
      return std::floor(value);
    case Rounding::kRpi:
    case Rounding::kRp:
      return std::ceil(value);
    default:
      return std::nearbyint(value);  // the process keeps rounding to nearest even
  }
}

/// Float to integer: out of range becomes the nearest end. NaN becomes 0, or `1 << (bits - 1)`
/// where a 64-bit type takes part (seen on an H200).
template <typename D, typename S>
inline D clamp_to_integer(double value, program::Rounding rounding) {
  if (value != value) {
    constexpr bool kWide = sizeof(D) == 8 || (sizeof(D) == 4 && sizeof(S) == 8);
    return kWide ? static_cast<D>(u64{1} << (8 * sizeof(D) - 1)) : D{0};
  }
  const double whole = to_integral(value, rounding);
  constexpr double kLow = static_cast<double>(std::numeric_limits<D>::min());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<D>::max());
  if (whole <= kLow) return std::numeric_limits<D>::min();
  if (whole >= kHigh) return std::numeric_limits<D>::max();
  return static_cast<D>(whole);
}

/// Integer to integer with .sat: clamped instead of cut off.
template <typename D, typename S>
inline D clamp_integer(S value) {
  using Big = __int128;
  const Big v = value, low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
  return static_cast<D>(v < low ? low : v > high ? high : v);
}

/// The suffixes of one cvt.
struct Conversion {
  program::Rounding rounding = program::Rounding::kNone;
  bool saturate = false;
  bool ftz = false;
  bool relu = false;
  bool finite = false;  ///< .satfinite
};

template <typename D, typename S>
inline D convert(S value, const Conversion& how) {
  using program::Rounding;
  if constexpr (!kIsFloat<S> && !kIsFloat<D>) {
    return how.saturate ? clamp_integer<D>(value) : static_cast<D>(value);
  } else if constexpr (!kIsFloat<D>) {
    double exact = as_double(value);
    if constexpr (std::is_same_v<S, float>) {
      if (how.ftz) exact = flush(value);
    }
    return clamp_to_integer<D, S>(exact, how.rounding);
  } else if constexpr (kIsHalf<D>) {
    double exact;
    if constexpr (kIsFloat<S>)
      exact = as_double(value);
    else
      exact = static_cast<double>(value);
    if (how.saturate && !how.finite) exact = MEMBOUND_ISA::saturate(exact);
    if (how.relu && !(exact > 0) && exact == exact) exact = 0;
    if constexpr (std::is_same_v<S, D>) {  // to an integral value of the same type
      if (how.rounding >= Rounding::kRni) exact = to_integral(exact, how.rounding);
    }
    using Format = std::conditional_t<std::is_same_v<D, Half>, HalfFormat, Bfloat16Format>;
    if constexpr (std::is_same_v<S, double>) {
      if (exact != exact) return static_cast<D>(narrow_nan<Format>(exact));
    }
    const Rounding rounding = how.rounding >= Rounding::kRni ? Rounding::kRn : how.rounding;
    return static_cast<D>(narrow_half<Format>(exact, rounding, how.finite));
  } else {
    D result;
    if constexpr (kIsFloat<S>) {
      double exact = as_double(value);
      if constexpr (std::is_same_v<S, float>) {
        if (how.ftz) exact = flush(canonical(value));
      }
      if constexpr (std::is_same_v<S, Bfloat16> && std::is_same_v<D, float>) {
        if (exact != exact) return widen_half<Bfloat16Format>(static_cast<u16>(value));
      }
      if constexpr (sizeof(S) == sizeof(D)) {
        if (how.rounding >= Rounding::kRni) exact = to_integral(exact, how.rounding);
      }
      result = sizeof(D) == 4 && (how.rounding == Rounding::kRz || how.rounding == Rounding::kRm ||
                                  how.rounding == Rounding::kRp)
                   ? directed<D>(exact, how.rounding)
                   : static_cast<D>(exact);
    } else {
      result = how.rounding == Rounding::kRn || how.rounding == Rounding::kNone
                   ? static_cast<D>(value)
                   : directed<D>(static_cast<long double>(value), how.rounding);
    }
    if (how.saturate) result = MEMBOUND_ISA::saturate(result);
    if constexpr (std::is_same_v<D, float>) {
      if (how.ftz) result = flush(result);
      if (how.relu && !(result > 0) && result == result) result = 0;
      // From double a NaN keeps what fits of its payload, and becomes quiet.
      return std::is_same_v<S, double> ? result : canonical(result);
    } else {
      return result;
    }
  }
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
