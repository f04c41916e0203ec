// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// cvt of two eight-bit floats at once, and cvt.pack, which saturates two integers into one word.
#include "grader/vgpu/exec/lanes/half_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/lanes/small_float_math.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Instruction;
using program::Opcode;
using ptx::ScalarType;

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
