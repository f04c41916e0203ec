// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arithmetic rounded to nearest: single and double precision, half precision and bfloat16, the
/// latter two also in pairs.
#include "grader/vgpu/exec/lanes/float_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Instruction;
using program::Opcode;
using ptx::ScalarType;

/// Picks the variant for .ftz and .sat; double precision has neither.
template <template <typename, typename...> typename Shape, typename Op>
Handler suffixed(const Instruction& in) {
  if (in.type == ScalarType::kF64) return Shape<Suffixed<Op, false, false>, double>::kHandler;
  if (in.type != ScalarType::kF32) return nullptr;
  const bool ftz = in.has(program::kFtz), sat = in.has(program::kSat);
  if (ftz)
    return sat ? Shape<Suffixed<Op, true, true>, float>::kHandler
               : Shape<Suffixed<Op, true, false>, float>::kHandler;
  return sat ? Shape<Suffixed<Op, false, true>, float>::kHandler
             : Shape<Suffixed<Op, false, false>, float>::kHandler;
}

template <typename Op, typename F>
struct One {
  static constexpr Handler kHandler = &unary<Op, F, F>;
};
template <typename Op, typename F>
struct Two {
  static constexpr Handler kHandler = &binary<Op, F, F, F>;
};
template <typename Op, typename F>
struct Three {
  static constexpr Handler kHandler = &ternary<Op, F, F, F, F>;
};

/// Single precision only.
template <typename Op>
Handler function(const Instruction& in) {
  if (in.type != ScalarType::kF32) return nullptr;
  return in.has(program::kFtz) ? &unary<Suffixed<Op, true, false>, float, float>
                               : &unary<Suffixed<Op, false, false>, float, float>;
}

template <typename Op>
Handler extreme(const Instruction& in) {
  if (in.type == ScalarType::kF64) return &binary<Op, double, double, double>;
  const bool ftz = in.has(program::kFtz), nan = in.has(program::kNanFlag);
  if (in.has(program::kXorSign)) {
    return nan ? &binary<FXorSign<FNanWins<Op>>, float, float, float>
               : &binary<FXorSign<Op>, float, float, float>;
  }
  if (nan)
    return ftz ? &binary<Suffixed<FNanWins<Op>, true, false>, float, float, float>
               : &binary<FNanWins<Op>, float, float, float>;
  return ftz ? &binary<Suffixed<Op, true, false>, float, float, float>
             : &binary<Op, float, float, float>;
}

/// In single precision a NaN becomes the one that arithmetic returns.
template <typename Op>
Handler sign_change(const Instruction& in) {
  if (in.type == ScalarType::kF64) return &unary<Op, double, double>;
  return in.has(program::kFtz) ? &unary<Suffixed<Op, true, false>, float, float>
                               : &unary<Suffixed<Op, false, false>, float, float>;
}

bool to_nearest(const Instruction& in) {
  return in.rounding == program::Rounding::kNone || in.rounding == program::Rounding::kRn;
}

}  // namespace

Handler select_float(const Instruction& in) {
  if (in.type != ScalarType::kF32 && in.type != ScalarType::kF64) return nullptr;
  if (!to_nearest(in)) return nullptr;
  switch (in.opcode) {
    case Opcode::kAdd:
      return suffixed<Two, FAdd>(in);
    case Opcode::kSub:
      return suffixed<Two, FSub>(in);
    case Opcode::kMul:
      return suffixed<Two, FMul>(in);
    case Opcode::kDiv:
      if (in.type == ScalarType::kF32 && in.has(program::kApprox)) {
        return in.has(program::kFtz)
                   ? &binary<Suffixed<FDivApprox, true, false>, float, float, float>
                   : &binary<Suffixed<FDivApprox, false, false>, float, float, float>;
      }
      return suffixed<Two, FDiv>(in);
    case Opcode::kFma:
    case Opcode::kMad:
      return suffixed<Three, FFma>(in);
    case Opcode::kSqrt:
      return suffixed<One, FSqrt>(in);
    case Opcode::kRcp:
      if (in.type == ScalarType::kF64 && in.has(program::kApprox))
        return &unary<FRcpDouble, double, double>;
      return suffixed<One, FRcp>(in);
    case Opcode::kRsqrt:
      return suffixed<One, FRsqrt>(in);
    case Opcode::kSin:
      return function<FSin>(in);
    case Opcode::kCos:
      return function<FCos>(in);
    case Opcode::kLg2:
      return function<FLg2>(in);
    case Opcode::kEx2:
      return function<FEx2>(in);
    case Opcode::kTanh:
      return function<FTanh>(in);
    case Opcode::kMin:
      return extreme<FMin>(in);
    case Opcode::kMax:
      return extreme<FMax>(in);
    case Opcode::kAbs:
      return sign_change<FAbs>(in);
    case Opcode::kNeg:
      return sign_change<FNeg>(in);
    case Opcode::kCopysign:
      return in.type == ScalarType::kF64 ? &binary<FCopysign, double, double, double>
                                         : &binary<FCopysign, float, float, float>;
    default:
      return nullptr;
  }
}

