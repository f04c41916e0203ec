// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// 6-slow-one-warp fails ReachesItsBar
// Why: the first warp of each block turns the whole tile of 32 x 32, the other 31 leave at once.
#include "kernel.cuh"

template <typename T>
__global__ void transpose_fast(T* out, const T* in, int rows, int cols) {
  __shared__ T tile[32][33];
  if (threadIdx.x >= 32) return;
  const int lane = threadIdx.x;
  const int row = blockIdx.x * 32;
  const int col = blockIdx.y * 32;
#pragma unroll 1
  for (int y = 0; y < 32; ++y) {
    if (row + y < rows && col + lane < cols) tile[y][lane] = in[at(row + y, col + lane, cols)];
  }
  __syncwarp();
#pragma unroll 1
  for (int y = 0; y < 32; ++y) {
    if (col + y < cols && row + lane < rows) out[at(col + y, row + lane, rows)] = tile[lane][y];
  }
}

LAUNCH_SHAPE(transpose_fast, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = 1024;
  shape.grid = dim3(ceil_div(rows, 32), ceil_div(cols, 32));
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_fast)
