// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// lab 03 with auto parameters inside a generic lambda
#include "kernel.cuh"

template <typename T>
__global__ void transpose_row_per_thread(T* out, const T* in, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= cols) return;
  for (int col = 0; col < rows; ++col) { const auto move = [&](auto r, auto c) { out[at(r, c, rows)] = in[at(c, r, cols)]; }; move(row, col); }
}
LAUNCH_SHAPE(transpose_row_per_thread, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(cols, kThreads);
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_row_per_thread)
