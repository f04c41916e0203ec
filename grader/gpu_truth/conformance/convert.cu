// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: conversions (PTX ISA 9.0, "Data Movement and Conversion Instructions: cvt").
#include "grader/gpu_truth/conformance/conformance.cuh"

OP1(cvt_s32_s16, "cvt.s32.s16", U32, U16)
OP1(cvt_u32_u16, "cvt.u32.u16", U32, U16)
OP1(cvt_s64_s32, "cvt.s64.s32", U64, U32)
OP1(cvt_u64_u32, "cvt.u64.u32", U64, U32)
OP1(cvt_u16_u32, "cvt.u16.u32", U16, U32)
OP1(cvt_u32_u64, "cvt.u32.u64", U32, U64)
OP1(cvt_s32_s8, "cvt.s32.s8", U32, U32)
OP1(cvt_u32_u8, "cvt.u32.u8", U32, U32)
OP1(cvt_s64_s8, "cvt.s64.s8", U64, U32)
OP1(cvt_sat_s16_s32, "cvt.sat.s16.s32", U16, U32)
OP1(cvt_sat_u16_s32, "cvt.sat.u16.s32", U16, U32)
OP1(cvt_sat_u8_s32, "cvt.sat.u8.s32", U32, U32)
OP1(cvt_sat_s8_s32, "cvt.sat.s8.s32", U32, U32)
OP1(cvt_sat_u32_s32, "cvt.sat.u32.s32", U32, U32)
OP1(cvt_sat_s32_u32, "cvt.sat.s32.u32", U32, U32)
OP1(cvt_sat_s32_s64, "cvt.sat.s32.s64", U32, U64)
OP1(cvt_sat_u32_s64, "cvt.sat.u32.s64", U32, U64)
OP1(cvt_rn_f32_s32, "cvt.rn.f32.s32", F32, U32)
OP1(cvt_rz_f32_s32, "cvt.rz.f32.s32", F32, U32)
OP1(cvt_rm_f32_u32, "cvt.rm.f32.u32", F32, U32)
OP1(cvt_rp_f32_u32, "cvt.rp.f32.u32", F32, U32)
OP1(cvt_rn_f32_s64, "cvt.rn.f32.s64", F32, U64)
OP1(cvt_rz_f32_u64, "cvt.rz.f32.u64", F32, U64)
OP1(cvt_rn_f32_u8, "cvt.rn.f32.u8", F32, U32)
OP1(cvt_rn_f64_s32, "cvt.rn.f64.s32", F64, U32)
OP1(cvt_rn_f64_u64, "cvt.rn.f64.u64", F64, U64)
OP1(cvt_rp_f64_s64, "cvt.rp.f64.s64", F64, U64)
OP1(cvt_rn_f16_s32, "cvt.rn.f16.s32", F16, U32)
OP1(cvt_rn_f16_u16, "cvt.rn.f16.u16", F16, U16)
OP1(cvt_rni_s32_f32, "cvt.rni.s32.f32", U32, F32)
OP1(cvt_rzi_s32_f32, "cvt.rzi.s32.f32", U32, F32)
OP1(cvt_rmi_s32_f32, "cvt.rmi.s32.f32", U32, F32)
OP1(cvt_rpi_s32_f32, "cvt.rpi.s32.f32", U32, F32)
OP1(cvt_rzi_u32_f32, "cvt.rzi.u32.f32", U32, F32)
OP1(cvt_rni_ftz_u32_f32, "cvt.rni.ftz.u32.f32", U32, F32)
OP1(cvt_rpi_ftz_s32_f32, "cvt.rpi.ftz.s32.f32", U32, F32)
OP1(cvt_rzi_s64_f32, "cvt.rzi.s64.f32", U64, F32)
OP1(cvt_rzi_u64_f32, "cvt.rzi.u64.f32", U64, F32)
OP1(cvt_rzi_s16_f32, "cvt.rzi.s16.f32", U16, F32)
OP1(cvt_rzi_u16_f32, "cvt.rzi.u16.f32", U16, F32)
OP1(cvt_rzi_u8_f32, "cvt.rzi.u8.f32", U32, F32)
OP1(cvt_rni_s8_f32, "cvt.rni.s8.f32", U32, F32)
OP1(cvt_rni_s32_f64, "cvt.rni.s32.f64", U32, F64)
OP1(cvt_rzi_u32_f64, "cvt.rzi.u32.f64", U32, F64)
OP1(cvt_rmi_s64_f64, "cvt.rmi.s64.f64", U64, F64)
OP1(cvt_rpi_u64_f64, "cvt.rpi.u64.f64", U64, F64)
OP1(cvt_rzi_s32_f16, "cvt.rzi.s32.f16", U32, F16)
OP1(cvt_rni_u16_f16, "cvt.rni.u16.f16", U16, F16)
OP1(cvt_rni_s64_f16, "cvt.rni.s64.f16", U64, F16)
OP1(cvt_rni_f32_f32, "cvt.rni.f32.f32", F32, F32)
OP1(cvt_rzi_f32_f32, "cvt.rzi.f32.f32", F32, F32)
OP1(cvt_rmi_f32_f32, "cvt.rmi.f32.f32", F32, F32)
OP1(cvt_rpi_ftz_f32_f32, "cvt.rpi.ftz.f32.f32", F32, F32)
OP1(cvt_sat_f32_f32, "cvt.sat.f32.f32", F32, F32)
OP1(cvt_ftz_f32_f32, "cvt.ftz.f32.f32", F32, F32)
OP1(cvt_rni_f64_f64, "cvt.rni.f64.f64", F64, F64)
OP1(cvt_rmi_f64_f64, "cvt.rmi.f64.f64", F64, F64)
OP1(cvt_sat_f64_f64, "cvt.sat.f64.f64", F64, F64)
OP1(cvt_rni_f16_f16, "cvt.rni.f16.f16", F16, F16)
OP1(cvt_f64_f32, "cvt.f64.f32", F64, F32)
OP1(cvt_ftz_f64_f32, "cvt.ftz.f64.f32", F64, F32)
OP1(cvt_rn_f32_f64, "cvt.rn.f32.f64", F32, F64)
OP1(cvt_rz_f32_f64, "cvt.rz.f32.f64", F32, F64)
OP1(cvt_rm_f32_f64, "cvt.rm.f32.f64", F32, F64)
OP1(cvt_rp_ftz_f32_f64, "cvt.rp.ftz.f32.f64", F32, F64)
OP1(cvt_rn_sat_f32_f64, "cvt.rn.sat.f32.f64", F32, F64)
OP1(cvt_f32_f16, "cvt.f32.f16", F32, F16)
OP1(cvt_f64_f16, "cvt.f64.f16", F64, F16)
OP1(cvt_rn_f16_f32, "cvt.rn.f16.f32", F16, F32)
OP1(cvt_rz_f16_f32, "cvt.rz.f16.f32", F16, F32)
OP1(cvt_rm_f16_f32, "cvt.rm.f16.f32", F16, F32)
OP1(cvt_rn_sat_f16_f32, "cvt.rn.sat.f16.f32", F16, F32)
OP1(cvt_rn_relu_f16_f32, "cvt.rn.relu.f16.f32", F16, F32)
OP1(cvt_rn_f16_f64, "cvt.rn.f16.f64", F16, F64)
OP1(cvt_f32_bf16, "cvt.f32.bf16", F32, BF16)
OP1(cvt_rn_bf16_f32, "cvt.rn.bf16.f32", BF16, F32)
OP1(cvt_rz_bf16_f32, "cvt.rz.bf16.f32", BF16, F32)
OP1(cvt_rn_relu_bf16_f32, "cvt.rn.relu.bf16.f32", BF16, F32)
OP1(cvt_rn_bf16_s32, "cvt.rn.bf16.s32", BF16, U32)
OP1(cvt_rzi_s32_bf16, "cvt.rzi.s32.bf16", U32, BF16)
OP1(cvt_rna_tf32_f32, "cvt.rna.tf32.f32", U32, F32)
OP2(cvt_rn_f16x2_f32, "cvt.rn.f16x2.f32", F16X2, F32, F32)
OP2(cvt_rz_relu_f16x2_f32, "cvt.rz.relu.f16x2.f32", F16X2, F32, F32)
OP2(cvt_rn_bf16x2_f32, "cvt.rn.bf16x2.f32", BF16X2, F32, F32)
OP2(cvt_rz_bf16x2_f32, "cvt.rz.bf16x2.f32", BF16X2, F32, F32)
OP2(cvt_rn_satfinite_e4m3x2_f32, "cvt.rn.satfinite.e4m3x2.f32", U16, F32, F32)
OP2(cvt_rn_satfinite_e5m2x2_f32, "cvt.rn.satfinite.e5m2x2.f32", U16, F32, F32)
OP1(cvt_rn_satfinite_e4m3x2_f16x2, "cvt.rn.satfinite.e4m3x2.f16x2", U16, F16X2)
OP1(cvt_rn_f16x2_e4m3x2, "cvt.rn.f16x2.e4m3x2", F16X2, U16)
OP1(cvt_rn_f16x2_e5m2x2, "cvt.rn.f16x2.e5m2x2", F16X2, U16)

