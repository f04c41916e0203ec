// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Single and double precision arithmetic, rounded to nearest.
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

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
