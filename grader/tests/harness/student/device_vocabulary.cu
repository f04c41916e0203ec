// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses every function a lab's kernel may use, so that both device compilers are held to the same
// vocabulary: this file must compile with nvcc and, with our own device header, with clang.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "membound.cuh"

__global__ void __launch_bounds__(256, 2) barriers(int* out) {
  __shared__ int word[32];
  word[threadIdx.x] = threadIdx.x;
  __syncthreads();
  __syncwarp();
  __threadfence_block();
  __threadfence();
  __threadfence_system();
  __nanosleep(10);
  out[0] = __syncthreads_count(word[0]) + __syncthreads_and(word[1]) + __syncthreads_or(word[2]);
  out[1] = static_cast<int>(clock64()) + warpSize;
  const dim3 block = blockDim;
  out[2] = block.x + gridDim.y + blockIdx.z;
}

__global__ void warps(int* out, float* f, double* d) {
  const unsigned int all = 0xffffffffu;
  out[0] = __shfl_sync(all, out[1], 3) + __shfl_up_sync(all, out[1], 1) +
           __shfl_down_sync(all, out[1], 2) + __shfl_xor_sync(all, out[1], 4, 16);
  f[0] = __shfl_down_sync(all, f[1], 8);
  d[0] = __shfl_xor_sync(all, d[1], 8);
  out[2] = __ballot_sync(all, out[3]) + __any_sync(all, out[3]) + __all_sync(all, out[3]) +
           __activemask();
}

__global__ void matches(int* out, const float* f, const double* d, const long long* l) {
  const unsigned int all = 0xffffffffu;
  int equal;
  out[0] = __match_any_sync(all, out[1]) + __match_any_sync(all, f[0]) +
           __match_any_sync(all, d[0]) + __match_any_sync(all, l[0]);
  out[2] = __match_all_sync(all, out[3], &equal) + equal;
#if __CUDA_ARCH__ >= 800
  const auto bits = static_cast<unsigned int>(out[4]);
  out[5] = __reduce_add_sync(all, out[4]) + __reduce_min_sync(all, out[4]) +
           __reduce_max_sync(all, out[4]) + __reduce_add_sync(all, bits) +
           __reduce_min_sync(all, bits) + __reduce_max_sync(all, bits) +
           __reduce_and_sync(all, bits) + __reduce_or_sync(all, bits) +
           __reduce_xor_sync(all, bits);
#endif
}

__global__ void atomics(int* i, unsigned int* u, unsigned long long* l, float* f, double* d) {
  i[0] = atomicAdd(i, 1) + atomicSub(i, 1) + atomicMin(i, 1) + atomicMax(i, 1) + atomicExch(i, 1) +
         atomicAnd(i, 1) + atomicOr(i, 1) + atomicXor(i, 1) + atomicCAS(i, 1, 2);
  u[0] = atomicAdd(u, 1u) + atomicSub(u, 1u) + atomicMin(u, 1u) + atomicMax(u, 1u) +
         atomicExch(u, 1u) + atomicInc(u, 7u) + atomicDec(u, 7u) + atomicCAS(u, 1u, 2u);
  l[0] = atomicAdd(l, 1ull) + atomicMin(l, 1ull) + atomicMax(l, 1ull) + atomicExch(l, 1ull) +
         atomicCAS(l, 1ull, 2ull);
  f[0] = atomicAdd(f, 1.0f) + atomicExch(f, 1.0f);
  d[0] = atomicAdd(d, 1.0);
}

__global__ void cached(float* f, float2* f2, float4* f4, double* d, double2* d2, int* i, int4* i4) {
  __stcs(f, __ldg(f + 1) + __ldcs(f + 2) + __ldcg(f + 3) + __ldca(f + 4));
  __stcg(f2, __ldcs(f2 + 1));
  __stwb(f4, __ldg(f4 + 1));
  __stcs(d, __ldcs(d + 1));
  __stcs(d2, __ldg(d2 + 1));
  __stcs(i, __ldcs(i + 1));
  __stcs(i4, __ldcs(i4 + 1));
}

__global__ void arithmetic(float* f, double* d, int* i, long long* l) {
  f[0] = fminf(f[1], f[2]) + fmaxf(f[1], f[2]) + min(f[1], f[2]) + max(f[1], f[2]) + fabsf(f[1]) +
         sqrtf(f[1]) + rsqrtf(f[1]) + fmaf(f[1], f[2], f[3]);
  d[0] = fmin(d[1], d[2]) + fmax(d[1], d[2]) + min(d[1], d[2]) + fabs(d[1]) + sqrt(d[1]) +
         fma(d[1], d[2], d[3]);
  i[0] = min(i[1], i[2]) + max(i[1], i[2]) + abs(i[3]) + __popc(i[1]) + __clz(i[2]) + __ffs(i[3]) +
         __brev(i[4]) + __float_as_int(f[4]) + __float_as_uint(f[5]);
  l[0] = min(l[1], l[2]) + max(l[1], l[2]) + __popcll(l[3]) + __double_as_longlong(d[5]);
  f[1] = __int_as_float(i[5]) + __uint_as_float(i[6]);
  d[1] = __longlong_as_double(l[4]);
  const float4 v = make_float4(1, 2, 3, 4);
  const int2 w = make_int2(5, 6);
  f[2] = v.x + v.w + w.y;
}