namespace {

using program::Combine;
using program::Comparison;

/// a + b in double, inexact results made odd, so that rounding once more to a half is right.
double add_to_odd(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  const double error = (a - (sum - part)) + (b - part);
  const u64 bits = std::bit_cast<u64>(sum);
  if (error == 0 || error != error || (bits & 1) != 0) return sum;
  const bool away = (error > 0) == (sum > 0);
  return std::bit_cast<double>(away ? bits | 1 : bits - 1);
}

template <typename Format>
u16 arithmetic(const Instruction& in, u16 a, u16 b, u16 c) {
  constexpr u16 kMagnitude = 0x7FFF;
  constexpr u16 kExponent = ((1u << Format::kExponentBits) - 1) << Format::kMantissaBits;
  if (in.opcode == Opcode::kNeg || in.opcode == Opcode::kAbs) {
    if ((a & kMagnitude) > kExponent) return Format::kNan;
    return static_cast<u16>(in.opcode == Opcode::kNeg ? a ^ 0x8000 : a & kMagnitude);
  }
  if (in.has(program::kXorSign)) {  // of the magnitudes, with the product's sign
    Instruction plain = in;
    plain.flags &= ~static_cast<decltype(plain.flags)>(program::kXorSign);
    const u16 chosen = arithmetic<Format>(plain, a & kMagnitude, b & kMagnitude, c);
    const bool nan = (chosen & kMagnitude) > kExponent;
    return nan ? chosen : static_cast<u16>(chosen | ((a ^ b) & 0x8000));
  }
  const auto read = [&](u16 bits) {
    const float value = widen_half<Format>(bits);
    return in.has(program::kFtz) && (bits & kExponent) == 0 ? std::copysign(0.0f, value) : value;
  };
  const float x = read(a), y = read(b), z = read(c);
  double result = 0;
  switch (in.opcode) {
    case Opcode::kAdd:
      result = add_to_odd(x, y);
      break;
    case Opcode::kSub:
      result = add_to_odd(x, -double{y});
      break;
    case Opcode::kMul:
      result = double{x} * y;
      break;
    case Opcode::kFma:
      result = add_to_odd(double{x} * y, z);
      break;
    case Opcode::kMin:
    case Opcode::kMax: {
      const float r = in.opcode == Opcode::kMin ? FMin::run(x, y) : FMax::run(x, y);
      const bool nan = in.has(program::kNanFlag) && (x != x || y != y);
      result = nan ? std::numeric_limits<double>::quiet_NaN() : r;
      break;
    }
    case Opcode::kEx2:
      result = std::exp2(double{x});
      break;
    case Opcode::kTanh:
      result = std::tanh(double{x});
      break;
    default:
      break;
  }
  if (in.has(program::kSat)) result = saturate(result);
  if (in.has(program::kRelu) && result == result && !(result > 0)) result = 0;
  return nearest_half<Format>(result);
}

template <typename Format, bool kPair>
const Step* compute(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const u32* a = at<const u32>(w, s->a);
  const u32* b = at<const u32>(w, s->b);
  const u32* c = at<const u32>(w, s->c);
  alignas(32) u32 out[32];
  for (int i = 0; i < 32; ++i) {
    const auto half = [&](int shift) -> u32 {
      return arithmetic<Format>(in, static_cast<u16>(a[i] >> shift),
                                static_cast<u16>(b[i] >> shift), static_cast<u16>(c[i] >> shift));
    };
    out[i] = kPair ? half(0) | half(16) << 16 : half(0);
  }
  write_lanes(w, s->d, out);
  return s + 1;
}

bool holds(Comparison comparison, float a, float b) {
  const bool nan = a != a || b != b;
  switch (comparison) {
    case Comparison::kEq:
      return a == b;
    case Comparison::kNe:
      return a < b || a > b;
    case Comparison::kLt:
      return a < b;
    case Comparison::kLe:
      return a <= b;
    case Comparison::kGt:
      return a > b;
    case Comparison::kGe:
      return a >= b;
    case Comparison::kEqu:
      return nan || a == b;
    case Comparison::kNeu:
      return !(a == b);
    case Comparison::kLtu:
      return nan || a < b;
    case Comparison::kLeu:
      return nan || a <= b;
    case Comparison::kGtu:
      return nan || a > b;
    case Comparison::kGeu:
      return nan || a >= b;
    case Comparison::kNum:
      return !nan;
    case Comparison::kNan:
      return nan;
    default:
      return false;
  }
}

template <typename Format>
u32 compare_halves(const Warp& w, const Step* s, int shift) {
  const u32* a = at<const u32>(w, s->a);
  const u32* b = at<const u32>(w, s->b);
  const Comparison how = s->extra->in->as<program::Compare>().comparison;
  u32 hit = 0;
  for (int i = 0; i < 32; ++i) {
    const float x = widen_half<Format>(static_cast<u16>(a[i] >> shift));
    const float y = widen_half<Format>(static_cast<u16>(b[i] >> shift));
    hit |= static_cast<u32>(holds(how, x, y)) << i;
  }
  const Combine combine = s->compare.combine;
  if (combine == Combine::kNone) return hit;
  const u32 c = predicate(w, s->c);
  return combine == Combine::kAnd ? hit & c : combine == Combine::kOr ? hit | c : hit ^ c;
}

template <typename Format, bool kPair>
const Step* set_half_predicates(Warp& w, const Step* s) {
  const u32 low = compare_halves<Format>(w, s, 0);
  const u32 second = kPair ? compare_halves<Format>(w, s, 16) : ~low;
  set_predicate(w, s->d, low);
  if (s->compare.has_second) set_predicate(w, s->extra->d[1], second);
  return s + 1;
}

template <typename Format, bool kPair>
const Step* set_numbers(Warp& w, const Step* s) {
  const ScalarType type = s->extra->in->type;
  const bool as_float = type == ScalarType::kF16 || type == ScalarType::kF16x2 ||
                        type == ScalarType::kBf16 || type == ScalarType::kBf16x2;
  const bool word = type == ScalarType::kU32 || type == ScalarType::kS32;
  const u32 one = as_float ? nearest_half<Format>(1.0) : word && !kPair ? 0xFFFFFFFFu : 0xFFFFu;
  const u32 low = compare_halves<Format>(w, s, 0);
  const u32 high = kPair ? compare_halves<Format>(w, s, 16) : 0;
  alignas(32) u32 out[32];
  for (int i = 0; i < 32; ++i)
    out[i] = ((low >> i) & 1 ? one : 0) | (kPair && (high >> i) & 1 ? one << 16 : 0);
  write_lanes(w, s->d, out);
  return s + 1;
}

template <typename Format, bool kPair>
Handler by_opcode(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kFma:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kNeg:
    case Opcode::kAbs:
    case Opcode::kEx2:
    case Opcode::kTanh:
      return &compute<Format, kPair>;
    case Opcode::kSetp:
      return &set_half_predicates<Format, kPair>;
    case Opcode::kSet:
      return &set_numbers<Format, kPair>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler select_half(const Instruction& in) {
  switch (in.opcode == Opcode::kSet ? in.type2 : in.type) {
    case ScalarType::kF16:
      return by_opcode<HalfFormat, false>(in);
    case ScalarType::kF16x2:
      return by_opcode<HalfFormat, true>(in);
    case ScalarType::kBf16:
      return by_opcode<Bfloat16Format, false>(in);
    case ScalarType::kBf16x2:
      return by_opcode<Bfloat16Format, true>(in);
    default:
      return nullptr;
  }
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
