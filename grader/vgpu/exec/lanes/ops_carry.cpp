// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Additions, subtractions and products that hand a carry on: numbers wider than a register.
/// The carry flag is one bit a lane, kept in the warp.
#include "grader/vgpu/exec/lanes/lane_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Instruction;
using program::Opcode;

/// d = x + y + carry in, or x + ~y + carry in: after a subtraction the flag says that nothing was
/// borrowed, as the compiler's 128-bit division expects of an addc. It changes only with .cc.
template <typename T, bool kSubtract>
void add_with_carry(Warp& w, const Step* s, const T* x, const T* y, bool carry_in, bool carry_out) {
  alignas(32) T out[32];
  u32 carries = 0;
  for (int i = 0; i < 32; ++i) {
    const T in = carry_in ? static_cast<T>((w.carry >> i) & 1) : T{kSubtract};
    const T other = kSubtract ? static_cast<T>(~y[i]) : y[i];
    out[i] = x[i] + other + in;
    const bool carry = out[i] < x[i] || (in != 0 && out[i] == x[i]);
    carries |= static_cast<u32>(carry) << i;
  }
  if (carry_out) w.carry = (w.carry & ~w.mask) | (carries & w.mask);
  write_lanes(w, s->d, out);
}

template <typename T, bool kSubtract>
const Step* sum(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const bool carry_in = in.opcode == Opcode::kAddc || in.opcode == Opcode::kSubc;
  add_with_carry<T, kSubtract>(w, s, at<const T>(w, s->a), at<const T>(w, s->b), carry_in,
                               in.has(program::kCarryOut));
  return s + 1;
}

template <typename T, typename Signed>
const Step* product(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const T* a = at<const T>(w, s->a);
  const T* b = at<const T>(w, s->b);
  alignas(32) T products[32];
  for (int i = 0; i < 32; ++i) {
    const auto x = static_cast<Signed>(a[i]), y = static_cast<Signed>(b[i]);
    products[i] = in.has(program::kHi) ? static_cast<T>(MulHi::run(x, y)) : a[i] * b[i];
  }
  add_with_carry<T, false>(w, s, products, at<const T>(w, s->c), in.opcode == Opcode::kMadc,
                           in.has(program::kCarryOut));
  return s + 1;
}

}  // namespace

Handler select_carry(const Instruction& in) {
  const bool wide = ptx::size_bytes(in.type) == 8;
  const bool is_signed = in.type == ptx::ScalarType::kS32 || in.type == ptx::ScalarType::kS64;
  switch (in.opcode) {
    case Opcode::kAdd:
    case Opcode::kAddc:
      return wide ? &sum<u64, false> : &sum<u32, false>;
    case Opcode::kSub:
    case Opcode::kSubc:
      return wide ? &sum<u64, true> : &sum<u32, true>;
    case Opcode::kMad:
    case Opcode::kMadc:
      if (wide) return is_signed ? &product<u64, i64> : &product<u64, u64>;
      return is_signed ? &product<u32, i32> : &product<u32, u32>;
    default:
      return nullptr;
  }
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
