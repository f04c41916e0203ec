// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: TilesCutOffAtOneEdge
// Finds: out of bounds write in `out[at(out_row, out_col, rows)] =`
// Why:   threads outside of `in` leave at the top, and the others write without a guard of their
//        own. A cut-off tile is 31 columns wide when read and 31 rows high when written: other
//        threads are needed.
#include "kernel.cuh"

template <typename T>
__global__ void transpose_tiled(T* out, const T* in, int rows, int cols) {
  __shared__ T tile[kTile][kTile];
  const int col = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  if (row >= rows || col >= cols) return;
  tile[threadIdx.y][threadIdx.x] = in[at(row, col, cols)];
  __syncthreads();
  const int out_col = blockIdx.y * kTile + threadIdx.x;
  const int out_row = blockIdx.x * kTile + threadIdx.y;
  out[at(out_row, out_col, rows)] = tile[threadIdx.x][threadIdx.y];
}

LAUNCH_SHAPE(transpose_tiled, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = {kTile, kTile};
  shape.grid = {ceil_div(cols, kTile), ceil_div(rows, kTile)};
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_tiled)
