// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// cvt: between all integer and float types with every rounding and saturation; two floats packed
/// into 16-bit halves; two eight-bit floats at once; and cvt.pack, which saturates two integers
/// into one word. Source: PTX ISA 9.0, "Data Movement and Conversion Instructions: cvt".
#include <cmath>

#include "grader/vgpu/exec/lanes/float_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

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

using program::Instruction;
using program::Opcode;
using program::Rounding;
using ptx::ScalarType;

/// The low bits of a register word as T. Sources may sit in wider registers.
template <typename T, typename Word>
T read_as(Word word) {
  if constexpr (kIsHalf<T>)
    return static_cast<T>(static_cast<u16>(word));
  else if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<T>(static_cast<WordOf<T>>(word));
  else
    return static_cast<T>(word);
}

/// T as a register word; integers are widened by their sign.
template <typename T, typename Word>
Word write_as(T value) {
  if constexpr (kIsHalf<T>)
    return static_cast<u16>(value);
  else if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<WordOf<T>>(value);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<Word>(static_cast<std::make_signed_t<Word>>(value));
  else
    return static_cast<Word>(value);
}

Conversion suffixes_of(const Instruction& in) {
  return {in.rounding, in.has(program::kSat), in.has(program::kFtz), in.has(program::kRelu),
          in.mnemonic.find(".satfinite") != std::string_view::npos};
}

template <typename D, typename S, typename DWord, typename SWord>
const Step* convert_lanes(Warp& w, const Step* s) {
  const auto* a = at<const SWord>(w, s->a);
  alignas(32) DWord out[32];
  const Instruction& in = *s->extra->in;
  // The two commonest cases, in a form the compiler can vectorise.
  if (!kIsFloat<D> && !kIsFloat<S> && !in.has(program::kSat)) {
    MEMBOUND_LANES out[i] = write_as<D, DWord>(convert<D, S>(read_as<S>(a[i]), Conversion{}));
  } else {
    const Conversion how = suffixes_of(in);
    for (int i = 0; i < 32; ++i) out[i] = write_as<D, DWord>(convert<D, S>(read_as<S>(a[i]), how));
  }
  write_lanes(w, s->d, out);
  return s + 1;
}

template <typename D, typename S>
Handler by_registers(const Instruction& in) {
  // A float sits in a register of its own size; integers may sit in wider ones.
  constexpr bool kWideD = sizeof(D) == 8, kWideS = sizeof(S) == 8;
  const bool d64 = in.d_slots == 2, s64 = in.s_slots == 2;
  if constexpr (!kWideD && !kWideS) {
    if (!d64 && !s64) return &convert_lanes<D, S, u32, u32>;
  }
  if constexpr (!kWideD) {
    if (!d64 && s64) return &convert_lanes<D, S, u32, u64>;
  }
  if constexpr (!kWideS && (kWideD || !kIsFloat<D>)) {
    if (d64 && !s64) return &convert_lanes<D, S, u64, u32>;
  }
  if constexpr (kWideD || !kIsFloat<D>) {
    if (d64 && s64) return &convert_lanes<D, S, u64, u64>;
  }
  return nullptr;
}

template <typename D>
Handler by_source(const Instruction& in) {
  switch (in.type2) {
    case ScalarType::kS8:
      return by_registers<D, i8>(in);
    case ScalarType::kU8:
      return by_registers<D, u8>(in);
    case ScalarType::kS16:
      return by_registers<D, i16>(in);
    case ScalarType::kU16:
      return by_registers<D, u16>(in);
    case ScalarType::kS32:
      return by_registers<D, i32>(in);
    case ScalarType::kU32:
      return by_registers<D, u32>(in);
    case ScalarType::kS64:
      return by_registers<D, i64>(in);
    case ScalarType::kU64:
      return by_registers<D, u64>(in);
    case ScalarType::kF16:
      return by_registers<D, Half>(in);
    case ScalarType::kBf16:
      return by_registers<D, Bfloat16>(in);
    case ScalarType::kF32:
      return by_registers<D, float>(in);
    case ScalarType::kF64:
      return by_registers<D, double>(in);
    default:
      return nullptr;
  }
}

/// Two floats into the halves of one word; the first operand goes to the upper half.
template <typename D>
const Step* convert_pair(Warp& w, const Step* s) {
  const auto* a = at<const float>(w, s->a);
  const auto* b = at<const float>(w, s->b);
  const Conversion how = suffixes_of(*s->extra->in);
  alignas(32) u32 out[32];
  for (int i = 0; i < 32; ++i) {
    const u32 high = static_cast<u16>(convert<D, float>(a[i], how));
    const u32 low = static_cast<u16>(convert<D, float>(b[i], how));
    out[i] = high << 16 | low;
  }
  write_lanes(w, s->d, out);
  return s + 1;
}

/// tf32: a float whose lower 13 mantissa bits are rounded away.
const Step* convert_tf32(Warp& w, const Step* s) {
  const auto* a = at<const u32>(w, s->a);
  const Rounding rounding = s->extra->in->rounding;
  alignas(32) u32 out[32];
  for (int i = 0; i < 32; ++i) {
    const u32 add = rounding == Rounding::kRz   ? 0
                    : rounding == Rounding::kRn ? 0xFFFu + ((a[i] >> 13) & 1)
                                                : 0x1000u;
    out[i] = (a[i] + add) & ~0x1FFFu;  // a NaN is rounded like a number, and may become infinite
  }
  write_lanes(w, s->d, out);
  return s + 1;
}

}  // namespace

