// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 5
// Fails: MovesOneElement
// Finds: out of bounds write in `out[at(out_row + step, out_col, rows)] =`
// Why:   the guard of the store asks for the first of the four elements only; the other three are
//        written behind the end.
#include "kernel.cuh"

template <typename T>
__global__ void transpose_several_per_thread(T* out, const T* in, int rows, int cols) {
  __shared__ T tile[kTile][kTile + 1];
  const int col = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  for (int step = 0; step < kTile; step += kBlockRows) {
    if (row + step < rows && col < cols) {
      tile[threadIdx.y + step][threadIdx.x] = in[at(row + step, col, cols)];
    }
  }
  __syncthreads();
  const int out_col = blockIdx.y * kTile + threadIdx.x;
  const int out_row = blockIdx.x * kTile + threadIdx.y;
  for (int step = 0; step < kTile; step += kBlockRows) {
    if (out_row < cols && out_col < rows) {
      out[at(out_row + step, out_col, rows)] = tile[threadIdx.x][threadIdx.y + step];
    }
  }
}

LAUNCH_SHAPE(transpose_several_per_thread, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = {kTile, kBlockRows};
  shape.grid = {ceil_div(cols, kTile), ceil_div(rows, kTile)};
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_several_per_thread)
