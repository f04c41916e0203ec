// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 6
// Fails: TilesCutOffAtOneEdge
// Finds: out of bounds read in `tile[y][x] = in[at(first_row + y, first_col + x, cols)];`
// Why:   skips the guards when the rows are a multiple of the tile, without a look at the columns.
#include "kernel.cuh"

template <typename T>
__global__ void transpose_fast(T* out, const T* in, int rows, int cols) {
  constexpr int kSide = 64;
  constexpr int kRows = 16;
  __shared__ T tile[kSide][kSide + 1];
  const int first_col = blockIdx.x * kSide;
  const int first_row = blockIdx.y * kSide;
  const bool whole = rows % kSide == 0;
  for (int y = threadIdx.y; y < kSide; y += kRows) {
    for (int x = threadIdx.x; x < kSide; x += 32) {
      if (whole || (first_row + y < rows && first_col + x < cols)) {
        tile[y][x] = in[at(first_row + y, first_col + x, cols)];
      }
    }
  }
  __syncthreads();
  for (int y = threadIdx.y; y < kSide; y += kRows) {
    for (int x = threadIdx.x; x < kSide; x += 32) {
      if (whole || (first_col + y < cols && first_row + x < rows)) {
        out[at(first_col + y, first_row + x, rows)] = tile[x][y];
      }
    }
  }
}

LAUNCH_SHAPE(transpose_fast, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = {32, 16};
  shape.grid = {ceil_div(cols, 64), ceil_div(rows, 64)};
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_fast)