/// Four saturated bytes packed one pair at a time.
CASE(cvt_pack_sat, 64) {
  for (int i = lane; i < 64; i += 32) {
    const std::uint32_t a = conformance::input_U32(i), b = conformance::input_U32(i * 5 + 7);
    std::uint32_t half;
    asm volatile("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(half) : "r"(a), "r"(b));
    asm volatile("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
                 : "=r"(out[i])
                 : "r"(a), "r"(b), "r"(half));
  }
}
/// Moves that split and join.
CASE(mov_pack_unpack, 160) {
  const std::uint64_t a = conformance::input_U64(lane);
  std::uint32_t low, high;
  asm volatile("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(a));
  std::uint16_t h0, h1;
  asm volatile("mov.b32 {%0, %1}, %2;" : "=h"(h0), "=h"(h1) : "r"(low));
  std::uint32_t joined;
  asm volatile("mov.b32 %0, {%1, %2};" : "=r"(joined) : "h"(h1), "h"(h0));
  std::uint64_t four;
  asm volatile("mov.b64 %0, {%1, %2, %1, %2};" : "=l"(four) : "h"(h0), "h"(h1));
  out[lane] = high, out[lane + 32] = joined, out[lane + 64] = h1;
  conformance::put(out, lane + 48, four);
}
CASE(intrinsic_conversions, 192) {
  const float a = conformance::input_F32(lane);
  const double b = conformance::input_F64(lane);
  out[lane] = __float2int_rd(a);
  out[lane + 32] = __float2uint_ru(a);
  out[lane + 64] = __double2int_rn(b);
  out[lane + 96] = __float_as_uint(__double2float_ru(b));
  out[lane + 128] = __double2hiint(b) ^ __double2loint(b);
  out[lane + 160] = __float_as_uint(__int2float_ru(conformance::input_U32(lane)));
}

CONFORMANCE_MAIN()
