// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 5
// Fails: OneElement
// Why:   renames columns where the tile is filled, but not where columns are summed.
#include "kernel.cuh"

__global__ void tile_sums(int* out, const int* in, int n, int k) {
  __shared__ int tile[kTile * kTile];
  const long long block = blockIdx.x;
  const int lane = threadIdx.x % kLanes;
  const int warp = threadIdx.x / kLanes;

  for (int row = warp; row < k; row += kTileThreads / kLanes) {
    if (lane < k) tile[row * kTile + (lane ^ row)] = in[(block * k + row) * k + lane];
  }
  __syncthreads();

  if (lane >= k) return;
  int sum = 0;
  if (warp == 0) {
    for (int col = 0; col < k; ++col) sum += tile[lane * kTile + (col ^ lane)];
  } else {
    for (int row = 0; row < k; ++row) sum += tile[row * kTile + lane];
  }
  out[(block * 2 + warp) * k + lane] = sum;
}

LAUNCH_SHAPE(tile_sums, int n, int k) {
  LaunchShape shape;
  shape.block = kTileThreads;
  shape.grid = n;
  return shape;
}
