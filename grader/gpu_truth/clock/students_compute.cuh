// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// More kernels of students.cu: matrices, arithmetic, shared and local memory, sparse rows.
#pragma once

#include "students.cuh"

namespace students {

// --- matrices and bodies ------------------------------------------------------------------------
__global__ void product_double(const double* a, const double* b, double* c, u32 width) {
  __shared__ double ta[16][16], tb[16][16];
  const u32 tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  double sum = 0;
  for (u32 t = 0; t < width / 16; ++t) {
    ta[ty][tx] = a[y * width + t * 16 + tx];
    tb[ty][tx] = b[(t * 16 + ty) * width + x];
    __syncthreads();
    for (u32 k = 0; k < 16; ++k) sum += ta[ty][k] * tb[k][tx];
    __syncthreads();
  }
  c[y * width + x] = sum;
}
__global__ void product_small(const float* a, const float* b, float* c, u32 width) {
  __shared__ float ta[8][8], tb[8][8];
  const u32 tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 8 + tx, y = blockIdx.y * 8 + ty;
  float sum = 0;
  for (u32 t = 0; t < width / 8; ++t) {
    ta[ty][tx] = a[y * width + t * 8 + tx];
    tb[ty][tx] = b[(t * 8 + ty) * width + x];
    __syncthreads();
    for (u32 k = 0; k < 8; ++k) sum += ta[ty][k] * tb[k][tx];
    __syncthreads();
  }
  c[y * width + x] = sum;
}
__global__ void product_swapped(const float* a, const float* b, float* c, u32 width) {
  const u32 row = blockIdx.x * blockDim.x + threadIdx.x,
            col = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (u32 k = 0; k < width; ++k) sum += a[row * width + k] * b[k * width + col];
  c[row * width + col] = sum;
}
__global__ void bodies(const float4* in, float4* out, u32 n) {
  __shared__ float4 tile[256];
  const float4 p = in[me()];
  float ax = 0, ay = 0, az = 0;
  for (u32 t = 0; t < n; t += blockDim.x) {
    tile[threadIdx.x] = in[t + threadIdx.x];
    __syncthreads();
    for (u32 j = 0; j < blockDim.x; ++j) {
      const float dx = tile[j].x - p.x, dy = tile[j].y - p.y, dz = tile[j].z - p.z;
      const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), w = tile[j].w * r * r * r;
      ax += w * dx, ay += w * dy, az += w * dz;
    }
    __syncthreads();
  }
  out[me()] = make_float4(ax, ay, az, 0);
}

// --- arithmetic ---------------------------------------------------------------------------------
__global__ void mandelbrot(int* out, u32 width, int most) {
  const u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float cx = -2 + 3.0f * x / width, cy = -1.5f + 3.0f * y / width;
  float zx = 0, zy = 0;
  int k = 0;
  while (k < most && zx * zx + zy * zy < 4) {
    const float t = zx * zx - zy * zy + cx;
    zy = 2 * zx * zy + cy;
    zx = t;
    ++k;
  }
  out[y * width + x] = k;
}
__global__ void collatz_length(int* out) {
  unsigned long long v = me() + 1;
  int steps = 0;
  while (v != 1) {
    v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    ++steps;
  }
  out[me()] = steps;
}
__global__ void primes(int* out) {
  const u32 v = me() + 2;
  int prime = 1;
  for (u32 k = 2; k * k <= v; ++k)
    if (v % k == 0) {
      prime = 0;
      break;
    }
  out[me()] = prime;
}
__global__ void divisors(const int* a, const int* b, int* out) {
  int x = a[me()] + 1, y = b[me()] + 1;
  while (y != 0) {
    const int r = x % y;
    x = y;
    y = r;
  }
  out[me()] = x;
}
__global__ void options(const float* spot, const float* strike, float* out) {
  const float s = spot[me()] + 1, k = strike[me()] + 1, v = 0.2f, t = 0.5f;
  const float d1 = (logf(s / k) + 0.5f * v * v * t) / (v * sqrtf(t)), d2 = d1 - v * sqrtf(t);
  out[me()] = 0.5f * s * erfcf(-d1 * 0.7071f) - 0.5f * k * expf(-0.01f * t) * erfcf(-d2 * 0.7071f);
}
__global__ void exponentials(const double* in, double* out) {
  double x = in[me()] * 0.001;
  for (int k = 0; k < 4; ++k) x = exp(-x) + sqrt(x + 1);
  out[me()] = x;
}
__global__ void quotients(const float* in, float* out) {
  out[me()] = 1 / (in[me()] + 1) + in[me()] / 7;
}
__global__ void bits(const int* in, int* out) {
  int v = in[me()], count = 0;
  for (int k = 0; k < 32; ++k)
    if (v >> k & 1) ++count;
  out[me()] = count;
}
__global__ void pi_by_chance(u32* hits, int draws) {
  u32 seed = me() * 1664525u + 1013904223u, inside = 0;
  for (int k = 0; k < draws; ++k) {
    seed = seed * 1664525u + 1013904223u;
    const float x = (seed >> 8) * (1.0f / 16777216);
    seed = seed * 1664525u + 1013904223u;
    const float y = (seed >> 8) * (1.0f / 16777216);
    if (x * x + y * y <= 1) ++inside;
  }
  atomicAdd(hits, inside);
}

