// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: video instructions on packed values, saturating packs, eight-bit floats with relu,
/// and hints, which change no value (PTX ISA 9.0, "Video Instructions", "cvt", "cvt.pack").
#include "grader/gpu_truth/conformance/conformance.cuh"

/// All types and forms of one operation on two halfwords and on four bytes.
#define PACKED_AT_ONCE(op)                                    \
  OP3(op##2_u32, #op "2.u32.u32.u32", U32, U32, U32, U32)     \
  OP3(op##2_s32, #op "2.s32.s32.s32", U32, U32, U32, U32)     \
  OP3(op##2_sat, #op "2.s32.u32.s32.sat", U32, U32, U32, U32) \
  OP3(op##2_add, #op "2.u32.s32.u32.add", U32, U32, U32, U32) \
  OP3(op##4_u32, #op "4.u32.u32.u32", U32, U32, U32, U32)     \
  OP3(op##4_s32, #op "4.s32.s32.s32", U32, U32, U32, U32)     \
  OP3(op##4_sat, #op "4.u32.s32.u32.sat", U32, U32, U32, U32) \
  OP3(op##4_add, #op "4.s32.s32.s32.add", U32, U32, U32, U32)
PACKED_AT_ONCE(vadd)
PACKED_AT_ONCE(vsub)
PACKED_AT_ONCE(vavrg)
PACKED_AT_ONCE(vabsdiff)
PACKED_AT_ONCE(vmin)
PACKED_AT_ONCE(vmax)
OP3(vset2_eq, "vset2.u32.u32.eq", U32, U32, U32, U32)
OP3(vset2_lt_add, "vset2.s32.u32.lt.add", U32, U32, U32, U32)
OP3(vset4_ne, "vset4.u32.s32.ne", U32, U32, U32, U32)
OP3(vset4_le, "vset4.s32.s32.le", U32, U32, U32, U32)
OP3(vset4_gt_add, "vset4.u32.u32.gt.add", U32, U32, U32, U32)
OP3(vset2_ge, "vset2.s32.s32.ge", U32, U32, U32, U32)

OP2(cvt_pack_u16, "cvt.pack.sat.u16.s32", U32, U32, U32)
OP3(cvt_pack_s8, "cvt.pack.sat.s8.s32.b32", U32, U32, U32, U32)
OP3(cvt_pack_u4, "cvt.pack.sat.u4.s32.b32", U32, U32, U32, U32)
OP3(cvt_pack_s4, "cvt.pack.sat.s4.s32.b32", U32, U32, U32, U32)
OP3(cvt_pack_u2, "cvt.pack.sat.u2.s32.b32", U32, U32, U32, U32)
OP3(cvt_pack_s2, "cvt.pack.sat.s2.s32.b32", U32, U32, U32, U32)
OP2(cvt_relu_e4m3x2_f32, "cvt.rn.satfinite.relu.e4m3x2.f32", U16, F32, F32)
OP2(cvt_relu_e5m2x2_f32, "cvt.rn.satfinite.relu.e5m2x2.f32", U16, F32, F32)
OP1(cvt_rn_satfinite_e5m2x2_f16x2, "cvt.rn.satfinite.e5m2x2.f16x2", U16, F16X2)
OP1(cvt_relu_f16x2_e4m3x2, "cvt.rn.relu.f16x2.e4m3x2", F16X2, U16)
OP1(cvt_relu_f16x2_e5m2x2, "cvt.rn.relu.f16x2.e5m2x2", F16X2, U16)

/// Every eight-bit float of both kinds.
CASE(eight_bit_floats_widened, 256) {
  for (int i = lane; i < 128; i += 32) {
    const std::uint16_t pair = static_cast<std::uint16_t>(2 * i | (2 * i + 1) << 8);
    asm volatile("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(out[i]) : "h"(pair));
    asm volatile("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(out[128 + i]) : "h"(pair));
  }
}

__device__ std::uint32_t hinted[1024];

/// Hints leave the bytes beside and under them alone; a dropped line is read by nobody.
CASE(cache_hints, 32) {
  hinted[lane] = lane * 3 + 1;
  __threadfence();
  const std::uint32_t* const line = hinted + lane;
  asm volatile(
      "applypriority.global.L2::evict_normal [%0], 128;" ::"l"(__cvta_generic_to_global(hinted)));
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(__cvta_generic_to_global(hinted + 512)));
  asm volatile(
      "{ .reg .b64 policy; createpolicy.fractional.L2::evict_last.b64 policy, 1.0;\n"
      "ld.global.L2::cache_hint.u32 %0, [%1], policy; }"
      : "=r"(out[lane])
      : "l"(__cvta_generic_to_global(line))
      : "memory");
}
CASE(events_and_dependent_launches, 32) {
  asm volatile("pmevent 1;");
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[lane] = lane + 7;
}

CONFORMANCE_MAIN()
