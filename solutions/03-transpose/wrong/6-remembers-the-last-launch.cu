// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 6
// Fails: SecondLaunchGivesTheSame
// Why:   draws tiles from a counter in global memory that starts at 0 once, when the module is
//        loaded; after the launch that finds it there, nothing is left to do.
#include "kernel.cuh"

/// The next tile that nobody has taken yet.
template <typename T>
__device__ int next_tile = 0;

template <typename T>
__global__ void transpose_fast(T* out, const T* in, int rows, int cols) {
  constexpr int kRows = 8;
  __shared__ T tile[kTile][kTile + 1];
  __shared__ int ticket;
  const int tiles_x = (cols + kTile - 1) / kTile;
  const int tiles = tiles_x * ((rows + kTile - 1) / kTile);
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) ticket = atomicAdd(&next_tile<T>, 1);
    __syncthreads();
    if (ticket >= tiles) return;
    const int first_col = ticket % tiles_x * kTile;
    const int first_row = ticket / tiles_x * kTile;
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < kTile; y += kRows) {
      if (first_row + y < rows && first_col + x < cols) {
        tile[y][x] = in[at(first_row + y, first_col + x, cols)];
      }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < kTile; y += kRows) {
      if (first_col + y < cols && first_row + x < rows) {
        out[at(first_col + y, first_row + x, rows)] = tile[x][y];
      }
    }
  }
}

LAUNCH_SHAPE(transpose_fast, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = {kTile, 8};
  shape.grid = rows == 0 || cols == 0 ? 0 : 4 * gpu.sm_count;
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_fast)
