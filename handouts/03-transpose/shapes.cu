// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 03, "Experiments": what the shape of a block does to a plain transpose, and the width of a
// tile to one that is turned in its place. n is a multiple of 256, for tiles of 32.
//
//     ./membound experiment block-shapes
//     ./membound experiment tile-widths
#include "membound.cuh"

constexpr int kThreads = 256;

/// A thread an element, straight from `in` to `out`, by blocks that are kWidth wide.
template <int kWidth>
__global__ void block_shapes(float* out, const float* in, int n) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  out[static_cast<long long>(col) * n + row] = in[static_cast<long long>(row) * n + col];
}

/// Every tile is turned where it stands; tiles do not change places. kKind is a tile's width, plus
/// 100 where its rows are padded by a word.
template <int kKind>
__global__ void tile_widths(float* out, const float* in, int n) {
  constexpr int kTile = kKind % 100, kPitch = kTile + kKind / 100;
  __shared__ float tile[kTile][kPitch];
  const int rows = blockDim.y;
  const long long row = blockIdx.y * kTile, col = blockIdx.x * kTile;
  for (int y = threadIdx.y; y < kTile; y += rows)
    tile[y][threadIdx.x] = in[(row + y) * n + col + threadIdx.x];
  __syncthreads();
  for (int y = threadIdx.y; y < kTile; y += rows)
    out[(row + y) * n + col + threadIdx.x] = tile[threadIdx.x][y];
}

#define SHAPE(x) template __global__ void block_shapes<x>(float*, const float*, int);
SHAPE(1)
SHAPE(4)
SHAPE(8)
SHAPE(16)
SHAPE(32)
SHAPE(64)
SHAPE(256)

#define TILE(x) template __global__ void tile_widths<x>(float*, const float*, int);
TILE(8)
TILE(108)
TILE(16)
TILE(116)
TILE(32)
TILE(132)

LAUNCH_SHAPE(block_shapes, int n, int width) {
  const int height = kThreads / width;
  return {.grid = dim3(n / width, n / height), .block = dim3(width, height)};
}

LAUNCH_SHAPE(tile_widths, int n, int kind) {
  const int tile = kind % 100;
  return {.grid = dim3(n / tile, n / tile), .block = dim3(tile, tile == 32 ? 8 : tile)};
}
