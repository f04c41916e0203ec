// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Logic, shifts, bit fields, byte permutations and dot products.
#include <array>
#include <utility>

#include "grader/vgpu/exec/lanes/integer_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Instruction;
using program::Opcode;
using ptx::ScalarType;

/// Unsigned type of the instruction's width.
template <typename Choose>
Handler by_width(ScalarType type, Choose choose) {
  switch (ptx::size_bytes(type)) {
    case 2:
      return choose(u16{});
    case 4:
      return choose(u32{});
    case 8:
      return choose(u64{});
    default:
      return nullptr;
  }
}

bool is_signed(ScalarType type) {
  return type == ScalarType::kS16 || type == ScalarType::kS32 || type == ScalarType::kS64;
}

template <typename Op>
Handler bitwise(const Instruction& in) {
  return by_width(in.type, [](auto t) -> Handler {
    using T = decltype(t);
    return &binary<Op, T, T, T>;
  });
}

template <typename Op>
Handler bitwise_one(const Instruction& in) {
  return by_width(in.type, [](auto t) -> Handler {
    using T = decltype(t);
    return &unary<Op, T, T>;
  });
}

template <typename Op>
Handler counted(const Instruction& in) {
  return by_width(in.type, [](auto t) -> Handler {
    using T = decltype(t);
    if constexpr (sizeof(T) >= 4) return &unary<Op, u32, T>;
    return nullptr;
  });
}

/// Predicates are lane masks: one operation for all lanes.
template <typename Op>
const Step* predicate_logic(Warp& w, const Step* s) {
  set_predicate(w, s->d, Op::run(predicate(w, s->a), predicate(w, s->b)));
  return s + 1;
}
const Step* predicate_not(Warp& w, const Step* s) {
  set_predicate(w, s->d, ~predicate(w, s->a));
  return s + 1;
}

const Step* lop3(Warp& w, const Step* s) {
  const u32 table = s->lop3.table;
  std::array<u32, 8> row;
  for (u32 k = 0; k < 8; ++k) row[k] = (table >> k) & 1 ? ~0u : 0u;
  const u32* a = at<const u32>(w, s->a);
  const u32* b = at<const u32>(w, s->b);
  const u32* c = at<const u32>(w, s->c);
  alignas(32) u32 out[32];
  MEMBOUND_LANES {
    const u32 x = a[i], y = b[i], z = c[i];
    out[i] = (row[0] & ~x & ~y & ~z) | (row[1] & ~x & ~y & z) | (row[2] & ~x & y & ~z) |
             (row[3] & ~x & y & z) | (row[4] & x & ~y & ~z) | (row[5] & x & ~y & z) |
             (row[6] & x & y & ~z) | (row[7] & x & y & z);
  }
  write_lanes(w, s->d, out);
  return s + 1;
}

template <typename T>
const Step* bit_field_insert(Warp& w, const Step* s) {
  const auto* a = at<const WordOf<T>>(w, s->a);
  const auto* b = at<const WordOf<T>>(w, s->b);
  const u32* c = at<const u32>(w, s->c);
  const u32* e = at<const u32>(w, s->extra->s[3]);
  alignas(32) WordOf<T> out[32];
  for (int i = 0; i < 32; ++i) out[i] = Bfi::run<T>(a[i], b[i], c[i], e[i]);
  write_lanes(w, s->d, out);
  return s + 1;
}

Handler shift(const Instruction& in) {
  return by_width(in.type, [&](auto t) -> Handler {
    using T = decltype(t);
    using S = std::make_signed_t<T>;
    if (in.opcode == Opcode::kShl) return &binary<Shl, T, T, u32>;
    return is_signed(in.type) ? &binary<Shr, S, S, u32> : &binary<Shr, T, T, u32>;
  });
}

Handler funnel(const Instruction& in) {
  const bool left = in.has(program::kLeft), wrap = in.has(program::kWrap);
  if (left)
    return wrap ? &ternary<Shf<true, true>, u32, u32, u32, u32>
                : &ternary<Shf<true, false>, u32, u32, u32, u32>;
  return wrap ? &ternary<Shf<false, true>, u32, u32, u32, u32>
              : &ternary<Shf<false, false>, u32, u32, u32, u32>;
}

template <bool kShift>
Handler bfind(const Instruction& in) {
  return by_width(in.type, [&](auto t) -> Handler {
    using T = decltype(t);
    using S = std::make_signed_t<T>;
    if constexpr (sizeof(T) < 4) return nullptr;
    return is_signed(in.type) ? &unary<Bfind<kShift>, u32, S> : &unary<Bfind<kShift>, u32, T>;
  });
}

