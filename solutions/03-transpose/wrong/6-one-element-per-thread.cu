// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// 6-one-element-per-thread fails ReachesItsBar
// Why: the answer of stage 4 once more, at half of a copy.
#include "kernel.cuh"

template <typename T>
__global__ void transpose_fast(T* out, const T* in, int rows, int cols) {
  __shared__ T tile[kTile][kTile + 1];
  const int col = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  if (row < rows && col < cols) {
    tile[threadIdx.y][threadIdx.x] = in[at(row, col, cols)];
  }
  __syncthreads();
  const int out_col = blockIdx.y * kTile + threadIdx.x;
  const int out_row = blockIdx.x * kTile + threadIdx.y;
  if (out_row < cols && out_col < rows) {
    out[at(out_row, out_col, rows)] = tile[threadIdx.x][threadIdx.y];
  }
}

LAUNCH_SHAPE(transpose_fast, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = dim3(kTile, kTile);
  shape.grid = dim3(ceil_div(cols, kTile), ceil_div(rows, kTile));
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_fast)
