// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// CUDA's own vocabulary for clang without an NVIDIA toolkit: keywords, dim3, vector types,
/// threadIdx and the other built-in variables, shuffles and votes. Included before kernel.cu
/// (`clang -x cuda --cuda-device-only -nocudainc -nocudalib -include …/cuda_for_clang.cuh`).
/// Leans on the built-in variables' header that clang itself ships; left out: everything a host
/// would need.
#pragma once

// libstdc++ 13 and newer say __attribute__((__noinline__)), which a macro would spoil. From version
// 15 on clang knows CUDA's word itself; before that its headers come first.
#if __clang_major__ < 15
#ifdef MEMBOUND_PROGRAM
#include <memory>
#include <string>
#endif
#define __noinline__ __attribute__((noinline))
#endif

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __grid_constant__

using size_t = decltype(sizeof(0));
using cudaStream_t = struct CUstream_st*;

struct uint3 {
  unsigned int x, y, z;
};

struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
      : x(x_), y(y_), z(z_) {}
};

// Vector types with the sizes and alignments of CUDA's vector_types.h, and make_<type>.
#define MEMBOUND_VECTOR_1(name, T) \
  struct name##1 {                 \
    T x;                           \
  };                               \
  __host__ __device__ constexpr name##1 make_##name##1(T x) { return {x}; }
#define MEMBOUND_VECTOR_2(name, T)          \
  struct __align__(2 * sizeof(T)) name##2 { \
    T x, y;                                 \
  };                                        \
  __host__ __device__ constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }
#define MEMBOUND_VECTOR_3(name, T) \
  struct name##3 {                 \
    T x, y, z;                     \
  };                               \
  __host__ __device__ constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }
#define MEMBOUND_VECTOR_4(name, T)                                 \
  struct __align__((sizeof(T) < 4 ? 4 * sizeof(T) : 16)) name##4 { \
    T x, y, z, w;                                                  \
  };                                                               \
  __host__ __device__ constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define MEMBOUND_VECTORS(name, T) \
  MEMBOUND_VECTOR_1(name, T)      \
  MEMBOUND_VECTOR_2(name, T)      \
  MEMBOUND_VECTOR_3(name, T)      \
  MEMBOUND_VECTOR_4(name, T)
MEMBOUND_VECTORS(char, signed char)
MEMBOUND_VECTORS(uchar, unsigned char)
MEMBOUND_VECTORS(short, short)
MEMBOUND_VECTORS(ushort, unsigned short)
MEMBOUND_VECTORS(int, int)
MEMBOUND_VECTOR_1(uint, unsigned int)
MEMBOUND_VECTOR_2(uint, unsigned int)
MEMBOUND_VECTOR_4(uint, unsigned int)
MEMBOUND_VECTORS(longlong, long long)
MEMBOUND_VECTORS(ulonglong, unsigned long long)
MEMBOUND_VECTORS(float, float)
MEMBOUND_VECTORS(double, double)
__host__ __device__ constexpr uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) {
  return {x, y, z};
}
#undef MEMBOUND_VECTORS
#undef MEMBOUND_VECTOR_1
#undef MEMBOUND_VECTOR_2
#undef MEMBOUND_VECTOR_3
#undef MEMBOUND_VECTOR_4

#include <__clang_cuda_builtin_vars.h>

__device__ inline __cuda_builtin_threadIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_threadIdx_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_blockIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockIdx_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_blockDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockDim_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_gridDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_gridDim_t::operator uint3() const { return {x, y, z}; }

