// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: double precision (PTX ISA 9.0, "Floating-Point Instructions").
#include "grader/gpu_truth/conformance/conformance.cuh"

OP2(add_f64, "add.f64", F64, F64, F64)
OP2(add_rz_f64, "add.rz.f64", F64, F64, F64)
OP2(add_rm_f64, "add.rm.f64", F64, F64, F64)
OP2(add_rp_f64, "add.rp.f64", F64, F64, F64)
OP2(sub_f64, "sub.f64", F64, F64, F64)
OP2(sub_rp_f64, "sub.rp.f64", F64, F64, F64)
OP2(mul_f64, "mul.f64", F64, F64, F64)
OP2(mul_rz_f64, "mul.rz.f64", F64, F64, F64)
OP2(mul_rm_f64, "mul.rm.f64", F64, F64, F64)
OP3(fma_rn_f64, "fma.rn.f64", F64, F64, F64, F64)
OP3(fma_rz_f64, "fma.rz.f64", F64, F64, F64, F64)
OP3(fma_rm_f64, "fma.rm.f64", F64, F64, F64, F64)
OP3(fma_rp_f64, "fma.rp.f64", F64, F64, F64, F64)
OP2(div_rn_f64, "div.rn.f64", F64, F64, F64)
OP2(div_rz_f64, "div.rz.f64", F64, F64, F64)
OP2(div_rp_f64, "div.rp.f64", F64, F64, F64)
OP1(rcp_rn_f64, "rcp.rn.f64", F64, F64)
OP1(rcp_rm_f64, "rcp.rm.f64", F64, F64)
OP1(sqrt_rn_f64, "sqrt.rn.f64", F64, F64)
OP1(sqrt_rz_f64, "sqrt.rz.f64", F64, F64)
OP1(sqrt_rp_f64, "sqrt.rp.f64", F64, F64)
OP1_CLOSE(rcp_approx_ftz_f64, "rcp.approx.ftz.f64", F64, F64, "rel_f64=1e-6")
OP1_CLOSE(rsqrt_approx_f64, "rsqrt.approx.f64", F64, F64, "rel_f64=4e-8")
OP1(abs_f64, "abs.f64", F64, F64)
OP1(neg_f64, "neg.f64", F64, F64)
OP2(min_f64, "min.f64", F64, F64, F64)
OP2(max_f64, "max.f64", F64, F64, F64)

CONFORMANCE_MAIN()
