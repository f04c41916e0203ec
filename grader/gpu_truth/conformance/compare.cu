// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: comparisons and selections (PTX ISA 9.0, "Comparison and Selection Instructions").
#include "grader/gpu_truth/conformance/conformance.cuh"

SETP(setp_eq_s32, "setp.eq.s32", U32, U32)
SETP(setp_ne_u32, "setp.ne.u32", U32, U32)
SETP(setp_lt_s32, "setp.lt.s32", U32, U32)
SETP(setp_le_s32, "setp.le.s32", U32, U32)
SETP(setp_gt_u32, "setp.gt.u32", U32, U32)
SETP(setp_ge_s32, "setp.ge.s32", U32, U32)
SETP(setp_lo_u32, "setp.lo.u32", U32, U32)
SETP(setp_ls_u32, "setp.ls.u32", U32, U32)
SETP(setp_hi_u32, "setp.hi.u32", U32, U32)
SETP(setp_hs_u32, "setp.hs.u32", U32, U32)
SETP(setp_lt_s16, "setp.lt.s16", U16, U16)
SETP(setp_gt_u16, "setp.gt.u16", U16, U16)
SETP(setp_eq_b16, "setp.eq.b16", U16, U16)
SETP(setp_lt_s64, "setp.lt.s64", U64, U64)
SETP(setp_ge_u64, "setp.ge.u64", U64, U64)
SETP(setp_eq_b64, "setp.eq.b64", U64, U64)
SETP(setp_eq_f32, "setp.eq.f32", F32, F32)
SETP(setp_ne_f32, "setp.ne.f32", F32, F32)
SETP(setp_lt_f32, "setp.lt.f32", F32, F32)
SETP(setp_le_f32, "setp.le.f32", F32, F32)
SETP(setp_gt_f32, "setp.gt.f32", F32, F32)
SETP(setp_ge_f32, "setp.ge.f32", F32, F32)
SETP(setp_equ_f32, "setp.equ.f32", F32, F32)
SETP(setp_neu_f32, "setp.neu.f32", F32, F32)
SETP(setp_ltu_f32, "setp.ltu.f32", F32, F32)
SETP(setp_leu_f32, "setp.leu.f32", F32, F32)
SETP(setp_gtu_f32, "setp.gtu.f32", F32, F32)
SETP(setp_geu_f32, "setp.geu.f32", F32, F32)
SETP(setp_num_f32, "setp.num.f32", F32, F32)
SETP(setp_nan_f32, "setp.nan.f32", F32, F32)
SETP(setp_eq_ftz_f32, "setp.eq.ftz.f32", F32, F32)
SETP(setp_lt_ftz_f32, "setp.lt.ftz.f32", F32, F32)
SETP(setp_lt_f64, "setp.lt.f64", F64, F64)
SETP(setp_neu_f64, "setp.neu.f64", F64, F64)
SETP(setp_nan_f64, "setp.nan.f64", F64, F64)
OP2(set_lt_u32_s32, "set.lt.u32.s32", U32, U32, U32)
OP2(set_ge_f32_s32, "set.ge.f32.s32", F32, U32, U32)
OP2(set_gtu_u32_f32, "set.gtu.u32.f32", U32, F32, F32)
OP2(set_eq_s32_f64, "set.eq.s32.f64", U32, F64, F64)
OP3(slct_s32_s32, "slct.s32.s32", U32, U32, U32, U32)
OP3(slct_f32_f32, "slct.f32.f32", F32, F32, F32, F32)
OP3(slct_ftz_u64_f32, "slct.ftz.u64.f32", U64, U64, U64, F32)
OP2(copysign_f32, "copysign.f32", F32, F32, F32)
OP2(copysign_f64, "copysign.f64", F64, F64, F64)

/// Properties of a value: one bit per test.
#define TEST_PROPERTIES(name, K, type)                            \
  CASE(name, 64) {                                                \
    for (int i = lane; i < 64; i += 32) {                         \
      const TYPE_##K a = conformance::input_##K(i);               \
      std::uint32_t bits;                                         \
      asm volatile(                                               \
          "{ .reg .pred p; .reg .u32 one;\n"                      \
          "testp.finite." type                                    \
          " p, %1; selp.u32 %0, 1, 0, p;\n"                       \
          "testp.infinite." type                                  \
          " p, %1; selp.u32 one, 2, 0, p; or.b32 %0, %0, one;\n"  \
          "testp.number." type                                    \
          " p, %1; selp.u32 one, 4, 0, p; or.b32 %0, %0, one;\n"  \
          "testp.notanumber." type                                \
          " p, %1; selp.u32 one, 8, 0, p; or.b32 %0, %0, one;\n"  \
          "testp.normal." type                                    \
          " p, %1; selp.u32 one, 16, 0, p; or.b32 %0, %0, one;\n" \
          "testp.subnormal." type                                 \
          " p, %1; selp.u32 one, 32, 0, p; or.b32 %0, %0, one;\n" \
          "}"                                                     \
          : "=r"(bits)                                            \
          : CONSTRAINT_##K(a));                                   \
      out[i] = bits;                                              \
    }                                                             \
  }
TEST_PROPERTIES(testp_f32, F32, "f32")
TEST_PROPERTIES(testp_f64, F64, "f64")

/// Two predicates from one comparison, combined with a third.
#define SETP_PAIR(name, text)                                                                     \
  CASE(name, 64) {                                                                                \
    for (int i = lane; i < 64; i += 32) {                                                         \
      const std::uint32_t a = conformance::input_U32(i), b = conformance::input_U32(i * 5 + 7);   \
      asm volatile(                                                                               \
          "{ .reg .pred p, q, c; .reg .u32 two;\n setp.ne.u32 c, %3, 0;\n" text                   \
          " p|q, %1, %2, c;\n selp.u32 %0, 1, 0, p; selp.u32 two, 2, 0, q; or.b32 %0, %0, two; }" \
          : "=r"(out[i])                                                                          \
          : "r"(a), "r"(b), "r"(i & 1));                                                          \
    }                                                                                             \
  }
SETP_PAIR(setp_and_pair, "setp.lt.and.s32")
SETP_PAIR(setp_or_pair, "setp.lt.or.s32")
SETP_PAIR(setp_xor_pair, "setp.lt.xor.s32")

/// Arithmetic on predicates themselves.
CASE(predicate_logic, 32) {
  asm volatile(
      "{ .reg .pred p, q, r;\n setp.lt.u32 p, %1, 10; setp.gt.u32 q, %1, 5;\n"
      "and.pred r, p, q; xor.pred r, r, p; or.pred r, r, !q; not.pred r, r;\n"
      "mov.pred p, r; selp.u32 %0, %1, 99, p; }"
      : "=r"(out[lane])
      : "r"(lane));
}
CASE(selp_of_every_width, 128) {
  const bool pick = (lane * 7) % 3 == 0;
  out[lane] = pick ? conformance::input_U32(lane) : conformance::input_U32(lane + 1);
  conformance::put(out, 16 + lane,
                   pick ? conformance::input_F64(lane) : conformance::input_F64(lane + 9));
  std::uint16_t half;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; selp.b16 %0, %1, %2, p; }"
               : "=h"(half)
               : "h"(conformance::input_U16(lane)), "h"(conformance::input_U16(lane + 3)),
                 "r"(static_cast<std::uint32_t>(pick)));
  out[lane + 96] = half;
}

CONFORMANCE_MAIN()
