// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: LaunchesWithinLimits
// Why:   a block of 64 x 32 is 2048 threads; 1024 is the most.
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
  shape.block = {64, 32};
  shape.grid = {ceil_div(cols, 64), ceil_div(rows, 32)};
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_element_per_thread)
