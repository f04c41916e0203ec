// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: ReachesItsBar
// Why:   blocks of 32 x 8: each warp is one row of 32 columns, so its store touches 32 sectors; 16
//        x 16 touches 16.
#include "kernel.cuh"

template <typename T>
__global__ void transpose_element_per_thread(T* out, const T* in, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) {
    out[at(col, row, rows)] = in[at(row, col, cols)];
  }
}

LAUNCH_SHAPE(transpose_element_per_thread, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = {32, 8};
  shape.grid = {ceil_div(cols, 32), ceil_div(rows, 8)};
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_element_per_thread)
