// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: MovesOneTile
// Finds: data race in `tile[threadIdx.y][threadIdx.x] = in[at(row, col, cols)];`
// Why:   nobody waits: a warp reads columns of the tile that other warps have not filled yet. One
//        element, held by one thread, survives that.
#include "kernel.cuh"

template <typename T>
__global__ void transpose_tiled(T* out, const T* in, int rows, int cols) {
  __shared__ T tile[kTile][kTile];
  const int col = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  if (row < rows && col < cols) {
    tile[threadIdx.y][threadIdx.x] = in[at(row, col, cols)];
  }
  const int out_col = blockIdx.y * kTile + threadIdx.x;
  const int out_row = blockIdx.x * kTile + threadIdx.y;
  if (out_row < cols && out_col < rows) {
    out[at(out_row, out_col, rows)] = tile[threadIdx.x][threadIdx.y];
  }
}

LAUNCH_SHAPE(transpose_tiled, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = {kTile, kTile};
  shape.grid = {ceil_div(cols, kTile), ceil_div(rows, kTile)};
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_tiled)
