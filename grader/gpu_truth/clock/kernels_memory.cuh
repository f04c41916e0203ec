// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels of the kinds that students write, good and bad: copies, strides, transposes, sums, and
/// work that is not spread. `n` counts elements; sizes are whole multiples of blocks.
#pragma once

namespace kernels {

using u32 = unsigned;

inline __device__ u32 linear() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <typename T>
__global__ void copy(const T* in, T* out) {
  out[linear()] = in[linear()];
}
template <typename T, int kEach>
__global__ void copy_several(const T* in, T* out) {
  const u32 first = blockIdx.x * blockDim.x * kEach + threadIdx.x;
  T values[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) values[i] = in[first + i * blockDim.x];
#pragma unroll
  for (int i = 0; i < kEach; ++i) out[first + i * blockDim.x] = values[i];
}
template <typename T>
__global__ void copy_stride(const T* in, T* out, u32 n) {
  for (u32 i = linear(); i < n; i += gridDim.x * blockDim.x) out[i] = in[i];
}
/// Consecutive lanes lie `stride` apart; all of n is copied once.
template <bool kLoads, bool kStores>
__global__ void strided(const int* in, int* out, u32 n, u32 stride) {
  const u32 i = linear(), rows = n / stride, far = (i % rows) * stride + i / rows;
  out[kStores ? far : i] = in[kLoads ? far : i];
}
__global__ void offset_copy(const int* in, int* out, u32 offset) {
  out[linear()] = in[linear() + offset];
}
__global__ void reverse(const int* in, int* out, u32 n) { out[n - 1 - linear()] = in[linear()]; }
__global__ void fill(int* out) { out[linear()] = 7; }
__global__ void triad(const float* a, const float* b, float* out) {
  out[linear()] = a[linear()] + 3.0f * b[linear()];
}
__global__ void only_read(const float4* in, float* out, u32 n) {
  float sum = 0;
  for (u32 i = linear(); i < n; i += gridDim.x * blockDim.x) sum += in[i].x + in[i].w;
  if (sum == -1.0f) *out = sum;
}
__global__ void stencil3(const float* in, float* out, u32 n) {
  const u32 i = linear();
  if (i > 0 && i < n - 1) out[i] = in[i - 1] + in[i] + in[i + 1];
}
__global__ void stencil5(const float* in, float* out, u32 width) {
  const u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const u32 at = y * width + x;
  if (x > 0 && y > 0 && x < width - 1 && y < width - 1)
    out[at] = in[at - 1] + in[at + 1] + in[at - width] + in[at + width] - 4 * in[at];
}
__global__ void gather(const int* in, const int* index, int* out) {
  out[linear()] = in[index[linear()]];
}
__global__ void scatter(const int* in, const int* index, int* out) {
  out[index[linear()]] = in[linear()];
}

// Transposes of width x width.
template <typename T>
__global__ void transpose_row(const T* in, T* out, u32 width) {
  for (u32 x = 0; x < width; ++x) out[x * width + linear()] = in[linear() * width + x];
}
template <typename T>
__global__ void transpose_naive(const T* in, T* out, u32 width) {
  const u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[x * width + y] = in[y * width + x];
}
template <typename T, int kTile, int kRows, int kPad>
__global__ void transpose_tile(const T* in, T* out, u32 width) {
  __shared__ T tile[kTile][kTile + kPad];
  u32 x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
#pragma unroll
  for (u32 k = 0; k < kTile; k += kRows)
    tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x, y = blockIdx.x * kTile + threadIdx.y;
#pragma unroll
  for (u32 k = 0; k < kTile; k += kRows)
    out[(y + k) * width + x] = tile[threadIdx.x][threadIdx.y + k];
}

// Sums.
__global__ void sum_one_word(const float* in, float* out) { atomicAdd(out, in[linear()]); }
template <typename T>
__global__ void sum_shared_atomic(const T* in, T* out) {
  __shared__ T sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[linear()]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
__global__ void sum_tree(const float* in, float* out) {
  __shared__ float part[256];
  part[threadIdx.x] = in[linear()];
  __syncthreads();
  for (u32 half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
inline __device__ float warp_sum(float x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  return x;
}
__global__ void sum_shuffle(const float* in, float* out) {
  __shared__ float part[32];
  const float x = warp_sum(in[linear()]);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const float y = warp_sum(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0) atomicAdd(out, y);
}
__global__ void sum_vectors(const float4* in, float* out, u32 n) {
  float x = 0;
  for (u32 i = linear(); i < n; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    x += v.x + v.y + v.z + v.w;
  }
  x = warp_sum(x);
  if (threadIdx.x % 32 == 0) atomicAdd(out, x);
}
__global__ void sum_by_first_block(const float* in, float* out, u32 n) {
  if (blockIdx.x != 0) return;
  float x = 0;
  for (u32 i = threadIdx.x; i < n; i += blockDim.x) x += in[i];
  x = warp_sum(x);
  if (threadIdx.x % 32 == 0) atomicAdd(out, x);
}

// Work that is not spread: some threads, warps or blocks do it for all.
__global__ void first_block_copies(const int* in, int* out, u32 n) {
  if (blockIdx.x != 0) return;
  for (u32 i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i];
}
__global__ void one_warp_copies(const int* in, int* out) {
  if (threadIdx.x >= 32) return;
  const u32 first = blockIdx.x * blockDim.x;
  for (u32 i = threadIdx.x; i < blockDim.x; i += 32) out[first + i] = in[first + i];
}
__global__ void one_thread_copies(const int* in, int* out) {
  if (threadIdx.x != 0) return;
  const u32 first = blockIdx.x * blockDim.x;
  for (u32 i = 0; i < blockDim.x; ++i) out[first + i] = in[first + i];
}
/// Every `share`-th block does the work of as many.
__global__ void few_blocks_copy(const int* in, int* out, u32 share) {
  if (blockIdx.x % share != 0) return;
  for (u32 b = 0; b < share; ++b) {
    const u32 i = (blockIdx.x + b) * blockDim.x + threadIdx.x;
    out[i] = in[i];
  }
}
__global__ void triangle(const float* in, float* out, u32 width) {
  const u32 row = blockIdx.x;
  float sum = 0;
  for (u32 x = threadIdx.x; x < row; x += blockDim.x) sum += in[row * width + x];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) atomicAdd(&out[row], sum);
}

}  // namespace kernels