// Shuffles and votes of whole warps. The last argument of the builtin packs the segment's limit
// and mask as PTX's shfl.sync wants them: ((32 - width) << 8) | clamp.
#define MEMBOUND_SHUFFLE(function, mode, clamp, Lane)                                       \
  __device__ inline int function(unsigned int mask, int value, Lane lane, int width = 32) { \
    return __nvvm_shfl_sync_##mode##_i32(mask, value, static_cast<int>(lane),               \
                                         ((32 - width) << 8) | clamp);                      \
  }                                                                                         \
  template <typename T>                                                                     \
  __device__ inline T function(unsigned int mask, T value, Lane lane, int width = 32) {     \
    static_assert(sizeof(T) % 4 == 0, "a shuffle moves words of 4 bytes");                  \
    int words[sizeof(T) / 4];                                                               \
    __builtin_memcpy(words, &value, sizeof(T));                                             \
    for (int& word : words) word = function(mask, word, lane, width);                       \
    __builtin_memcpy(&value, words, sizeof(T));                                             \
    return value;                                                                           \
  }
MEMBOUND_SHUFFLE(__shfl_sync, idx, 0x1f, int)
MEMBOUND_SHUFFLE(__shfl_up_sync, up, 0, unsigned int)
MEMBOUND_SHUFFLE(__shfl_down_sync, down, 0x1f, unsigned int)
MEMBOUND_SHUFFLE(__shfl_xor_sync, bfly, 0x1f, int)
#undef MEMBOUND_SHUFFLE

__device__ inline unsigned int __ballot_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_ballot_sync(mask, predicate);
}
__device__ inline int __any_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_any_sync(mask, predicate);
}
__device__ inline int __all_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_all_sync(mask, predicate);
}
__device__ inline unsigned int __activemask() {
  unsigned int mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}

// Matches and reductions of whole warps: clang 14 has no builtins for most of them.
#define MEMBOUND_MATCH(T, suffix, constraint)                                                      \
  __device__ inline unsigned int __match_any_sync(unsigned int mask, T value) {                    \
    unsigned int equal;                                                                            \
    asm volatile("match.any.sync." suffix " %0, %1, %2;"                                           \
                 : "=r"(equal)                                                                     \
                 : constraint(value), "r"(mask));                                                  \
    return equal;                                                                                  \
  }                                                                                                \
  __device__ inline unsigned int __match_all_sync(unsigned int mask, T value, int* all) {          \
    unsigned int equal;                                                                            \
    int holds;                                                                                     \
    asm volatile("{ .reg .pred p; match.all.sync." suffix " %0|p, %2, %3; selp.s32 %1, 1, 0, p; }" \
                 : "=r"(equal), "=r"(holds)                                                        \
                 : constraint(value), "r"(mask));                                                  \
    *all = holds;                                                                                  \
    return equal;                                                                                  \
  }
MEMBOUND_MATCH(int, "b32", "r")
MEMBOUND_MATCH(unsigned int, "b32", "r")
MEMBOUND_MATCH(float, "b32", "f")
MEMBOUND_MATCH(long long, "b64", "l")
MEMBOUND_MATCH(unsigned long long, "b64", "l")
MEMBOUND_MATCH(double, "b64", "d")
#undef MEMBOUND_MATCH

// For compute_80 and later.
#define MEMBOUND_REDUCE(operation, T, suffix)                                   \
  __device__ inline T __reduce_##operation##_sync(unsigned int mask, T value) { \
    T joined;                                                                   \
    asm volatile("redux.sync." #operation "." suffix " %0, %1, %2;"             \
                 : "=r"(joined)                                                 \
                 : "r"(value), "r"(mask));                                      \
    return joined;                                                              \
  }
MEMBOUND_REDUCE(add, int, "s32")
MEMBOUND_REDUCE(min, int, "s32")
MEMBOUND_REDUCE(max, int, "s32")
MEMBOUND_REDUCE(add, unsigned int, "u32")
MEMBOUND_REDUCE(min, unsigned int, "u32")
MEMBOUND_REDUCE(max, unsigned int, "u32")
MEMBOUND_REDUCE(and, unsigned int, "b32")
MEMBOUND_REDUCE(or, unsigned int, "b32")
MEMBOUND_REDUCE(xor, unsigned int, "b32")
#undef MEMBOUND_REDUCE
