// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: TellsRowsFromColumns
// Finds: out of bounds read in `out[at(out_row, row, rows)] = in[at(row, out_row, rows)];`
// Why:   takes `in` to be rows wide, which only a square matrix forgives.
#include "kernel.cuh"

template <typename T>
__global__ void transpose_row_per_thread(T* out, const T* in, int rows, int cols) {
  const int out_row = blockIdx.x * blockDim.x + threadIdx.x;
  if (out_row >= cols) return;
  for (int row = 0; row < rows; ++row) {
    out[at(out_row, row, rows)] = in[at(row, out_row, rows)];
  }
}

LAUNCH_SHAPE(transpose_row_per_thread, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(cols, kThreads);
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_row_per_thread)
