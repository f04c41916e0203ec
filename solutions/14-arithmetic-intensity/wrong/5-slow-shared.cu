// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// 5-slow-shared fails ReachesItsBar
// Why: the answer to stage 4: two loads for one multiply-add.
#include "kernel.cuh"

__global__ void __launch_bounds__(kTile* kTile)
    gemm_registers(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b,
                   int m, int n, int k, int lda, int ldb, int ldc) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < k; first += kTile) {
    const int a_col = first + threadIdx.x;
    const int b_row = first + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < m && a_col < k ? a[at(row, a_col, lda)] : 0;
    tile_b[threadIdx.y][threadIdx.x] = b_row < k && col < n ? b[at(b_row, col, ldb)] : 0;
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kTile; ++p) sum += tile_a[threadIdx.y][p] * tile_b[p][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[at(row, col, ldc)] = sum;
}

LAUNCH_SHAPE(gemm_registers, int m, int n, int k, int lda, int ldb, int ldc) {
  LaunchShape shape;
  shape.block = dim3(kTile, kTile);
  shape.grid = dim3(ceil_div(n, kTile), ceil_div(m, kTile));
  return shape;
}
