// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: functions of the CUDA math library, which nvcc compiles into the module: long
/// chains of fma, shifts and table look-ups, in some an approximate instruction.
#include "grader/gpu_truth/conformance/conformance.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define MATH1(name, K, call, tolerance)             \
  CASE_CLOSE(name, WORDS_OF(K), tolerance) {        \
    for (int i = lane; i < 64; i += 32) {           \
      const TYPE_##K x = conformance::input_##K(i); \
      const TYPE_##K result = call;                 \
      conformance::put(out, i, result);             \
    }                                               \
  }
#define MATH2(name, K, call, tolerance)                                                    \
  CASE_CLOSE(name, WORDS_OF(K), tolerance) {                                               \
    for (int i = lane; i < 64; i += 32) {                                                  \
      const TYPE_##K x = conformance::input_##K(i), y = conformance::input_##K(i * 5 + 7); \
      const TYPE_##K result = call;                                                        \
      conformance::put(out, i, result);                                                    \
    }                                                                                      \
  }
// Made of exact operations only: equal bit for bit.
MATH1(math_sinf, N32, sinf(x), "")
MATH1(math_cosf, N32, cosf(x), "")
MATH1(math_sinf_of_large_arguments, F32, sinf(x), "")
MATH1(math_logf, F32, logf(x), "")
MATH1(math_log1pf, N32, log1pf(x), "")
MATH1(math_cbrtf, N32, cbrtf(x), "ulp_f32=1")
MATH1(math_floorf_ceilf, F32, floorf(x) * 0.5f + ceilf(x), "")
MATH1(math_roundf, F32, roundf(x), "")
MATH1(math_rintf, F32, rintf(x), "")
MATH1(math_truncf, F32, truncf(x), "")
MATH2(math_fmodf, N32, fmodf(x, y), "")
MATH2(math_remainderf, N32, remainderf(x, y), "")
MATH2(math_nextafterf, F32, nextafterf(x, y), "")
MATH1(math_ldexpf, N32, ldexpf(x, i - 40), "")
MATH2(math_fmaxf_fminf, F32, fmaxf(x, y) - fminf(x, y), "")
MATH1(math_sin, N64, sin(x), "")
MATH1(math_cos, N64, cos(x), "")
MATH1(math_exp, N64, exp(x), "")
MATH1(math_log, F64, log(x), "ulp_f64=1")
MATH2(math_fmod, N64, fmod(x, y), "")
MATH1(math_rint_floor, F64, rint(x) + floor(x), "")
MATH2(math_atan2, N64, atan2(x, y), "ulp_f64=1")
MATH2(math_pow, N64, pow(x, y * 0.125), "ulp_f64=1")
MATH1(math_cbrt, N64, cbrt(x), "ulp_f64=1")
MATH1(math_erf, N64, erf(x * 0.125), "ulp_f64=1")
MATH1(math_sqrt_of_sum, N64, hypot(x, 3.0), "ulp_f64=1")
// With ex2.approx, lg2.approx, rcp.approx or rsqrt.approx inside.
MATH1(math_expf, N32, expf(x), "ulp_f32=2")
MATH1(math_exp2f, N32, exp2f(x), "ulp_f32=2")
MATH1(math_expm1f, N32, expm1f(x), "ulp_f32=2")
MATH1(math_tanf, N32, tanf(x), "ulp_f32=2")
MATH1(math_tanhf, N32, tanhf(x), "ulp_f32=2")
MATH1(math_atanf, N32, atanf(x), "ulp_f32=2")
MATH1(math_acosf, N32, acosf(x * 0.01f), "ulp_f32=2")
MATH1(math_erff, N32, erff(x), "ulp_f32=2")
MATH1(math_tgammaf, N32, tgammaf(x * 0.25f), "ulp_f32=4")
MATH1(math_rsqrtf, N32, rsqrtf(x), "ulp_f32=2")
MATH2(math_powf, N32, powf(x, y * 0.125f), "ulp_f32=4")
MATH2(math_hypotf, N32, hypotf(x, y), "ulp_f32=1")
MATH2(math_fdividef, N32, __fdividef(x, y), "ulp_f32=2")
MATH1(math_fast_expf, N32, __expf(x), "ulp_f32=2")
MATH1(math_fast_log2f, N32, __log2f(x), "ulp_f32=2 abs_f32=2.4e-7")

// The half classes of the toolkit's headers.
CASE(half_class_arithmetic, 96) {
  const __half a = __ushort_as_half(conformance::input_F16(lane));
  const __half b = __ushort_as_half(conformance::input_F16(lane * 5 + 7));
  out[lane] = __half_as_ushort(a + b) | __half_as_ushort(a * b) << 16;
  out[lane + 32] = __half_as_ushort(a / b) | __half_as_ushort(hsqrt(__habs(a))) << 16;
  out[lane + 64] = (a < b) | (a == b) << 1 | __hisnan(a) << 2 | __half2int_rn(b) << 3;
}
CASE(bf16_class_arithmetic, 64) {
  const __nv_bfloat16 a = __ushort_as_bfloat16(conformance::input_BF16(lane));
  const __nv_bfloat16 b = __ushort_as_bfloat16(conformance::input_BF16(lane * 5 + 7));
  out[lane] = __bfloat16_as_ushort(a + b) | __bfloat16_as_ushort(a * b) << 16;
  out[lane + 32] = __bfloat16_as_ushort(__hfma(a, b, a)) | __bfloat16_as_ushort(a - b) << 16;
}

CONFORMANCE_MAIN()
