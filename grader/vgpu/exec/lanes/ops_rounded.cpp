// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arithmetic rounded towards zero, down or up. The processor's rounding mode is switched for the
/// 32 lanes of one instruction; this file is compiled with -frounding-math.
#include <cfenv>

#include "grader/vgpu/exec/lanes/float_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Instruction;
using program::Opcode;
using program::Rounding;

class RoundingMode {
 public:
  explicit RoundingMode(Rounding rounding) : before_(std::fegetround()) {
    std::fesetround(rounding == Rounding::kRz   ? FE_TOWARDZERO
                    : rounding == Rounding::kRm ? FE_DOWNWARD
                                                : FE_UPWARD);
  }
  ~RoundingMode() { std::fesetround(before_); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  int before_;
};

template <typename F>
F operate(Opcode opcode, F a, F b, F c) {
  switch (opcode) {
    case Opcode::kAdd:
      return computed(a + b, a, b);
    case Opcode::kSub:
      return computed(a - b, a, b);
    case Opcode::kMul:
      return computed(a * b, a, b);
    case Opcode::kDiv:
      return computed(a / b, a, b);
    case Opcode::kRcp:
      return F{1} / a;
    case Opcode::kSqrt:
      return FSqrt::run(a);
    default:
      return FFma::run(a, b, c);
  }
}

template <typename F>
const Step* rounded(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const auto* a = at<const F>(w, s->a);
  const auto* b = at<const F>(w, s->b);
  const auto* c = at<const F>(w, s->c);
  const auto operand = [&](F value) {
    if constexpr (sizeof(F) == 4) {
      if (in.has(program::kFtz)) return flush(value);
    }
    return value;
  };
  volatile F out[32];  // keeps the computation between the switches
  {
    const RoundingMode mode(in.rounding);
    for (int i = 0; i < 32; ++i) {
      volatile F x = operand(a[i]), y = operand(b[i]), z = operand(c[i]);
      out[i] = operate<F>(in.opcode, x, y, z);
    }
  }
  alignas(32) WordOf<F> words[32];
  for (int i = 0; i < 32; ++i) {
    F value = canonical(static_cast<F>(out[i]));
    if constexpr (sizeof(F) == 4) {
      if (in.has(program::kFtz)) value = flush(value);
    }
    if (in.has(program::kSat)) value = saturate(value);
    words[i] = to_word<F>(value);
  }
  write_lanes(w, s->d, words);
  return s + 1;
}

}  // namespace

Handler select_rounded(const Instruction& in) {
  if (in.rounding != Rounding::kRz && in.rounding != Rounding::kRm && in.rounding != Rounding::kRp)
    return nullptr;
  switch (in.opcode) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kDiv:
    case Opcode::kRcp:
    case Opcode::kSqrt:
    case Opcode::kFma:
    case Opcode::kMad:
      break;
    default:
      return nullptr;
  }
  if (in.type == ptx::ScalarType::kF64) return &rounded<double>;
  return in.type == ptx::ScalarType::kF32 ? &rounded<float> : nullptr;
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
