// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: integer arithmetic, one instruction per case (PTX ISA 9.0, "Integer Arithmetic" and
/// "Extended-Precision Integer Arithmetic").
#include "grader/gpu_truth/conformance/conformance.cuh"

OP2(add_u16, "add.u16", U16, U16, U16)
OP2(add_s32, "add.s32", U32, U32, U32)
OP2(add_sat_s32, "add.sat.s32", U32, U32, U32)
OP2(add_s64, "add.s64", U64, U64, U64)
OP2(add_u16x2, "add.u16x2", U32, S16X2, S16X2)
OP2(sub_s16, "sub.s16", U16, U16, U16)
OP2(sub_u32, "sub.u32", U32, U32, U32)
OP2(sub_sat_s32, "sub.sat.s32", U32, U32, U32)
OP2(sub_u64, "sub.u64", U64, U64, U64)
OP2(mul_lo_s16, "mul.lo.s16", U16, U16, U16)
OP2(mul_hi_s16, "mul.hi.s16", U16, U16, U16)
OP2(mul_hi_u16, "mul.hi.u16", U16, U16, U16)
OP2(mul_wide_s16, "mul.wide.s16", U32, U16, U16)
OP2(mul_wide_u16, "mul.wide.u16", U32, U16, U16)
OP2(mul_lo_u32, "mul.lo.u32", U32, U32, U32)
OP2(mul_hi_s32, "mul.hi.s32", U32, U32, U32)
OP2(mul_hi_u32, "mul.hi.u32", U32, U32, U32)
OP2(mul_wide_s32, "mul.wide.s32", U64, U32, U32)
OP2(mul_wide_u32, "mul.wide.u32", U64, U32, U32)
OP2(mul_lo_s64, "mul.lo.s64", U64, U64, U64)
OP2(mul_hi_s64, "mul.hi.s64", U64, U64, U64)
OP2(mul_hi_u64, "mul.hi.u64", U64, U64, U64)
OP2(mul24_lo_u32, "mul24.lo.u32", U32, U32, U32)
OP2(mul24_hi_s32, "mul24.hi.s32", U32, U32, U32)
OP3(mad_lo_s16, "mad.lo.s16", U16, U16, U16, U16)
OP3(mad_wide_u16, "mad.wide.u16", U32, U16, U16, U32)
OP3(mad_lo_s32, "mad.lo.s32", U32, U32, U32, U32)
OP3(mad_hi_s32, "mad.hi.s32", U32, U32, U32, U32)
OP3(mad_hi_u32, "mad.hi.u32", U32, U32, U32, U32)
OP3(mad_hi_sat_s32, "mad.hi.sat.s32", U32, U32, U32, U32)
OP3(mad_wide_s32, "mad.wide.s32", U64, U32, U32, U64)
OP3(mad_wide_u32, "mad.wide.u32", U64, U32, U32, U64)
OP3(mad_lo_u64, "mad.lo.u64", U64, U64, U64, U64)
OP3(mad_hi_s64, "mad.hi.s64", U64, U64, U64, U64)
OP3(mad24_lo_s32, "mad24.lo.s32", U32, U32, U32, U32)
OP3(mad24_hi_u32, "mad24.hi.u32", U32, U32, U32, U32)
OP3(sad_s16, "sad.s16", U16, U16, U16, U16)
OP3(sad_s32, "sad.s32", U32, U32, U32, U32)
OP3(sad_u32, "sad.u32", U32, U32, U32, U32)
OP3(sad_u64, "sad.u64", U64, U64, U64, U64)
OP2(div_s16, "div.s16", U16, U16, U16)
OP2(rem_u16, "rem.u16", U16, U16, U16)
OP1(abs_s16, "abs.s16", U16, U16)
OP1(abs_s32, "abs.s32", U32, U32)
OP1(abs_s64, "abs.s64", U64, U64)
OP1(neg_s16, "neg.s16", U16, U16)
OP1(neg_s32, "neg.s32", U32, U32)
OP1(neg_s64, "neg.s64", U64, U64)
OP2(min_s16, "min.s16", U16, U16, U16)
OP2(max_u16, "max.u16", U16, U16, U16)
OP2(min_s32, "min.s32", U32, U32, U32)
OP2(min_u32, "min.u32", U32, U32, U32)
OP2(max_s32, "max.s32", U32, U32, U32)
OP2(max_u32, "max.u32", U32, U32, U32)
OP2(min_s64, "min.s64", U64, U64, U64)
OP2(max_u64, "max.u64", U64, U64, U64)
OP2(min_relu_s32, "min.relu.s32", U32, U32, U32)
OP2(max_relu_s32, "max.relu.s32", U32, U32, U32)
OP2(min_s16x2, "min.s16x2", U32, S16X2, S16X2)
OP2(max_u16x2, "max.u16x2", U32, S16X2, S16X2)
OP2(min_relu_s16x2, "min.relu.s16x2", U32, S16X2, S16X2)
OP2(max_relu_s16x2, "max.relu.s16x2", U32, S16X2, S16X2)
OP3(dp4a_s32_s32, "dp4a.s32.s32", U32, U32, U32, U32)
OP3(dp4a_u32_u32, "dp4a.u32.u32", U32, U32, U32, U32)
OP3(dp4a_s32_u32, "dp4a.s32.u32", U32, U32, U32, U32)
OP3(dp4a_u32_s32, "dp4a.u32.s32", U32, U32, U32, U32)
OP3(dp2a_lo_s32_s32, "dp2a.lo.s32.s32", U32, U32, U32, U32)
OP3(dp2a_hi_u32_u32, "dp2a.hi.u32.u32", U32, U32, U32, U32)
OP3(dp2a_lo_u32_s32, "dp2a.lo.u32.s32", U32, U32, U32, U32)

