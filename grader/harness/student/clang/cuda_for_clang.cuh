// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The part of CUDA C++'s device library that a lab's kernel may use, for clang without an NVIDIA
/// toolkit: barriers, atomics, loads with cache hints, arithmetic, printf and assert. Each function
/// becomes the instruction nvcc makes of it. Source: CUDA C++ Programming Guide, "C++ Language
/// Extensions"; PTX ISA.
#pragma once

#include "cuda_keywords.cuh"

// --- barriers and fences ---------------------------------------------------------------------

// In asm, or between two fences: clang 14 believes that a call of its builtins cannot touch what
// only this file names, and moves loads of __shared__ variables from after a barrier to before it.

__device__ __forceinline__ void membound_keep_order() { asm volatile("" ::: "memory"); }
__device__ __forceinline__ void membound_syncthreads() { asm volatile("bar.sync 0;" ::: "memory"); }
#define __syncthreads() membound_syncthreads()  // a macro: the name itself is a builtin of clang
#define MEMBOUND_VOTING_BARRIER(function, builtin) \
  __device__ __forceinline__ int function(int p) { \
    membound_keep_order();                         \
    const int answer = builtin(p);                 \
    membound_keep_order();                         \
    return answer;                                 \
  }
MEMBOUND_VOTING_BARRIER(__syncthreads_count, __nvvm_bar0_popc)
MEMBOUND_VOTING_BARRIER(__syncthreads_and, __nvvm_bar0_and)
MEMBOUND_VOTING_BARRIER(__syncthreads_or, __nvvm_bar0_or)
#undef MEMBOUND_VOTING_BARRIER
__device__ __forceinline__ void __syncwarp(unsigned int mask = 0xffffffffu) {
  asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
__device__ __forceinline__ void __threadfence_block() { asm volatile("membar.cta;" ::: "memory"); }
__device__ __forceinline__ void __threadfence() { asm volatile("membar.gl;" ::: "memory"); }
__device__ __forceinline__ void __threadfence_system() { asm volatile("membar.sys;" ::: "memory"); }
__device__ __forceinline__ void __nanosleep(unsigned int ns) {
  asm volatile("nanosleep.u32 %0;" ::"r"(ns));
}
__device__ __forceinline__ long long clock64() {
  long long ticks;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(ticks));
  return ticks;
}

__device__ __forceinline__ long int clock() {
  int ticks;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(ticks));
  return ticks;
}
__device__ __forceinline__ void __trap() { asm volatile("trap;"); }

// --- address spaces --------------------------------------------------------------------------

__device__ __forceinline__ size_t __cvta_generic_to_shared(const void* address) {
  return reinterpret_cast<size_t>((const __attribute__((address_space(3))) void*)address);
}
__device__ __forceinline__ size_t __cvta_generic_to_global(const void* address) {
  return reinterpret_cast<size_t>((const __attribute__((address_space(1))) void*)address);
}

// --- atomics ---------------------------------------------------------------------------------
// One asm statement an operation: clang's own atomics would order more than CUDA's do.

#define MEMBOUND_ATOMIC(function, instruction, T, constraint)  \
  __device__ __forceinline__ T function(T* address, T value) { \
    T old;                                                     \
    asm volatile("atom." instruction " %0, [%1], %2;"          \
                 : "=" constraint(old)                         \
                 : "l"(address), constraint(value)             \
                 : "memory");                                  \
    return old;                                                \
  }
