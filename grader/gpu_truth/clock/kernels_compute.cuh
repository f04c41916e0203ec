// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The same for arithmetic, matrices, shared memory, barriers, fences, collectives and atomics.
#pragma once

#include "kernels_memory.cuh"

namespace kernels {

// Arithmetic.
template <int kRounds, typename T>
__global__ void polynomial(const T* in, T* out) {
  T x = in[linear()], y = x;
#pragma unroll 16
  for (int i = 0; i < kRounds; ++i) y = y * x + T(0.5);
  out[linear()] = y;
}
template <int kRounds>
__global__ void sines(const float* in, float* out) {
  float x = in[linear()];
#pragma unroll 4
  for (int i = 0; i < kRounds; ++i) x = __sinf(x) + __expf(x);
  out[linear()] = x;
}
__global__ void divisions(const int* in, int* out, int by) {
  int x = in[linear()];
#pragma unroll 4
  for (int i = 0; i < 16; ++i) x = x / (by + i) + 100000 % (x + 1);
  out[linear()] = x;
}
__global__ void two_ways(const float* in, float* out) {
  float x = in[linear()];
  if (threadIdx.x % 2 == 0) {
#pragma unroll 8
    for (int i = 0; i < 64; ++i) x = x * x + 0.25f;
  } else {
#pragma unroll 8
    for (int i = 0; i < 64; ++i) x = x * 0.5f - x * x;
  }
  out[linear()] = x;
}
__global__ void many_ways(const float* in, float* out) {
  float x = in[linear()];
  const int rounds = threadIdx.x % 32 * 8;
  for (int i = 0; i < rounds; ++i) x = x * x + 0.25f;
  out[linear()] = x;
}
__global__ void local_array(const int* in, int* out, u32 n) {
  int ring[16];
  for (int i = 0; i < 16; ++i) ring[i] = i;
  int at = in[linear()] % 16;
  for (int i = 0; i < 32; ++i) {
    at = (ring[at] + i) % 16;
    ring[(at + i) % 16] = at;
  }
  out[linear()] = at;
}

// Matrices.
__global__ void matrix_vector_rows(const float* a, const float* x, float* y, u32 width) {
  float sum = 0;
  for (u32 k = 0; k < width; ++k) sum += a[linear() * width + k] * x[k];
  y[linear()] = sum;
}
__global__ void matrix_vector_warps(const float* a, const float* x, float* y, u32 width) {
  const u32 row = linear() / 32;
  float sum = 0;
  for (u32 k = threadIdx.x % 32; k < width; k += 32) sum += a[row * width + k] * x[k];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) y[row] = sum;
}
__global__ void product_naive(const float* a, const float* b, float* c, u32 width) {
  const u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (u32 k = 0; k < width; ++k) sum += a[y * width + k] * b[k * width + x];
  c[y * width + x] = sum;
}
template <int kTile>
__global__ void product_tiled(const float* a, const float* b, float* c, u32 width) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const u32 x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (u32 k = 0; k < width; k += kTile) {
    left[threadIdx.y][threadIdx.x] = a[y * width + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * width + x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  c[y * width + x] = sum;
}
/// A block of 256 threads makes 64 x 64 results, a thread 4 x 4.
__global__ void product_registers(const float* a, const float* b, float* c, u32 width) {
  __shared__ float left[16][64 + 4], right[16][64];
  const u32 tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sums[4][4] = {};
  for (u32 k = 0; k < width; k += 16) {
    for (u32 i = threadIdx.x; i < 1024; i += 256) {
      left[i % 16][i / 16] = a[(blockIdx.y * 64 + i / 16) * width + k + i % 16];
      right[i / 64][i % 64] = b[(k + i / 64) * width + blockIdx.x * 64 + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
#pragma unroll
      for (int v = 0; v < 4; ++v)
#pragma unroll
        for (int u = 0; u < 4; ++u) sums[v][u] += left[i][ty * 4 + v] * right[i][tx * 4 + u];
    }
    __syncthreads();
  }
  for (int v = 0; v < 4; ++v)
    for (int u = 0; u < 4; ++u)
      c[(blockIdx.y * 64 + ty * 4 + v) * width + blockIdx.x * 64 + tx * 4 + u] = sums[v][u];
}

// Shared memory, collectives, barriers, fences, atomics.
__global__ void banks(const int* in, int* out, u32 stride) {
  __shared__ int words[8192];
  for (u32 i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = in[i];
  __syncthreads();
  int sum = 0;
#pragma unroll 8
  for (u32 i = 0; i < 64; ++i) sum += words[(threadIdx.x * stride + i * 33) % 8192];
  out[linear()] = sum;
}
__global__ void many_barriers(const int* in, int* out, int rounds) {
  int x = in[linear()];
  for (int i = 0; i < rounds; ++i) {
    __syncthreads();
    x = x * 3 + i;
  }
  out[linear()] = x;
}
__global__ void bitonic(int* data) {
  __shared__ int part[512];
  part[threadIdx.x] = data[linear()];
  for (u32 size = 2; size <= 512; size *= 2)
    for (u32 step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      const u32 other = threadIdx.x ^ step;
      if (other > threadIdx.x) {
        const int a = part[threadIdx.x], b = part[other];
        if ((a > b) == ((threadIdx.x & size) == 0)) part[threadIdx.x] = b, part[other] = a;
      }
    }
  __syncthreads();
  data[linear()] = part[threadIdx.x];
}
__global__ void scan_blocks(const int* in, int* out) {
  __shared__ int part[2][256];
  int from = 0;
  part[0][threadIdx.x] = in[linear()];
  for (u32 step = 1; step < 256; step *= 2) {
    __syncthreads();
    part[1 - from][threadIdx.x] =
        part[from][threadIdx.x] + (threadIdx.x >= step ? part[from][threadIdx.x - step] : 0);
    from = 1 - from;
  }
  __syncthreads();
  out[linear()] = part[from][threadIdx.x];
}
template <int kFences, int kScope>
__global__ void fences(const int* in, int* out) {
  int x = in[linear()];
#pragma unroll
  for (int i = 0; i < kFences; ++i) {
    out[linear()] = x + i;
    if (kScope == 0) __threadfence_block();
    if (kScope == 1) __threadfence();
    if (kScope == 2) __threadfence_system();
  }
}
template <int kRounds>
__global__ void matches(const int* in, int* out) {
  int x = in[linear()];
  for (int i = 0; i < kRounds; ++i) x += __popc(__match_any_sync(~0u, x));
  out[linear()] = x;
}
template <int kRounds>
__global__ void votes(const int* in, int* out) {
  int x = in[linear()];
  for (int i = 0; i < kRounds; ++i) x += __popc(__ballot_sync(~0u, x & 1 << i % 8));
  out[linear()] = x;
}
__global__ void histogram_global(const int* in, u32* bins, u32 mask) {
  atomicAdd(&bins[static_cast<u32>(in[linear()]) & mask], 1u);
}
__global__ void histogram_shared(const int* in, u32* bins, u32 n) {
  __shared__ u32 mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (u32 i = linear(); i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[static_cast<u32>(in[i]) & 255u], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
__global__ void tickets(const int* in, int* out, u32* count) {
  const int x = in[linear()];
  if (x % 4 == 0) out[atomicAdd(count, 1u)] = x;
}
__constant__ float coefficients[1024];
__global__ void constant_index(const int* in, float* out, u32 spread) {
  float x = 0;
  int at = in[linear()];
  for (int i = 0; i < 16; ++i) x += coefficients[(at * spread + i * 32) & 1023u];
  out[linear()] = x;
}

}  // namespace kernels
