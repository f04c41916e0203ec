// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Accesses behind and before arrays of every kind, near and far; launches that ask for too much.
// One for each argument; array_ends_test.cpp runs them, with and without checkers.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int kCount = 15;

__global__ void fill(int* out) { out[threadIdx.x] = 1; }  // fill
__global__ void fill_far(int* out, std::int64_t at) { out[at] = 1; }
__global__ void tile_of_the_block(int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x + 1] = threadIdx.x;  // tile_of_the_block
  __syncthreads();
  out[threadIdx.x % kCount] = tile[threadIdx.x];
}
__global__ void tile_of_the_launch(int* out) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = 1;  // tile_of_the_launch
  out[0] = 1;
}
__global__ void tile_far(int* out, int at) {
  __shared__ int tile[32];
  tile[at + threadIdx.x] = 1;
  out[0] = tile[threadIdx.x];
}
__global__ void sum_of_four(int* out, const int* in) {
  int sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) sum += in[threadIdx.x * 4 + k];  // sum_of_four
  out[threadIdx.x % kCount] = sum;
}
__global__ void wraps(char* out, const short* table, int row, int stride) {
  out[threadIdx.x] =
      static_cast<char>(table[row * stride + static_cast<int>(threadIdx.x)]);  // wraps
}
__global__ void below_zero(int* out, const int* in) {
  out[threadIdx.x] = in[threadIdx.x - 1u];  // below_zero
}
__global__ void __launch_bounds__(128) small_blocks(int* out) { out[threadIdx.x % kCount] = 1; }
__global__ void by_tree(int* out, const int* in) {
  __shared__ int tile[64];
  tile[threadIdx.x] = in[threadIdx.x] * 2;  // by_tree
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = tile[0];
}

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  constexpr std::size_t kBytes = kCount * sizeof(int);
  int *d_data, *managed, *pinned, *mapped;
  cudaMalloc(&d_data, kBytes);
  cudaMallocManaged(&managed, kBytes);
  cudaMallocHost(&pinned, kBytes);
  cudaHostAlloc(&mapped, kBytes, cudaHostAllocMapped);
  alignas(4096) static int own[4096];
  cudaHostRegister(own, kBytes, cudaHostRegisterDefault);
  cudaMemset(d_data, 0, kBytes);

  if (is("device")) fill<<<1, 32>>>(d_data);
  if (is("managed")) fill<<<1, 32>>>(managed);
  if (is("pinned")) fill<<<1, 32>>>(pinned);
  if (is("mapped")) fill<<<1, 32>>>(mapped);
  if (is("registered")) fill<<<1, 32>>>(own);
  if (is("managed_page")) {  // not even the rest of its page is left
    int* page = nullptr;
    cudaMallocManaged(&page, 65536);
    fill<<<1, 32>>>(page + 65536 / 4 - kCount);
    cudaFree(page);
  }
  if (is("shared")) tile_of_the_block<<<1, 32>>>(d_data);
  if (is("dynamic")) tile_of_the_launch<<<1, 33, 128>>>(d_data);
  if (is("shared_far")) tile_far<<<1, 32>>>(d_data, 1 << 20);
  if (is("managed_far")) fill_far<<<1, 1>>>(managed, std::int64_t{1} << 32);
  if (is("unrolled")) sum_of_four<<<1, 32>>>(d_data, d_data);
  if (is("wraps")) {
    short* table = nullptr;
    char* out = nullptr;
    cudaMalloc(&table, std::size_t{5'000'000'000});
    cudaMalloc(&out, 32);
    wraps<<<1, 32>>>(out, table, 50'000, 49'000);
  }
  if (is("below_zero")) below_zero<<<1, 8>>>(managed, d_data);
  if (is("host_pointer")) fill<<<1, 32>>>(static_cast<int*>(std::malloc(256)));
  if (is("by_tree")) {
    int* nothing = nullptr;
    cudaMalloc(&nothing, 256);
    by_tree<<<1, 64>>>(d_data, nothing);
    cudaDeviceSynchronize();
    cudaFree(nothing);
  }

  if (is("block_threads")) fill<<<1, dim3(32, 32, 2)>>>(d_data);
  if (is("block_z")) fill<<<1, dim3(1, 1, 65)>>>(d_data);
  if (is("grid_y")) fill<<<dim3(1, 65536), 1>>>(d_data);
  if (is("no_grid")) fill<<<0, 32>>>(d_data);
  if (is("dynamic_48k")) tile_of_the_launch<<<1, 32, 50'000>>>(d_data);
  if (is("dynamic_most")) tile_of_the_launch<<<1, 32, 300'000>>>(d_data);
  if (is("launch_bounds")) small_blocks<<<1, 256>>>(d_data);
  if (is("asked")) {
    fill<<<1, 2000>>>(d_data);
    std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  }

  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaHostUnregister(own);
  cudaFreeHost(mapped);
  cudaFreeHost(pinned);
  cudaFree(managed);
  cudaFree(d_data);
}