MEMBOUND_ATOMIC(atomicAdd, "add.s32", int, "r")
MEMBOUND_ATOMIC(atomicAdd, "add.u32", unsigned int, "r")
MEMBOUND_ATOMIC(atomicAdd, "add.u64", unsigned long long, "l")
MEMBOUND_ATOMIC(atomicAdd, "add.f32", float, "f")
MEMBOUND_ATOMIC(atomicAdd, "add.f64", double, "d")
MEMBOUND_ATOMIC(atomicAdd_block, "cta.add.s32", int, "r")
MEMBOUND_ATOMIC(atomicAdd_block, "cta.add.u32", unsigned int, "r")
MEMBOUND_ATOMIC(atomicAdd_block, "cta.add.u64", unsigned long long, "l")
MEMBOUND_ATOMIC(atomicAdd_block, "cta.add.f32", float, "f")
MEMBOUND_ATOMIC(atomicAdd_block, "cta.add.f64", double, "d")
MEMBOUND_ATOMIC(atomicMin, "min.s32", int, "r")
MEMBOUND_ATOMIC(atomicMin, "min.u32", unsigned int, "r")
MEMBOUND_ATOMIC(atomicMin, "min.s64", long long, "l")
MEMBOUND_ATOMIC(atomicMin, "min.u64", unsigned long long, "l")
MEMBOUND_ATOMIC(atomicMax, "max.s32", int, "r")
MEMBOUND_ATOMIC(atomicMax, "max.u32", unsigned int, "r")
MEMBOUND_ATOMIC(atomicMax, "max.s64", long long, "l")
MEMBOUND_ATOMIC(atomicMax, "max.u64", unsigned long long, "l")
MEMBOUND_ATOMIC(atomicExch, "exch.b32", int, "r")
MEMBOUND_ATOMIC(atomicExch, "exch.b32", unsigned int, "r")
MEMBOUND_ATOMIC(atomicExch, "exch.b64", unsigned long long, "l")
MEMBOUND_ATOMIC(atomicExch, "exch.b32", float, "f")
MEMBOUND_ATOMIC(atomicAnd, "and.b32", int, "r")
MEMBOUND_ATOMIC(atomicAnd, "and.b32", unsigned int, "r")
MEMBOUND_ATOMIC(atomicOr, "or.b32", int, "r")
MEMBOUND_ATOMIC(atomicOr, "or.b32", unsigned int, "r")
MEMBOUND_ATOMIC(atomicXor, "xor.b32", int, "r")
MEMBOUND_ATOMIC(atomicXor, "xor.b32", unsigned int, "r")
MEMBOUND_ATOMIC(atomicInc, "inc.u32", unsigned int, "r")
MEMBOUND_ATOMIC(atomicDec, "dec.u32", unsigned int, "r")
#undef MEMBOUND_ATOMIC
__device__ __forceinline__ int atomicSub(int* address, int value) {
  return atomicAdd(address, -value);
}
__device__ __forceinline__ unsigned int atomicSub(unsigned int* address, unsigned int value) {
  return atomicAdd(address, 0u - value);
}

#define MEMBOUND_ATOMIC_CAS(T, bits, constraint)                           \
  __device__ __forceinline__ T atomicCAS(T* address, T compare, T value) { \
    T old;                                                                 \
    asm volatile("atom.cas." bits " %0, [%1], %2, %3;"                     \
                 : "=" constraint(old)                                     \
                 : "l"(address), constraint(compare), constraint(value)    \
                 : "memory");                                              \
    return old;                                                            \
  }
MEMBOUND_ATOMIC_CAS(int, "b32", "r")
MEMBOUND_ATOMIC_CAS(unsigned int, "b32", "r")
MEMBOUND_ATOMIC_CAS(unsigned long long, "b64", "l")
#undef MEMBOUND_ATOMIC_CAS

// --- loads and stores with a cache hint ------------------------------------------------------

#define MEMBOUND_CACHED(T, suffix, constraint)               \
  MEMBOUND_CACHED_LOAD(__ldg, "nc", T, suffix, constraint)   \
  MEMBOUND_CACHED_LOAD(__ldca, "ca", T, suffix, constraint)  \
  MEMBOUND_CACHED_LOAD(__ldcg, "cg", T, suffix, constraint)  \
  MEMBOUND_CACHED_LOAD(__ldcs, "cs", T, suffix, constraint)  \
  MEMBOUND_CACHED_STORE(__stwb, "wb", T, suffix, constraint) \
  MEMBOUND_CACHED_STORE(__stcg, "cg", T, suffix, constraint) \
  MEMBOUND_CACHED_STORE(__stcs, "cs", T, suffix, constraint)