/// Division and remainder, where the divisor is never zero: the result for zero is unspecified.
#define DIVISION(name, text, K)                                 \
  CASE(name, WORDS_OF(K)) {                                     \
    for (int i = lane; i < 64; i += 32) {                       \
      const TYPE_##K a = conformance::input_##K(i);             \
      const TYPE_##K b = conformance::input_##K(i * 5 + 7) | 1; \
      TYPE_##K r;                                               \
      asm volatile(text " %0, %1, %2;"                          \
                   : "=" CONSTRAINT_##K(r)                      \
                   : CONSTRAINT_##K(a), CONSTRAINT_##K(b));     \
      conformance::put(out, i, r);                              \
    }                                                           \
  }
DIVISION(div_s32, "div.s32", U32)
DIVISION(div_u32, "div.u32", U32)
DIVISION(div_s64, "div.s64", U64)
DIVISION(div_u64, "div.u64", U64)
DIVISION(rem_s32, "rem.s32", U32)
DIVISION(rem_u32, "rem.u32", U32)
DIVISION(rem_s64, "rem.s64", U64)
DIVISION(rem_u64, "rem.u64", U64)

/// Carry chains: 96-bit sums, differences and products of three 32-bit words each.
CASE(add_carry_chain, 96) {
  const std::uint32_t a = conformance::input_U32(lane), b = conformance::input_U32(lane * 5 + 7);
  std::uint32_t r0, r1, r2;
  asm volatile("add.cc.u32 %0, %3, %4;\n addc.cc.u32 %1, %4, %3;\n addc.u32 %2, %3, %3;"
               : "=r"(r0), "=r"(r1), "=r"(r2)
               : "r"(a), "r"(b));
  out[lane * 3] = r0, out[lane * 3 + 1] = r1, out[lane * 3 + 2] = r2;
}
CASE(sub_borrow_chain, 96) {
  const std::uint32_t a = conformance::input_U32(lane), b = conformance::input_U32(lane * 5 + 7);
  std::uint32_t r0, r1, r2;
  asm volatile("sub.cc.u32 %0, %3, %4;\n subc.cc.u32 %1, %4, %3;\n subc.u32 %2, %3, 0;"
               : "=r"(r0), "=r"(r1), "=r"(r2)
               : "r"(a), "r"(b));
  out[lane * 3] = r0, out[lane * 3 + 1] = r1, out[lane * 3 + 2] = r2;
}
CASE(mad_carry_chain, 96) {
  const std::uint32_t a = conformance::input_U32(lane), b = conformance::input_U32(lane * 5 + 7);
  const std::uint32_t c = conformance::input_U32(lane * 11 + 3);
  std::uint32_t r0, r1, r2;
  asm volatile(
      "mad.lo.cc.u32 %0, %3, %4, %5;\n madc.hi.cc.u32 %1, %3, %4, %5;\n addc.u32 %2, %5, 0;"
      : "=r"(r0), "=r"(r1), "=r"(r2)
      : "r"(a), "r"(b), "r"(c));
  out[lane * 3] = r0, out[lane * 3 + 1] = r1, out[lane * 3 + 2] = r2;
}
CASE(add_carry_u64, 192) {
  const std::uint64_t a = conformance::input_U64(lane), b = conformance::input_U64(lane * 5 + 7);
  std::uint64_t r0, r1, r2;
  asm volatile("add.cc.u64 %0, %3, %4;\n addc.cc.u64 %1, %4, %3;\n addc.u64 %2, 0, 0;"
               : "=l"(r0), "=l"(r1), "=l"(r2)
               : "l"(a), "l"(b));
  conformance::put(out, lane * 3, r0);
  conformance::put(out, lane * 3 + 1, r1);
  conformance::put(out, lane * 3 + 2, r2);
}
/// The compiler's own carry chains: 128-bit arithmetic.
CASE(int128_product, 128) {
  const unsigned __int128 a = conformance::input_U64(lane);
  const unsigned __int128 b = conformance::input_U64(lane * 5 + 7);
  const unsigned __int128 r = a * b + (a << 17) - b;
  conformance::put(out, lane * 2, static_cast<std::uint64_t>(r));
  conformance::put(out, lane * 2 + 1, static_cast<std::uint64_t>(r >> 64));
}
CASE(int128_quotient, 128) {
  const unsigned __int128 a = static_cast<unsigned __int128>(conformance::input_U64(lane)) << 31;
  const unsigned __int128 r = a / (conformance::input_U64(lane * 5 + 7) | 1);
  conformance::put(out, lane * 2, static_cast<std::uint64_t>(r));
  conformance::put(out, lane * 2 + 1, static_cast<std::uint64_t>(r >> 64));
}

CONFORMANCE_MAIN()
