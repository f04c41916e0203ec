// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: ReachesItsBar
// Why:   a single block does all rows in turn: right everywhere, but one multiprocessor works and
//        all others rest.
#include "kernel.cuh"

template <typename T>
__global__ void transpose_row_per_thread(T* out, const T* in, int rows, int cols) {
  for (int out_row = threadIdx.x; out_row < cols; out_row += kThreads) {
    for (int row = 0; row < rows; ++row) {
      out[at(out_row, row, rows)] = in[at(row, out_row, cols)];
    }
  }
}

LAUNCH_SHAPE(transpose_row_per_thread, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = rows == 0 || cols == 0 ? 0 : 1;
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_row_per_thread)