#define MEMBOUND_CACHED_LOAD(function, hint, T, suffix, constraint) \
  __device__ __forceinline__ T function(const T* address) {         \
    T value;                                                        \
    asm volatile("ld.global." hint "." suffix " %0, [%1];"          \
                 : "=" constraint(value)                            \
                 : "l"(address)                                     \
                 : "memory");                                       \
    return value;                                                   \
  }
#define MEMBOUND_CACHED_STORE(function, hint, T, suffix, constraint) \
  __device__ __forceinline__ void function(T* address, T value) {    \
    asm volatile("st.global." hint "." suffix " [%0], %1;"           \
                 :                                                   \
                 : "l"(address), constraint(value)                   \
                 : "memory");                                        \
  }
MEMBOUND_CACHED(int, "s32", "r")
MEMBOUND_CACHED(unsigned int, "u32", "r")
MEMBOUND_CACHED(long long, "s64", "l")
MEMBOUND_CACHED(unsigned long long, "u64", "l")
MEMBOUND_CACHED(float, "f32", "f")
MEMBOUND_CACHED(double, "f64", "d")
#undef MEMBOUND_CACHED_LOAD
#undef MEMBOUND_CACHED_STORE

#define MEMBOUND_CACHED_LOAD(function, hint, T, suffix, c)          \
  __device__ __forceinline__ T##2 function(const T##2 * address) {  \
    T##2 v;                                                         \
    asm volatile("ld.global." hint ".v2." suffix " {%0, %1}, [%2];" \
                 : "=" c(v.x), "=" c(v.y)                           \
                 : "l"(address)                                     \
                 : "memory");                                       \
    return v;                                                       \
  }
#define MEMBOUND_CACHED_STORE(function, hint, T, suffix, c)          \
  __device__ __forceinline__ void function(T##2 * address, T##2 v) { \
    asm volatile("st.global." hint ".v2." suffix " [%0], {%1, %2};"  \
                 :                                                   \
                 : "l"(address), c(v.x), c(v.y)                      \
                 : "memory");                                        \
  }
MEMBOUND_CACHED(int, "s32", "r")
MEMBOUND_CACHED(uint, "u32", "r")
MEMBOUND_CACHED(float, "f32", "f")
MEMBOUND_CACHED(double, "f64", "d")
#undef MEMBOUND_CACHED_LOAD
#undef MEMBOUND_CACHED_STORE

#define MEMBOUND_CACHED_LOAD(function, hint, T, suffix, c)                  \
  __device__ __forceinline__ T##4 function(const T##4 * address) {          \
    T##4 v;                                                                 \
    asm volatile("ld.global." hint ".v4." suffix " {%0, %1, %2, %3}, [%4];" \
                 : "=" c(v.x), "=" c(v.y), "=" c(v.z), "=" c(v.w)           \
                 : "l"(address)                                             \
                 : "memory");                                               \
    return v;                                                               \
  }
#define MEMBOUND_CACHED_STORE(function, hint, T, suffix, c)                 \
  __device__ __forceinline__ void function(T##4 * address, T##4 v) {        \
    asm volatile("st.global." hint ".v4." suffix " [%0], {%1, %2, %3, %4};" \
                 :                                                          \
                 : "l"(address), c(v.x), c(v.y), c(v.z), c(v.w)             \
                 : "memory");                                               \
  }
MEMBOUND_CACHED(int, "s32", "r")
MEMBOUND_CACHED(uint, "u32", "r")
MEMBOUND_CACHED(float, "f32", "f")
#undef MEMBOUND_CACHED_LOAD
#undef MEMBOUND_CACHED_STORE
#undef MEMBOUND_CACHED

