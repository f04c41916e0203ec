// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: MovesOneElement
// Finds: out of bounds write in `out[at(out_row, row, rows)] = in[at(row, col, cols)];`
// Why:   takes care not to read behind the end, but lets thread `cols` through to write row `cols`
//        of `out`, which does not exist.
#include "kernel.cuh"

template <typename T>
__global__ void transpose_row_per_thread(T* out, const T* in, int rows, int cols) {
  const int out_row = blockIdx.x * blockDim.x + threadIdx.x;
  if (out_row > cols) return;
  const int col = out_row < cols ? out_row : cols - 1;
  for (int row = 0; row < rows; ++row) {
    out[at(out_row, row, rows)] = in[at(row, col, cols)];
  }
}

LAUNCH_SHAPE(transpose_row_per_thread, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(cols, kThreads);
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_row_per_thread)
