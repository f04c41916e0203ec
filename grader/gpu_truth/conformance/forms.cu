// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: types of common instructions that compilers seldom emit, so that every type class
/// of every opcode is compared once.
#include "grader/gpu_truth/conformance/conformance.cuh"

OP2(sub_bf16x2, "sub.bf16x2", BF16X2, BF16X2, BF16X2)
OP1(abs_bf16x2, "abs.bf16x2", BF16X2, BF16X2)
OP1(neg_bf16x2, "neg.bf16x2", BF16X2, BF16X2)
OP2(min_f16x2, "min.f16x2", F16X2, F16X2, F16X2)
OP2(min_nan_f16x2, "min.NaN.f16x2", F16X2, F16X2, F16X2)
OP2(max_bf16x2, "max.bf16x2", BF16X2, BF16X2, BF16X2)
OP2(max_nan_bf16x2, "max.NaN.bf16x2", BF16X2, BF16X2, BF16X2)
OP3(mad_rn_f32, "mad.rn.f32", F32, F32, F32, F32)
OP3(mad_rz_f64, "mad.rz.f64", F64, F64, F64, F64)
OP2(set_eq_bf16, "set.eq.bf16.bf16", BF16, BF16, BF16)
OP2(set_ltu_bf16x2, "set.ltu.bf16x2.bf16x2", BF16X2, BF16X2, BF16X2)
OP1(cnot_b16, "cnot.b16", U16, U16)
OP3(slct_b16_s32, "slct.b16.s32", U16, U16, U16, U32)
OP3(slct_f64_s32, "slct.f64.s32", F64, F64, F64, U32)
OP3(slct_u64_f32, "slct.u64.f32", U64, U64, U64, F32)

/// Both halves' predicates, of bfloat16 pairs.
CASE(setp_bf16x2, 128) {
  for (int i = lane; i < 64; i += 32) {
    const std::uint32_t a = conformance::input_BF16X2(i);
    const std::uint32_t b = conformance::input_BF16X2(i % 4 == 0 ? i : i * 5 + 7);
    asm volatile(
        "{ .reg .pred p, q; setp.le.bf16x2 p|q, %2, %3; selp.u32 %0, 1, 0, p;\n"
        "selp.u32 %1, 1, 0, q; }"
        : "=r"(out[2 * i]), "=r"(out[2 * i + 1])
        : "r"(a), "r"(b));
  }
}

/// A product of 128 bits plus another number of 128 bits.
CASE(madc_u64, 256) {
  for (int i = lane; i < 64; i += 32) {
    const std::uint64_t a = conformance::input_U64(i), b = conformance::input_U64(i * 5 + 7);
    const std::uint64_t c = conformance::input_U64(i * 11 + 3);
    std::uint64_t low, high;
    asm volatile("mad.lo.cc.u64 %0, %2, %3, %4; madc.hi.u64 %1, %2, %3, %4;"
                 : "=l"(low), "=l"(high)
                 : "l"(a), "l"(b), "l"(c));
    conformance::put(out, 2 * i, low);
    conformance::put(out, 2 * i + 1, high);
  }
}

/// Approximations of both halves.
OP1_CLOSE(tanh_approx_f16x2, "tanh.approx.f16x2", F16X2, F16X2, "ulp_f16=2")
OP1_CLOSE(tanh_approx_bf16x2, "tanh.approx.bf16x2", BF16X2, BF16X2, "ulp_bf16=2")
OP1_CLOSE(ex2_approx_f16x2, "ex2.approx.f16x2", F16X2, F16X2, "ulp_f16=2")
OP1_CLOSE(ex2_approx_bf16x2, "ex2.approx.ftz.bf16x2", BF16X2, BF16X2, "ulp_bf16=2")

/// Stack memory taken and given back: the stack pointer is where it was.
CASE(stack_saved_and_restored, 32) {
  std::uint32_t same;
  asm volatile(
      "{ .reg .u64 before, after, taken, bytes; .reg .pred p;\n"
      "stacksave.u64 before;\n"
      "cvt.u64.u32 bytes, %1;\n"
      "alloca.u64 taken, bytes, 16;\n"
      "st.local.u32 [taken], %1;\n"
      "stackrestore.u64 before;\n"
      "stacksave.u64 after;\n"
      "setp.eq.u64 p, before, after;\n"
      "selp.u32 %0, 1, 0, p; }"
      : "=r"(same)
      : "r"(16 * (lane % 4 + 1))
      : "memory");
  out[lane] = same + lane;
}

/// Half of the warp leaves for good; the others go on.
CASE(exit_of_some_lanes, 32) {
  out[lane] = lane;
  asm volatile("{ .reg .pred p; setp.gt.u32 p, %0, 15; @p exit; }" ::"r"(lane) : "memory");
  out[lane] = lane + 100 * __popc(__activemask());
}

CONFORMANCE_MAIN()
