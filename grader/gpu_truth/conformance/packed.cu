// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: what the DPX and SIMD intrinsics become: minima and maxima of sums, packed halves
/// and bytes.
#include "grader/gpu_truth/conformance/conformance.cuh"

#define DPX3(name, call)                                                                        \
  CASE(name, 64) {                                                                              \
    for (int i = lane; i < 64; i += 32) {                                                       \
      const std::uint32_t a = conformance::input_U32(i), b = conformance::input_U32(i * 5 + 7); \
      const std::uint32_t c = conformance::input_U32(i * 11 + 3);                               \
      out[i] = call(a, b, c);                                                                   \
    }                                                                                           \
  }
DPX3(viaddmax_s32, __viaddmax_s32)
DPX3(viaddmin_s32_relu, __viaddmin_s32_relu)
DPX3(viaddmax_u32, __viaddmax_u32)
DPX3(viaddmax_s16x2, __viaddmax_s16x2)
DPX3(viaddmin_u16x2, __viaddmin_u16x2)
DPX3(viaddmax_s16x2_relu, __viaddmax_s16x2_relu)
DPX3(vimax3_s32, __vimax3_s32)
DPX3(vimin3_u32, __vimin3_u32)
DPX3(vimax3_s32_relu, __vimax3_s32_relu)
DPX3(vimax3_s16x2, __vimax3_s16x2)
DPX3(vimin3_s16x2_relu, __vimin3_s16x2_relu)
DPX3(vimax3_u16x2, __vimax3_u16x2)

#define SIMD2(name, call)                                                          \
  CASE(name, 64) {                                                                 \
    for (int i = lane; i < 64; i += 32) {                                          \
      out[i] = call(conformance::input_U32(i), conformance::input_U32(i * 5 + 7)); \
    }                                                                              \
  }
SIMD2(vadd4, __vadd4)
SIMD2(vaddss4, __vaddss4)
SIMD2(vaddus2, __vaddus2)
SIMD2(vsubss2, __vsubss2)
SIMD2(vsub4, __vsub4)
SIMD2(vavgu4, __vavgu4)
SIMD2(vhaddu4, __vhaddu4)
SIMD2(vabsdiffu4, __vabsdiffu4)
SIMD2(vabsdiffs2, __vabsdiffs2)
SIMD2(vsads4, __vsads4)
SIMD2(vsadu2, __vsadu2)
SIMD2(vmins4, __vmins4)
SIMD2(vmaxu2, __vmaxu2)
SIMD2(vcmpgts4, __vcmpgts4)
SIMD2(vcmpeq2, __vcmpeq2)
SIMD2(vsetltu4, __vsetltu4)
SIMD2(vimax_s32_relu, __vimax_s32_relu)
SIMD2(vimin_s16x2_relu, __vimin_s16x2_relu)

/// The variant that also tells which operand won.
CASE(vibmax_s32, 96) {
  const int a = conformance::input_U32(lane), b = conformance::input_U32(lane * 5 + 7);
  bool first;
  out[lane] = __vibmax_s32(a, b, &first);
  out[lane + 32] = first;
  bool high, low;
  const std::uint32_t smaller = __vibmin_s16x2(a, b, &high, &low);
  out[lane + 64] = smaller ^ (high ? 1u << 31 : 0) ^ (low ? 1 : 0);
}
CASE(vabs_vneg, 128) {
  const std::uint32_t a = conformance::input_U32(lane);
  out[lane] = __vabs4(a), out[lane + 32] = __vabsss2(a);
  out[lane + 64] = __vneg2(a), out[lane + 96] = __vnegss4(a);
}

CONFORMANCE_MAIN()
