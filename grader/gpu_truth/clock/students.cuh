// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernels of students.cu that move memory and sum.
#pragma once

namespace students {

using u32 = unsigned;
__device__ inline u32 me() { return blockIdx.x * blockDim.x + threadIdx.x; }

// --- element by element -------------------------------------------------------------------------
__global__ void saxpy(const float* x, float* y, u32 n, float a) {
  const u32 i = me();
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void swap_halves(const float2* in, float2* out) {
  const float2 v = in[me()];
  out[me()] = make_float2(v.y, v.x);
}
__global__ void lengths(const float* p, float* out) {
  const u32 i = 3 * me();
  out[me()] = sqrtf(p[i] * p[i] + p[i + 1] * p[i + 1] + p[i + 2] * p[i + 2]);
}
__global__ void to_points(const float* in, float* out, u32 n) {
  for (u32 k = 0; k < 3; ++k) out[3 * me() + k] = in[k * n + me()];
}
__global__ void from_points(const float* in, float* out, u32 n) {
  for (u32 k = 0; k < 3; ++k) out[k * n + me()] = in[3 * me() + k];
}
__global__ void look_up(const float* table, const int* index, float* out) {
  out[me()] = table[index[me()]] * 0.5f;
}
__global__ void drop(const float* in, const int* index, float* out) { out[index[me()]] = in[me()]; }
__global__ void flags(const int* index, unsigned char* out) { out[index[me()]] = 1; }
__global__ void every_third(float* out) { out[3 * me()] = 1.0f; }
__global__ void matrix_sum(const float* a, const float* b, float* c, u32 width) {
  const u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  c[y * width + x] = a[y * width + x] + b[y * width + x];
}
__global__ void upper(const unsigned char* in, unsigned char* out) {
  const unsigned char c = in[me()];
  out[me()] = c >= 'a' && c <= 'z' ? c - 32 : c;
}
__global__ void upper4(const uchar4* in, uchar4* out) {
  uchar4 c = in[me()];
  for (unsigned char* part : {&c.x, &c.y, &c.z, &c.w})
    if (*part >= 'a' && *part <= 'z') *part -= 32;
  out[me()] = c;
}

// --- pictures -----------------------------------------------------------------------------------
__global__ void blur(const float* in, float* out, u32 width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      const int sx = min(max(x + dx, 0), int(width) - 1), sy = min(max(y + dy, 0), int(width) - 1);
      sum += in[sy * width + sx];
    }
  out[y * width + x] = sum / 9;
}
__global__ void blur_tiles(const float* in, float* out, u32 width) {
  __shared__ float tile[18][18];
  const int bx = blockIdx.x * 16, by = blockIdx.y * 16;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
    const int x = min(max(bx + i % 18 - 1, 0), int(width) - 1);
    const int y = min(max(by + i / 18 - 1, 0), int(width) - 1);
    tile[i / 18][i % 18] = in[y * width + x];
  }
  __syncthreads();
  float sum = 0;
  for (int dy = 0; dy < 3; ++dy)
    for (int dx = 0; dx < 3; ++dx) sum += tile[threadIdx.y + dy][threadIdx.x + dx];
  out[(by + threadIdx.y) * width + bx + threadIdx.x] = sum / 9;
}
__global__ void jacobi(const double* in, double* out, u32 width) {
  const u32 x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x == 0 || y == 0 || x == width - 1 || y == width - 1) return;
  const double* p = in + y * width + x;
  out[y * width + x] = 0.25 * (p[-1] + p[1] + p[-int(width)] + p[width]);
}
__global__ void life(const unsigned char* in, unsigned char* out, u32 width) {
  const u32 x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  int near = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx != 0 || dy != 0)
        near += in[(y + dy + width) % width * width + (x + dx + width) % width] & 1;
  out[y * width + x] = near == 3 || (near == 2 && (in[y * width + x] & 1));
}
__constant__ float weights[17] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1};
__global__ void taps(const float* in, float* out) {
  float sum = 0;
  for (int k = 0; k < 17; ++k) sum += weights[k] * in[me() + k];
  out[me()] = sum;
}
__global__ void transpose_bytes(const unsigned char* in, unsigned char* out, u32 width) {
  __shared__ unsigned char tile[32][33];
  const u32 x = blockIdx.x * 32, y = blockIdx.y * 32;
  tile[threadIdx.y][threadIdx.x] = in[(y + threadIdx.y) * width + x + threadIdx.x];
  __syncthreads();
  out[(x + threadIdx.y) * width + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void transpose_columns(const float* in, float* out, u32 width) {
  const u32 x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[y * width + x] = in[x * width + y];
}

// --- sums and counts ----------------------------------------------------------------------------
__device__ inline float warp_total(float x) {
  for (int s = 16; s > 0; s >>= 1) x += __shfl_down_sync(0xffffffffu, x, s);
  return x;
}
__global__ void column_sums(const float* m, float* out, u32 columns, u32 rows) {
  float sum = 0;
  for (u32 y = 0; y < rows; ++y) sum += m[y * columns + me()];
  out[me()] = sum;
}
__global__ void row_sums_block(const float* m, float* out, u32 columns) {
  __shared__ float part[256];
  float sum = 0;
  for (u32 x = threadIdx.x; x < columns; x += blockDim.x) sum += m[blockIdx.x * columns + x];
  part[threadIdx.x] = sum;
  for (u32 s = blockDim.x / 2; s > 0; s >>= 1) {
    __syncthreads();
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
__global__ void row_sums_warp(const float* m, float* out, u32 columns) {
  const u32 row = me() / 32;
  float sum = 0;
  for (u32 x = threadIdx.x % 32; x < columns; x += 32) sum += m[row * columns + x];
  sum = warp_total(sum);
  if (threadIdx.x % 32 == 0) out[row] = sum;
}
__global__ void row_sums_thread(const float* m, float* out, u32 columns) {
  float sum = 0;
  for (u32 x = 0; x < columns; ++x) sum += m[me() * columns + x];
  out[me()] = sum;
}
__global__ void largest(const int* in, int* out) { atomicMax(out, in[me()]); }
__global__ void dot_double(const double* a, const double* b, double* out, u32 n) {
  __shared__ double part[256];
  double sum = 0;
  for (u32 i = me(); i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (u32 s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
__global__ void byte_counts(const unsigned char* in, u32* counts) {
  atomicAdd(&counts[in[me()]], 1u);
}
__global__ void byte_counts_shared(const unsigned char* in, u32* counts, u32 n) {
  __shared__ u32 mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (u32 i = me(); i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[in[i]], 1u);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}
__global__ void votes_for(const int* in, u32* counts) { atomicAdd(&counts[in[me()]], 1u); }
__global__ void block_sums(const float* in, float* out) {
  __shared__ float part[16];
  float x = warp_total(in[me()]);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x < 32) {
    x = warp_total(threadIdx.x < 16 ? part[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(out, x);
  }
}

}  // namespace students
