// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Copies by blocks of 1,024 threads, two on a multiprocessor: of a row, of a tile of 32 x 32
/// through shared memory, turned or not; by blocks of 256 beside them; loads alone and stores
/// alone. From matrices that fit L2 to 1 GiB.
///
/// A program whose rows tell what a block waits for whose warps load a row each.
#include "grader/vgpu/calibration/timed.cuh"

namespace {

__global__ void copy_row(float* out, const float* in) {
  const std::size_t i = blockIdx.x * std::size_t{1024} + threadIdx.x;
  out[i] = in[i];
}

/// A block of 32 x kRows threads.
template <bool kTurn, int kRows>
__global__ void copy_tile(float* out, const float* in, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += kRows)
    tile[threadIdx.y + k][threadIdx.x] = in[std::size_t(y + k) * n + x];
  __syncthreads();
  if (kTurn) x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += kRows)
    out[std::size_t(y + k) * n + x] =
        kTurn ? tile[threadIdx.x][threadIdx.y + k] : tile[threadIdx.y + k][threadIdx.x];
}

__global__ void load_tile(float* out, const float* in, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  const float value = in[std::size_t(y) * n + x];
  if (value == 12345.678f) out[0] = value;
}

template <bool kTurn>
__global__ void store_tile(float* out, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  if (kTurn) x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  out[std::size_t(y) * n + x] = 1;
}

}  // namespace

int main(int argc, char** argv) {
  timed::Bench bench(argc, argv);
  float *out = nullptr, *in = nullptr;
  const std::size_t bytes = std::size_t{16384} * 16384 * sizeof(float);
  timed::check(cudaMalloc(&out, bytes), "cudaMalloc");
  timed::check(cudaMalloc(&in, bytes), "cudaMalloc");
  timed::check(cudaMemset(in, 0, bytes), "cudaMemset");
  for (const int n : {2048, 4096, 8192, 16384}) {
    const dim3 grid(n / 32, n / 32), all(32, 32), quarter(32, 8);
    const std::string rows = std::to_string(n) + " rows";
    bench("row 1024", rows, [&] { copy_row<<<n / 32 * (n / 32), 1024>>>(out, in); });
    bench("tile 1024", rows, [&] { copy_tile<false, 32><<<grid, all>>>(out, in, n); });
    bench("turned 1024", rows, [&] { copy_tile<true, 32><<<grid, all>>>(out, in, n); });
    bench("tile 256", rows, [&] { copy_tile<false, 8><<<grid, quarter>>>(out, in, n); });
    bench("turned 256", rows, [&] { copy_tile<true, 8><<<grid, quarter>>>(out, in, n); });
    bench("loads 1024", rows, [&] { load_tile<<<grid, all>>>(out, in, n); });
    bench("stores 1024", rows, [&] { store_tile<false><<<grid, all>>>(out, n); });
    bench("stores turned 1024", rows, [&] { store_tile<true><<<grid, all>>>(out, n); });
  }
  return 0;
}
