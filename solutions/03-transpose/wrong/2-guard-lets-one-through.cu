// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: MovesOneElement
// Finds: out of bounds read in `out[at(col, row, rows)] = in[at(row, col, cols)];`
// Why:   <= in place of < in the guard of the columns: one thread too many in each row copies what
//        lies behind `in` to what lies behind `out`.
#include "kernel.cuh"

template <typename T>
__global__ void transpose_element_per_thread(T* out, const T* in, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col <= cols) {
    out[at(col, row, rows)] = in[at(row, col, cols)];
  }
}

LAUNCH_SHAPE(transpose_element_per_thread, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = {kBlock, kBlock};
  shape.grid = {ceil_div(cols, kBlock), ceil_div(rows, kBlock)};
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_element_per_thread)