__global__ void roundings(float* f, double* d, int* i, unsigned int* u, long long* l) {
  i[0] = isnan(f[0]) + isinf(f[0]) + isfinite(f[0]) + signbit(f[0]);
  i[1] = isnan(d[0]) + isinf(d[0]) + isfinite(d[0]) + signbit(d[0]);
  f[1] = floorf(f[2]) + ceilf(f[3]) + truncf(f[4]) + rintf(f[5]) + roundf(f[6]) +
         copysignf(f[7], f[8]) + abs(f[9]);
  d[1] = floor(d[2]) + ceil(d[3]) + trunc(d[4]) + rint(d[5]) + round(d[6]) + copysign(d[7], d[8]) +
         abs(d[9]);
  f[10] = floor(f[11]) + ceil(f[11]) + trunc(f[11]) + rint(f[11]) + round(f[11]);
  i[2] =
      __float2int_rn(f[12]) + __float2int_rz(f[13]) + __float2int_rd(f[14]) + __float2int_ru(f[15]);
  u[0] = __float2uint_rn(f[16]) + __float2uint_rz(f[17]) + __funnelshift_l(u[1], u[2], u[3]) +
         __funnelshift_r(u[4], u[5], u[6]);
  f[18] = __int2float_rn(i[3]) + __uint2float_rn(u[7]) + __saturatef(f[19]);
  f[20] = __fmul_rn(f[21], f[22]) + __fadd_rn(f[23], f[24]) + __frcp_rn(f[25]) + __fsqrt_rn(f[26]);
  d[10] = __dmul_rn(d[11], d[12]) + __dadd_rn(d[13], d[14]);
  l[0] = abs(l[1]) + llabs(l[2]);
}

__global__ void approximations(float* f) {
  f[0] = __sinf(f[1]) + __cosf(f[2]) + __expf(f[3]) + __logf(f[4]) + __powf(f[5], f[6]) +
         __fdividef(f[7], f[8]) + __exp10f(f[9]) + __log10f(f[10]) + __log2f(f[11]);
}

__global__ void groups(int* i, unsigned int* u) {
  namespace cg = cooperative_groups;
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto part = cg::tiled_partition<8>(warp);
  i[0] = warp.shfl_down(i[1], 1) + part.shfl(i[2], 3) + part.shfl_up(i[3], 1) +
         part.shfl_xor(i[4], 2) + part.any(i[5]) + part.all(i[6]);
  u[0] = part.ballot(i[7]) + block.thread_rank() + block.size() + warp.thread_rank() +
         warp.meta_group_rank() + part.num_threads() + block.group_index().x;
  warp.sync();
  cg::sync(block);
  const cg::grid_group grid = cg::this_grid();
  grid.sync();
  u[1] = static_cast<unsigned int>(grid.thread_rank() + grid.size() + grid.num_blocks());
}

__global__ void others(int* i, unsigned int* u, long long* l) {
  __shared__ int word[32];
  u[0] = static_cast<unsigned int>(__cvta_generic_to_shared(word + threadIdx.x));
  l[0] = static_cast<long long>(__cvta_generic_to_global(i));
  i[0] = __clzll(l[1]) + __ffsll(l[2]) + __mulhi(i[1], i[2]) + static_cast<int>(clock());
  u[1] = __umulhi(u[2], u[3]) + __byte_perm(u[4], u[5], 0x1234);
  assert(i[0] != 0);
  if (i[3] == 7) __trap();
  if (int* mine = static_cast<int*>(malloc(64))) {
    printf("%p\n", static_cast<void*>(mine));
    free(mine);
  }
}

__constant__ float coefficients[16];

__global__ void textures(float* f, cudaTextureObject_t picture, cudaTextureObject_t line, int i) {
  const float4 four = tex2D<float4>(picture, f[1], f[2]);
  const float2 two = tex2D<float2>(picture, f[3], f[4]);
  f[0] = tex2D<float>(picture, f[5], f[6]) + four.w + two.y + tex1Dfetch<float>(line, i) +
         tex1Dfetch<float4>(line, i + 1).z + coefficients[i];
}

LAUNCH_SHAPE(arithmetic, long long n) {
  return {.grid = dim3(ceil_div(n, 256)), .block = dim3(256)};
}
LAUNCH_PLAN(cached, Gpu gpu, long long n) {
  return plan_with_scratch(4 * n)
      .then(KERNEL(cached), {.grid = dim3(8 * gpu.sm_count), .block = dim3(256)})
      .then(KERNEL(cached), {.grid = dim3(1), .block = dim3(1024)});
}