// --- shared and local memory, searches, sparse rows ---------------------------------------------
__global__ void prefix_sums(const int* in, int* out) {
  __shared__ int part[512];
  part[threadIdx.x] = in[me()];
  __syncthreads();
  for (u32 s = 1; s < 512; s *= 2) {
    int left = 0;
    if (threadIdx.x >= s) left = part[threadIdx.x - s];
    __syncthreads();
    part[threadIdx.x] += left;
    __syncthreads();
  }
  out[me()] = part[threadIdx.x];
}
__global__ void odd_even(const int* in, int* out) {
  __shared__ int part[256];
  const u32 t = threadIdx.x;
  part[t] = in[me()];
  __syncthreads();
  for (u32 k = 0; k < 256; ++k) {
    if (t % 2 == k % 2 && t + 1 < 256 && part[t] > part[t + 1]) {
      const int swap = part[t];
      part[t] = part[t + 1], part[t + 1] = swap;
    }
    __syncthreads();
  }
  out[me()] = part[t];
}
__global__ void insertion(const int* in, int* out) {
  int v[8];
  for (int k = 0; k < 8; ++k) v[k] = in[me() * 8 + k];
  for (int k = 1; k < 8; ++k) {
    const int x = v[k];
    int at = k - 1;
    while (at >= 0 && v[at] > x) {
      v[at + 1] = v[at];
      --at;
    }
    v[at + 1] = x;
  }
  for (int k = 0; k < 8; ++k) out[me() * 8 + k] = v[k];
}
__global__ void search(const int* sorted, const int* wanted, int* out, int n) {
  const int x = wanted[me()] % (n * 32);
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] < x)
      low = middle + 1;
    else
      high = middle;
  }
  out[me()] = low;
}
__global__ void sparse_thread(const int* starts, const int* columns, const float* values,
                              const float* x, float* y) {
  float sum = 0;
  for (int k = starts[me()]; k < starts[me() + 1]; ++k) sum += values[k] * x[columns[k]];
  y[me()] = sum;
}
__global__ void sparse_warp(const int* starts, const int* columns, const float* values,
                            const float* x, float* y) {
  const u32 row = me() / 32;
  float sum = 0;
  for (int k = starts[row] + threadIdx.x % 32; k < starts[row + 1]; k += 32)
    sum += values[k] * x[columns[k]];
  sum = warp_total(sum);
  if (threadIdx.x % 32 == 0) y[row] = sum;
}
__global__ void one_in_four(const float* in, float* out) {
  if (me() % 4 != 0) return;
  float x = in[me()];
  for (int k = 0; k < 20; ++k) x = x * 0.9f + 0.1f;
  out[me()] = x;
}
__global__ void one_block(const float* in, float* out, u32 n) {
  for (u32 i = me(); i < n; i += gridDim.x * blockDim.x) out[i] = in[i] + 1;
}
__global__ void delays(const int* in, int* out, int length) {
  int ring[16] = {};
  int at = 0, sum = 0;
  for (int k = 0; k < 32; ++k) {
    sum += ring[at];
    ring[at] = in[me()] + k;
    at = (at + 1) % length;
  }
  out[me()] = sum;
}

}  // namespace students
