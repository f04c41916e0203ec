// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Integer arithmetic: add, sub, mul, mad, div, rem, min, max and the like.
#include "grader/vgpu/exec/lanes/lane_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Instruction;
using program::Opcode;
using ptx::ScalarType;

template <typename Op, typename T>
constexpr Handler kUnary = &unary<Op, T, T>;
template <typename Op, typename T>
constexpr Handler kBinary = &binary<Op, T, T, T>;
template <typename Op, typename T>
constexpr Handler kTernary = &ternary<Op, T, T, T, T>;

/// Calls `choose` with a value of the C++ type; b-types count as unsigned.
template <typename Choose>
Handler by_type(ScalarType type, Choose choose) {
  switch (type) {
    case ScalarType::kS16:
      return choose(i16{});
    case ScalarType::kU16:
    case ScalarType::kB16:
      return choose(u16{});
    case ScalarType::kS32:
      return choose(i32{});
    case ScalarType::kU32:
    case ScalarType::kB32:
      return choose(u32{});
    case ScalarType::kS64:
      return choose(i64{});
    case ScalarType::kU64:
    case ScalarType::kB64:
      return choose(u64{});
    default:
      return nullptr;
  }
}

Handler multiply(const Instruction& in) {
  return by_type(in.type, [&](auto t) -> Handler {
    using T = decltype(t);
    if (in.has(program::kWide)) {
      if constexpr (sizeof(T) < 8) return &binary<MulWide, Wide<T>, T, T>;
      return nullptr;
    }
    return in.has(program::kHi) ? kBinary<MulHi, T> : kBinary<MulLo, T>;
  });
}

Handler multiply_add(const Instruction& in) {
  if (in.has(program::kSat)) {
    return in.has(program::kHi) && in.type == ScalarType::kS32 ? kTernary<MadHiSat, i32> : nullptr;
  }
  return by_type(in.type, [&](auto t) -> Handler {
    using T = decltype(t);
    if (in.has(program::kWide)) {
      if constexpr (sizeof(T) < 8) return &ternary<MadWide, Wide<T>, T, T, Wide<T>>;
      return nullptr;
    }
    return in.has(program::kHi) ? kTernary<MadHi, T> : kTernary<MadLo, T>;
  });
}

template <template <bool> typename Op>
Handler multiply24(const Instruction& in, bool three) {
  return by_type(in.type, [&](auto t) -> Handler {
    using T = decltype(t);
    if constexpr (sizeof(T) == 4) {
      if constexpr (requires { Op<true>::template run<T>(T{}, T{}, T{}); }) {
        if (three) return in.has(program::kHi) ? kTernary<Op<true>, T> : kTernary<Op<false>, T>;
      } else {
        if (!three) return in.has(program::kHi) ? kBinary<Op<true>, T> : kBinary<Op<false>, T>;
      }
    }
    return nullptr;
  });
}

template <typename Op>
Handler integer_extreme(const Instruction& in) {
  return by_type(in.type, [&](auto t) -> Handler {
    using T = decltype(t);
    return in.has(program::kRelu) ? kBinary<Relu<Op>, T> : kBinary<Op, T>;
  });
}

template <typename Op>
Handler two(const Instruction& in) {
  return by_type(in.type, [](auto t) -> Handler { return kBinary<Op, decltype(t)>; });
}

template <typename Op>
Handler one_signed(const Instruction& in) {
  return by_type(in.type, [](auto t) -> Handler {
    using T = decltype(t);
    if constexpr (std::is_signed_v<T>) return kUnary<Op, T>;
    return nullptr;
  });
}

}  // namespace

Handler select_integer(const Instruction& in) {
  const bool saturate = in.has(program::kSat);
  switch (in.opcode) {
    case Opcode::kAdd:
      if (saturate) return in.type == ScalarType::kS32 ? kBinary<AddSat, i32> : nullptr;
      return two<Add>(in);
    case Opcode::kSub:
      if (saturate) return in.type == ScalarType::kS32 ? kBinary<SubSat, i32> : nullptr;
      return two<Sub>(in);
    case Opcode::kMul:
      return multiply(in);
    case Opcode::kMad:
      return multiply_add(in);
    case Opcode::kMul24:
      return multiply24<Mul24>(in, false);
    case Opcode::kMad24:
      return multiply24<Mad24>(in, true);
    case Opcode::kSad:
      return by_type(in.type, [](auto t) -> Handler { return kTernary<Sad, decltype(t)>; });
    case Opcode::kDiv:
      return two<Div>(in);
    case Opcode::kRem:
      return two<Rem>(in);
    case Opcode::kAbs:
      return one_signed<Abs>(in);
    case Opcode::kNeg:
      return one_signed<Neg>(in);
    case Opcode::kMin:
      return integer_extreme<Min>(in);
    case Opcode::kMax:
      return integer_extreme<Max>(in);
    default:
      return nullptr;
  }
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
