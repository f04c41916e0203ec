// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 6
// Fails: RunsWithoutFault
// Finds: misaligned access in `const Pack<T> pack = *reinterpret_cast<const`
// Why:   reads 16 bytes at once wherever 16 bytes are left in the row. With 127 columns the next
//        row does not begin at a multiple of 16 bytes.
#include "kernel.cuh"

template <typename T>
struct alignas(16) Pack {
  T element[16 / sizeof(T)];
};

template <typename T>
__global__ void transpose_fast(T* out, const T* in, int rows, int cols) {
  constexpr int kWide = 16 / sizeof(T);
  __shared__ T tile[kTile][kTile + 1];
  const int first_col = blockIdx.x * kTile;
  const int first_row = blockIdx.y * kTile;
  const int x = threadIdx.x * kWide;
  const int y = threadIdx.y;
  if (first_row + y < rows && x < kTile) {
    const T* const from = in + at(first_row + y, first_col + x, cols);
    if (first_col + x + kWide <= cols) {
      const Pack<T> pack = *reinterpret_cast<const Pack<T>*>(from);
      for (int i = 0; i < kWide; ++i) tile[y][x + i] = pack.element[i];
    } else {
      for (int i = 0; first_col + x + i < cols; ++i) tile[y][x + i] = from[i];
    }
  }
  __syncthreads();
  const int out_col = first_row + threadIdx.x;
  const int out_row = first_col + threadIdx.y;
  if (out_row < cols && out_col < rows) {
    out[at(out_row, out_col, rows)] = tile[threadIdx.x][threadIdx.y];
  }
}

LAUNCH_SHAPE(transpose_fast, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = {kTile, kTile};
  shape.grid = {ceil_div(cols, kTile), ceil_div(rows, kTile)};
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_fast)
