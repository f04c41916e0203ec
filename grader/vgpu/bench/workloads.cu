// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// The three kernels vgpu_bench times. workloads.ptx is made from this file with
//   nvcc -ptx -arch=sm_90 -lineinfo workloads.cu
constexpr int kTile = 32;
constexpr int kRows = 8;

// A padded tile: reads and writes are coalesced, no bank conflicts.
extern "C" __global__ void transpose(float* out, const float* in, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];
  int col = blockIdx.x * kTile + threadIdx.x;
  int row = blockIdx.y * kTile + threadIdx.y;
  for (int step = 0; step < kTile; step += kRows)
    if (col < cols && row + step < rows)
      tile[threadIdx.y + step][threadIdx.x] = in[(row + step) * cols + col];
  __syncthreads();
  col = blockIdx.y * kTile + threadIdx.x;
  row = blockIdx.x * kTile + threadIdx.y;
  for (int step = 0; step < kTile; step += kRows)
    if (col < rows && row + step < cols)
      out[(row + step) * rows + col] = tile[threadIdx.x][threadIdx.y + step];
}

// One element a thread, a tree in shared memory, one partial sum a block.
extern "C" __global__ void reduce(float* out, const float* in, int count) {
  __shared__ float partial[256];
  const int index = blockIdx.x * 256 + threadIdx.x;
  partial[threadIdx.x] = index < count ? in[index] : 0.0f;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

// c = min over k of a[i][k] + b[k][j], through tiles in shared memory.
extern "C" __global__ void min_plus(int* c, const int* a, const int* b, int n) {
  __shared__ int tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, col = blockIdx.x * kTile + threadIdx.x;
  int best = 1 << 29;
  for (int tile = 0; tile < n; tile += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < kTile; ++k)
      best = min(best, tile_a[threadIdx.y][k] + tile_b[k][threadIdx.x]);
    __syncthreads();
  }
  c[row * n + col] = best;
}
