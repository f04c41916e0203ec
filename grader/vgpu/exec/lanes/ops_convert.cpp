// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// cvt: between all integer and float types, and two floats packed into 16-bit halves.
#include "grader/vgpu/exec/lanes/convert_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

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

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