// --- arithmetic ------------------------------------------------------------------------------

#define MEMBOUND_MIN_MAX(T)                                                               \
  __host__ __device__ constexpr __forceinline__ T min(T a, T b) { return b < a ? b : a; } \
  __host__ __device__ constexpr __forceinline__ T max(T a, T b) { return a < b ? b : a; }
MEMBOUND_MIN_MAX(int)
MEMBOUND_MIN_MAX(unsigned int)
MEMBOUND_MIN_MAX(long)
MEMBOUND_MIN_MAX(unsigned long)
MEMBOUND_MIN_MAX(long long)
MEMBOUND_MIN_MAX(unsigned long long)
#undef MEMBOUND_MIN_MAX
// As CUDA's: a NaN loses against a number (min.f32), which `<` would not give.
__device__ __forceinline__ float fminf(float a, float b) { return __builtin_fminf(a, b); }
__device__ __forceinline__ float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
__device__ __forceinline__ double fmin(double a, double b) { return __builtin_fmin(a, b); }
__device__ __forceinline__ double fmax(double a, double b) { return __builtin_fmax(a, b); }
__device__ __forceinline__ float min(float a, float b) { return fminf(a, b); }
__device__ __forceinline__ float max(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double min(double a, double b) { return fmin(a, b); }
__device__ __forceinline__ double max(double a, double b) { return fmax(a, b); }
__device__ __forceinline__ float fabsf(float a) { return __builtin_fabsf(a); }
__device__ __forceinline__ double fabs(double a) { return __builtin_fabs(a); }
__device__ __forceinline__ float abs(float a) { return fabsf(a); }
__device__ __forceinline__ double abs(double a) { return fabs(a); }
__device__ __forceinline__ int abs(int a) { return a < 0 ? -a : a; }
__device__ __forceinline__ long long abs(long long a) { return a < 0 ? -a : a; }
__device__ __forceinline__ long long llabs(long long a) { return a < 0 ? -a : a; }
__device__ __forceinline__ float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
__device__ __forceinline__ double sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
__device__ __forceinline__ float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
__device__ __forceinline__ float fmaf(float a, float b, float c) {
  return __nvvm_fma_rn_f(a, b, c);
}
__device__ __forceinline__ double fma(double a, double b, double c) {
  return __nvvm_fma_rn_d(a, b, c);
}
#define MEMBOUND_APPROXIMATION(function, instruction)        \
  __device__ __forceinline__ float function(float a) {       \
    float result;                                            \
    asm(instruction ".f32 %0, %1;" : "=f"(result) : "f"(a)); \
    return result;                                           \
  }
MEMBOUND_APPROXIMATION(__sinf, "sin.approx")
MEMBOUND_APPROXIMATION(__cosf, "cos.approx")
MEMBOUND_APPROXIMATION(__log2f, "lg2.approx")
MEMBOUND_APPROXIMATION(membound_exp2, "ex2.approx")
#undef MEMBOUND_APPROXIMATION
__device__ __forceinline__ float __expf(float a) { return membound_exp2(a * 1.4426950408889634f); }
__device__ __forceinline__ float __exp10f(float a) { return membound_exp2(a * 3.321928094887362f); }
__device__ __forceinline__ float __logf(float a) { return __log2f(a) * 0.6931471805599453f; }
__device__ __forceinline__ float __log10f(float a) { return __log2f(a) * 0.30102999566398120f; }
__device__ __forceinline__ float __powf(float a, float b) { return membound_exp2(b * __log2f(a)); }
__device__ __forceinline__ float __fdividef(float a, float b) {
  float result;
  asm("div.approx.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
#define MEMBOUND_CLASSIFY(T, magnitude, bits)                                                 \
  __device__ __forceinline__ bool isnan(T a) { return a != a; }                               \
  __device__ __forceinline__ bool isinf(T a) { return magnitude(a) == T(__builtin_inf()); }   \
  __device__ __forceinline__ bool isfinite(T a) { return magnitude(a) < T(__builtin_inf()); } \
  __device__ __forceinline__ bool signbit(T a) { return __builtin_bit_cast(bits, a) < 0; }
MEMBOUND_CLASSIFY(float, __builtin_fabsf, int)
MEMBOUND_CLASSIFY(double, __builtin_fabs, long long)
#undef MEMBOUND_CLASSIFY
// To whole numbers, still floating-point. roundf() rounds halves away from zero.
#define MEMBOUND_ROUND(name)                                                           \
  __device__ __forceinline__ float name##f(float a) { return __builtin_##name##f(a); } \
  __device__ __forceinline__ float name(float a) { return __builtin_##name##f(a); }    \
  __device__ __forceinline__ double name(double a) { return __builtin_##name(a); }
MEMBOUND_ROUND(floor)
MEMBOUND_ROUND(ceil)
MEMBOUND_ROUND(trunc)
MEMBOUND_ROUND(rint)
MEMBOUND_ROUND(round)
#undef MEMBOUND_ROUND
__device__ __forceinline__ float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
__device__ __forceinline__ double copysign(double a, double b) { return __builtin_copysign(a, b); }
#define MEMBOUND_CONVERT(function, instruction, From, from, To, to) \
  __device__ __forceinline__ To function(From a) {                  \
    To result;                                                      \
    asm("cvt." instruction " %0, %1;" : "=" to(result) : from(a));  \
    return result;                                                  \
  }
MEMBOUND_CONVERT(__saturatef, "sat.f32.f32", float, "f", float, "f")
MEMBOUND_CONVERT(__float2int_rn, "rni.s32.f32", float, "f", int, "r")
MEMBOUND_CONVERT(__float2int_rz, "rzi.s32.f32", float, "f", int, "r")
MEMBOUND_CONVERT(__float2int_rd, "rmi.s32.f32", float, "f", int, "r")
MEMBOUND_CONVERT(__float2int_ru, "rpi.s32.f32", float, "f", int, "r")
MEMBOUND_CONVERT(__float2uint_rn, "rni.u32.f32", float, "f", unsigned int, "r")
MEMBOUND_CONVERT(__float2uint_rz, "rzi.u32.f32", float, "f", unsigned int, "r")
MEMBOUND_CONVERT(__int2float_rn, "rn.f32.s32", int, "r", float, "f")
MEMBOUND_CONVERT(__uint2float_rn, "rn.f32.u32", unsigned int, "r", float, "f")
#undef MEMBOUND_CONVERT
// Never joined to one multiply-add, as `*` and `+` may be.
__device__ __forceinline__ float __fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
__device__ __forceinline__ float __fadd_rn(float a, float b) { return __nvvm_add_rn_f(a, b); }
__device__ __forceinline__ double __dmul_rn(double a, double b) { return __nvvm_mul_rn_d(a, b); }
__device__ __forceinline__ double __dadd_rn(double a, double b) { return __nvvm_add_rn_d(a, b); }
__device__ __forceinline__ float __frcp_rn(float a) { return __nvvm_rcp_rn_f(a); }
__device__ __forceinline__ float __fsqrt_rn(float a) { return __nvvm_sqrt_rn_f(a); }
__device__ __forceinline__ int __popc(unsigned int a) { return __builtin_popcount(a); }
__device__ __forceinline__ int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
__device__ __forceinline__ int __clz(int a) {
  return a == 0 ? 32 : __builtin_clz(static_cast<unsigned int>(a));
}
__device__ __forceinline__ int __ffs(int a) { return __builtin_ffs(a); }
__device__ __forceinline__ int __clzll(long long a) {
  return a == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(a));
}
__device__ __forceinline__ int __ffsll(long long a) { return __builtin_ffsll(a); }
__device__ __forceinline__ int __mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
__device__ __forceinline__ unsigned int __umulhi(unsigned int a, unsigned int b) {
  return __nvvm_mulhi_ui(a, b);
}
__device__ __forceinline__ unsigned int __byte_perm(unsigned int a, unsigned int b,
                                                    unsigned int selector) {
  return __nvvm_prmt(a, b, selector);
}
__device__ __forceinline__ unsigned int __funnelshift_l(unsigned int low, unsigned int high,
                                                        unsigned int shift) {
  unsigned int result;
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
  return result;
}
__device__ __forceinline__ unsigned int __funnelshift_r(unsigned int low, unsigned int high,
                                                        unsigned int shift) {
  unsigned int result;
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
  return result;
}
__device__ __forceinline__ unsigned int __brev(unsigned int a) { return __builtin_bitreverse32(a); }
__device__ __forceinline__ int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
__device__ __forceinline__ unsigned int __float_as_uint(float a) {
  return __builtin_bit_cast(unsigned int, a);
}
__device__ __forceinline__ float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
__device__ __forceinline__ float __uint_as_float(unsigned int a) {
  return __builtin_bit_cast(float, a);
}
__device__ __forceinline__ long long __double_as_longlong(double a) {
  return __builtin_bit_cast(long long, a);
}
__device__ __forceinline__ double __longlong_as_double(long long a) {
  return __builtin_bit_cast(double, a);
}

// --- textures --------------------------------------------------------------------------------

using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

/// Four channels as the texture unit gives them: what a texel lacks is 0. The coordinates of
/// tex2D() are floats, those of tex1Dfetch(), of plain memory, whole numbers.
__device__ __forceinline__ float4 membound_fetch(cudaTextureObject_t texture, float x, float y) {
  float4 v;
  asm("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
      : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
      : "l"(texture), "f"(x), "f"(y));
  return v;
}
__device__ __forceinline__ float4 membound_fetch(cudaTextureObject_t texture, int i) {
  float4 v;
  asm("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
      : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
      : "l"(texture), "r"(i));
  return v;
}
template <typename T>
struct membound_texel;
template <>
struct membound_texel<float> {
  static __device__ __forceinline__ float of(float4 v) { return v.x; }
};
template <>
struct membound_texel<float2> {
  static __device__ __forceinline__ float2 of(float4 v) { return {v.x, v.y}; }
};
template <>
struct membound_texel<float4> {
  static __device__ __forceinline__ float4 of(float4 v) { return v; }
};
template <typename T>
__device__ __forceinline__ T tex2D(cudaTextureObject_t texture, float x, float y) {
  return membound_texel<T>::of(membound_fetch(texture, x, y));
}
template <typename T>
__device__ __forceinline__ T tex1Dfetch(cudaTextureObject_t texture, int i) {
  return membound_texel<T>::of(membound_fetch(texture, i));
}

#define INFINITY __builtin_inff()
#define HUGE_VALF __builtin_huge_valf()
#define NAN __builtin_nanf("")
#define FLT_MAX __FLT_MAX__
#define INT_MAX __INT_MAX__

// --- the device's heap -----------------------------------------------------------------------

extern "C" __device__ void* malloc(size_t bytes);
extern "C" __device__ void free(void* address);

// --- output ----------------------------------------------------------------------------------

extern "C" __device__ int vprintf(const char* format, const char* arguments);
/// clang turns a call of printf in device code into one of vprintf, once it has seen this.
extern "C" __device__ int printf(const char* format, ...);
extern "C" __attribute__((noreturn)) __device__ void __assertfail(const char* expression,
                                                                  const char* file,
                                                                  unsigned int line,
                                                                  const char* function,
                                                                  size_t char_bytes);
#define assert(condition) \
  ((condition) ? void() : __assertfail(#condition, __FILE__, __LINE__, __func__, 1))
