// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: 16-bit floating point, single and packed (PTX ISA 9.0, "Half Precision
/// Floating-Point Instructions").
#include "grader/gpu_truth/conformance/conformance.cuh"

OP2(add_f16, "add.f16", F16, F16, F16)
OP2(add_rn_ftz_f16, "add.rn.ftz.f16", F16, F16, F16)
OP2(add_sat_f16, "add.sat.f16", F16, F16, F16)
OP2(sub_f16, "sub.f16", F16, F16, F16)
OP2(mul_f16, "mul.f16", F16, F16, F16)
OP2(mul_ftz_sat_f16, "mul.ftz.sat.f16", F16, F16, F16)
OP3(fma_rn_f16, "fma.rn.f16", F16, F16, F16, F16)
OP3(fma_rn_relu_f16, "fma.rn.relu.f16", F16, F16, F16, F16)
OP3(fma_rn_sat_f16, "fma.rn.sat.f16", F16, F16, F16, F16)
OP1(neg_f16, "neg.f16", F16, F16)
OP1(abs_f16, "abs.f16", F16, F16)
OP2(min_f16, "min.f16", F16, F16, F16)
OP2(max_f16, "max.f16", F16, F16, F16)
OP2(min_nan_f16, "min.NaN.f16", F16, F16, F16)
OP2(max_xorsign_abs_f16, "max.xorsign.abs.f16", F16, F16, F16)
OP1_CLOSE(ex2_approx_f16, "ex2.approx.f16", F16, F16, "ulp_f16=1")
OP1_CLOSE(tanh_approx_f16, "tanh.approx.f16", F16, F16, "ulp_f16=1")
OP2(add_f16x2, "add.f16x2", F16X2, F16X2, F16X2)
OP2(sub_f16x2, "sub.f16x2", F16X2, F16X2, F16X2)
OP2(mul_f16x2, "mul.f16x2", F16X2, F16X2, F16X2)
OP3(fma_rn_f16x2, "fma.rn.f16x2", F16X2, F16X2, F16X2, F16X2)
OP3(fma_rn_relu_f16x2, "fma.rn.relu.f16x2", F16X2, F16X2, F16X2, F16X2)
OP2(max_nan_f16x2, "max.NaN.f16x2", F16X2, F16X2, F16X2)
OP1(neg_f16x2, "neg.f16x2", F16X2, F16X2)
OP1(abs_f16x2, "abs.f16x2", F16X2, F16X2)
OP2(add_bf16, "add.bf16", BF16, BF16, BF16)
OP2(sub_bf16, "sub.bf16", BF16, BF16, BF16)
OP2(mul_bf16, "mul.bf16", BF16, BF16, BF16)
OP3(fma_rn_bf16, "fma.rn.bf16", BF16, BF16, BF16, BF16)
OP3(fma_rn_relu_bf16, "fma.rn.relu.bf16", BF16, BF16, BF16, BF16)
OP1(neg_bf16, "neg.bf16", BF16, BF16)
OP1(abs_bf16, "abs.bf16", BF16, BF16)
OP2(min_bf16, "min.bf16", BF16, BF16, BF16)
OP2(max_nan_bf16, "max.NaN.bf16", BF16, BF16, BF16)
OP2(add_bf16x2, "add.bf16x2", BF16X2, BF16X2, BF16X2)
OP2(mul_bf16x2, "mul.bf16x2", BF16X2, BF16X2, BF16X2)
OP3(fma_rn_bf16x2, "fma.rn.bf16x2", BF16X2, BF16X2, BF16X2, BF16X2)
OP2(min_nan_bf16x2, "min.NaN.bf16x2", BF16X2, BF16X2, BF16X2)
OP1_CLOSE(ex2_approx_ftz_bf16, "ex2.approx.ftz.bf16", BF16, BF16, "ulp_bf16=1")
OP1_CLOSE(tanh_approx_bf16, "tanh.approx.bf16", BF16, BF16, "ulp_bf16=1")
SETP(setp_lt_f16, "setp.lt.f16", F16, F16)
SETP(setp_neu_f16, "setp.neu.f16", F16, F16)
SETP(setp_geu_bf16, "setp.geu.bf16", BF16, BF16)
OP2(set_lt_f16x2_f16x2, "set.lt.f16x2.f16x2", F16X2, F16X2, F16X2)

/// Both halves compared at once, into two predicates.
CASE(setp_pair_f16x2, 64) {
  for (int i = lane; i < 64; i += 32) {
    asm volatile(
        "{ .reg .pred p, q; .reg .u32 t; setp.gt.f16x2 p|q, %1, %2;\n"
        "selp.u32 %0, 1, 0, p; selp.u32 t, 2, 0, q; or.b32 %0, %0, t; }"
        : "=r"(out[i])
        : "r"(conformance::input_F16X2(i)), "r"(conformance::input_F16X2(i * 5 + 7)));
  }
}

CONFORMANCE_MAIN()
