// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Two 16-bit integers in one register: what DPX intrinsics become.
#include "grader/vgpu/exec/lanes/lane_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Instruction;
using program::Opcode;

/// Op on the low and on the high halves, as type T.
template <typename Op, typename T>
struct Halves {
  static u32 run(u32 a, u32 b) {
    const u32 low = static_cast<u16>(Op::run(static_cast<T>(a), static_cast<T>(b)));
    const u32 high = static_cast<u16>(Op::run(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
    return low | high << 16;
  }
};

template <typename Op>
Handler halves(const Instruction& in) {
  const bool relu = in.has(program::kRelu);
  if (in.as<program::Arithmetic>().halves == program::Halves::kUnsigned)
    return &binary<Halves<Op, u16>, u32, u32, u32>;
  return relu ? &binary<Halves<Relu<Op>, i16>, u32, u32, u32>
              : &binary<Halves<Op, i16>, u32, u32, u32>;
}

}  // namespace

Handler select_packed(const Instruction& in) {
  if (in.as<program::Arithmetic>().halves == program::Halves::kNone) return nullptr;
  switch (in.opcode) {
    case Opcode::kAdd:
      return halves<Add>(in);
    case Opcode::kSub:
      return halves<Sub>(in);
    case Opcode::kMin:
      return halves<Min>(in);
    case Opcode::kMax:
      return halves<Max>(in);
    default:
      return nullptr;
  }
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
