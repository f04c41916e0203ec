// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: CoversTheWholeMatrix
// Why:   16 x 16 blocks of 16 x 16 threads cover 256 x 256 elements, the size it was written for.
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
  shape.block = {kBlock, kBlock};
  shape.grid = {16, 16};
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_element_per_thread)
