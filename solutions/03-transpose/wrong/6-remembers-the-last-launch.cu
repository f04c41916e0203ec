// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 6
// Fails: SecondLaunchGivesTheSame
// Finds: data race in `last_rows<T> = rows;`
// Why:   believes that a matrix of the same size is the same matrix, and does nothing when it meets
//        one twice in a row.
#include "kernel.cuh"

template <typename T>
__device__ int last_rows = 0;
template <typename T>
__device__ int last_cols = 0;
template <typename T>
__device__ unsigned finished_blocks = 0;

template <typename T>
__global__ void transpose_fast(T* out, const T* in, int rows, int cols) {
  __shared__ T tile[kTile][kTile + 1];
  if (last_rows<T> != rows || last_cols<T> != cols) {
    const int first_col = blockIdx.x * kTile;
    const int first_row = blockIdx.y * kTile;
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < kTile; y += kBlockRows) {
      if (first_row + y < rows && first_col + x < cols) {
        tile[y][x] = in[at(first_row + y, first_col + x, cols)];
      }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < kTile; y += kBlockRows) {
      if (first_col + y < cols && first_row + x < rows) {
        out[at(first_col + y, first_row + x, rows)] = tile[x][y];
      }
    }
  }

  // The last block to come here has seen all others read last_rows and last_cols.
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    if (atomicAdd(&finished_blocks<T>, 1) == gridDim.x * gridDim.y - 1) {
      finished_blocks<T> = 0;
      last_rows<T> = rows;
      last_cols<T> = cols;
    }
  }
}

LAUNCH_SHAPE(transpose_fast, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = {kTile, kBlockRows};
  shape.grid = {ceil_div(cols, kTile), ceil_div(rows, kTile)};
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_fast)