Handler bit_field_extract(const Instruction& in) {
  return by_width(in.type, [&](auto t) -> Handler {
    using T = decltype(t);
    using S = std::make_signed_t<T>;
    if constexpr (sizeof(T) < 4) return nullptr;
    return is_signed(in.type) ? &ternary<Bfe, S, S, u32, u32> : &ternary<Bfe, T, T, u32, u32>;
  });
}

template <template <typename, typename> typename Op>
Handler dot4(const Instruction& in) {
  const bool a = is_signed(in.type), b = is_signed(in.type2);
  if (a)
    return b ? &ternary<Op<i8, i8>, u32, u32, u32, u32> : &ternary<Op<i8, u8>, u32, u32, u32, u32>;
  return b ? &ternary<Op<u8, i8>, u32, u32, u32, u32> : &ternary<Op<u8, u8>, u32, u32, u32, u32>;
}

template <bool kHigh>
Handler dot2(const Instruction& in) {
  const bool a = is_signed(in.type), b = is_signed(in.type2);
  if (a)
    return b ? &ternary<Dp2a<i16, i8, kHigh>, u32, u32, u32, u32>
             : &ternary<Dp2a<i16, u8, kHigh>, u32, u32, u32, u32>;
  return b ? &ternary<Dp2a<u16, i8, kHigh>, u32, u32, u32, u32>
           : &ternary<Dp2a<u16, u8, kHigh>, u32, u32, u32, u32>;
}

template <int... kModes>
Handler permute(int mode, std::integer_sequence<int, kModes...>) {
  Handler found = nullptr;
  ((mode == kModes ? (found = &ternary<Prmt<kModes>, u32, u32, u32, u32>, 0) : 0), ...);
  return found;
}

Handler logic(const Instruction& in) {
  const bool on_predicates = in.type == ScalarType::kPred;
  switch (in.opcode) {
    case Opcode::kAnd:
      return on_predicates ? &predicate_logic<And> : bitwise<And>(in);
    case Opcode::kOr:
      return on_predicates ? &predicate_logic<Or> : bitwise<Or>(in);
    case Opcode::kXor:
      return on_predicates ? &predicate_logic<Xor> : bitwise<Xor>(in);
    case Opcode::kNot:
      return on_predicates ? &predicate_not : bitwise_one<Not>(in);
    case Opcode::kCnot:
      return bitwise_one<Cnot>(in);
    case Opcode::kLop3:
      return in.type == ScalarType::kB32 ? &lop3 : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

Handler select_bits(const Instruction& in) {
  if (const Handler handler = logic(in)) return handler;
  const bool wrap = in.has(program::kWrap);
  switch (in.opcode) {
    case Opcode::kShl:
    case Opcode::kShr:
      return shift(in);
    case Opcode::kShf:
      return funnel(in);
    case Opcode::kPopc:
      return counted<Popc>(in);
    case Opcode::kClz:
      return counted<Clz>(in);
    case Opcode::kBrev:
      return bitwise_one<Brev>(in);
    case Opcode::kBfind:
      return in.has(program::kShiftAmt) ? bfind<true>(in) : bfind<false>(in);
    case Opcode::kBfe:
      return bit_field_extract(in);
    case Opcode::kBfi:
      return ptx::size_bytes(in.type) == 8 ? &bit_field_insert<u64> : &bit_field_insert<u32>;
    case Opcode::kBmsk:
      return wrap ? &binary<Bmsk<true>, u32, u32, u32> : &binary<Bmsk<false>, u32, u32, u32>;
    case Opcode::kSzext:
      if (is_signed(in.type))
        return wrap ? &binary<Szext<true>, i32, i32, u32> : &binary<Szext<false>, i32, i32, u32>;
      return wrap ? &binary<Szext<true>, u32, u32, u32> : &binary<Szext<false>, u32, u32, u32>;
    case Opcode::kFns:
      return &ternary<Fns, u32, u32, u32, u32>;
    case Opcode::kDp4a:
      return dot4<Dp4a>(in);
    case Opcode::kDp2a:
      return in.has(program::kHi) ? dot2<true>(in) : dot2<false>(in);
    case Opcode::kPrmt:
      return permute(static_cast<int>(in.as<program::Permutation>().mode),
                     std::make_integer_sequence<int, 7>{});
    default:
      return nullptr;
  }
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