Handler select_convert(const Instruction& in) {
  switch (in.type) {
    case ScalarType::kS8:
      return by_source<i8>(in);
    case ScalarType::kU8:
      return by_source<u8>(in);
    case ScalarType::kS16:
      return by_source<i16>(in);
    case ScalarType::kU16:
      return by_source<u16>(in);
    case ScalarType::kS32:
      return by_source<i32>(in);
    case ScalarType::kU32:
      return by_source<u32>(in);
    case ScalarType::kS64:
      return by_source<i64>(in);
    case ScalarType::kU64:
      return by_source<u64>(in);
    case ScalarType::kF16:
      return by_source<Half>(in);
    case ScalarType::kBf16:
      return by_source<Bfloat16>(in);
    case ScalarType::kF32:
      return by_source<float>(in);
    case ScalarType::kF64:
      return by_source<double>(in);
    case ScalarType::kF16x2:
      return in.type2 == ScalarType::kF32 ? &convert_pair<Half> : nullptr;
    case ScalarType::kBf16x2:
      return in.type2 == ScalarType::kF32 ? &convert_pair<Bfloat16> : nullptr;
    case ScalarType::kTf32:
      return in.type2 == ScalarType::kF32 ? &convert_tf32 : nullptr;
    default:
      return nullptr;
  }
}

namespace {

/// Two floats; the first operand goes to the upper byte.
template <typename Format>
const Step* narrow_floats(Warp& w, const Step* s) {
  const auto* a = at<const float>(w, s->a);
  const auto* b = at<const float>(w, s->b);
  const bool relu = s->extra->in->has(program::kRelu);
  alignas(32) u32 out[32];
  for (int i = 0; i < 32; ++i) {
    const u32 high = narrow_small<Format>(double{a[i]}, relu);
    out[i] = high << 8 | narrow_small<Format>(double{b[i]}, relu);
  }
  write_lanes(w, s->d, out);
  return s + 1;
}

/// Two halves of a word.
template <typename Format>
const Step* narrow_halves(Warp& w, const Step* s) {
  const auto* a = at<const u32>(w, s->a);
  const bool relu = s->extra->in->has(program::kRelu);
  const auto half = [&](u32 bits) {
    return narrow_small<Format>(double{widen_half<HalfFormat>(static_cast<u16>(bits))}, relu);
  };
  alignas(32) u32 out[32];
  for (int i = 0; i < 32; ++i) out[i] = half(a[i] >> 16) << 8 | half(a[i]);
  write_lanes(w, s->d, out);
  return s + 1;
}

template <typename Format>
const Step* widen_halves(Warp& w, const Step* s) {
  const auto* a = at<const u32>(w, s->a);
  const bool relu = s->extra->in->has(program::kRelu);
  const auto half = [&](u32 bits) -> u32 {
    const double value = widen_small<Format>(bits);
    return relu && std::signbit(value) && value == value ? 0 : nearest_half<HalfFormat>(value);
  };
  alignas(32) u32 out[32];
  for (int i = 0; i < 32; ++i) out[i] = half((a[i] >> 8) & 0xFF) << 16 | half(a[i] & 0xFF);
  write_lanes(w, s->d, out);
  return s + 1;
}

template <typename Format>
Handler narrow(const Instruction& in) {
  if (in.type2 == ScalarType::kF32) return &narrow_floats<Format>;
  return in.type2 == ScalarType::kF16x2 ? &narrow_halves<Format> : nullptr;
}

/// cvt.pack: `a` above `b`, each clamped to `bits` bits; what of `c` finds room lies above them.
const Step* pack_small(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const auto* a = at<const i32>(w, s->a);
  const auto* b = at<const i32>(w, s->b);
  const u32* const c = in.s[2] ? at<const u32>(w, s->c) : nullptr;
  const u32 bits = in.as<program::Packing>().part_bits;
  const bool is_signed = in.as<program::Packing>().is_signed;
  const i32 low = is_signed ? -(1 << (bits - 1)) : 0;
  const i32 high = (1 << (is_signed ? bits - 1 : bits)) - 1;
  const u32 mask = (1u << bits) - 1;
  const auto clamp = [&](i32 v) {
    return static_cast<u32>(v < low ? low : v > high ? high : v) & mask;
  };
  alignas(32) u32 out[32];
  for (int i = 0; i < 32; ++i) {
    const u32 pair = clamp(a[i]) << bits | clamp(b[i]);
    out[i] = c == nullptr || bits == 16 ? pair : c[i] << (2 * bits) | pair;
  }
  write_lanes(w, s->d, out);
  return s + 1;
}

}  // namespace

Handler select_small_float(const Instruction& in) {
  if (const auto& packing = in.as<program::Packing>(); packing.packs)
    return in.has(program::kSat) && packing.part_bits != 0 ? &pack_small : nullptr;
  if (in.type == ScalarType::kE4m3x2) return narrow<E4m3>(in);
  if (in.type == ScalarType::kE5m2x2) return narrow<E5m2>(in);
  if (in.type != ScalarType::kF16x2) return nullptr;
  if (in.type2 == ScalarType::kE4m3x2) return &widen_halves<E4m3>;
  return in.type2 == ScalarType::kE5m2x2 ? &widen_halves<E5m2> : nullptr;
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
