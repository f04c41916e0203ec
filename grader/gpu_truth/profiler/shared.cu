// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loads and stores of shared memory: every width, every pattern of lanes, conflicts of every
/// degree, words for several lanes.
#include "grader/gpu_truth/profiler/profiler.cuh"

namespace {

using profiler::run;
using profiler::run_pattern;

constexpr int kBytes = 32 * 1024;  // patterns reach element 1024, and 16 bytes are the widest

/// Fills what is read, so that nothing is read that nobody wrote; a word a thread and turn.
__device__ void fill(void* place) {
  for (unsigned i = threadIdx.x; i < kBytes / 4; i += blockDim.x)
    static_cast<volatile int*>(place)[i] = static_cast<int>(i);
  __syncthreads();
}

template <typename T>
__global__ void load(T* out, const int* index) {
  __shared__ alignas(16) char memory[kBytes];
  fill(memory);
  const int at = element_of(index);
  if (at >= 0) out[thread_number()] = reinterpret_cast<T*>(memory)[at];
}

template <typename T>
__global__ void store(T* out, T value, const int* index) {
  __shared__ alignas(16) char memory[kBytes];
  const int at = element_of(index);
  if (at >= 0) reinterpret_cast<T*>(memory)[at] = value;
  __syncthreads();
  out[thread_number()] =
      reinterpret_cast<volatile char*>(memory)[threadIdx.x * 4] != 0 ? T{} : value;
}

template <typename T>
void all_patterns(const std::string& type) {
  T* out = profiler::counted<T>(1 << 16);
  for (const profiler::Pattern& pattern : profiler::patterns()) {
    run_pattern("load." + type, pattern, load<T>, out);
    run_pattern("store." + type, pattern, store<T>, out, T{});
  }
  // Many more, to find any rule's exception: 64 warps, all lanes; then half of them.
  const profiler::Pattern all = profiler::random_lanes("random_64_warps", 64, 96, 100, 11);
  const profiler::Pattern some = profiler::random_lanes("random_64_warps_holes", 64, 96, 60, 12);
  const profiler::Pattern close = profiler::random_lanes("random_64_warps_close", 64, 4, 90, 13);
  for (const auto* pattern : {&all, &some, &close}) {
    run_pattern("load." + type, *pattern, load<T>, out);
    run_pattern("store." + type, *pattern, store<T>, out, T{});
  }
}

template <int kStride>
__global__ void conflict(int* out) {
  __shared__ int memory[32 * 32 + 32];
  memory[threadIdx.x * kStride] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[thread_number()] = memory[(31 - threadIdx.x) * kStride];
}

template <int kPad>
__global__ void transpose_tile(const float* in, float* out) {
  __shared__ float tile[32][32 + kPad];
  for (int row = threadIdx.y; row < 32; row += blockDim.y)
    tile[row][threadIdx.x] = in[(blockIdx.x * 32 + row) * 32 + threadIdx.x];
  __syncthreads();
  for (int row = threadIdx.y; row < 32; row += blockDim.y)
    out[(blockIdx.x * 32 + row) * 32 + threadIdx.x] = tile[threadIdx.x][row];
}

/// A row for all lanes beside a column of its own: the inner product of a tiled matrix product. Of
/// the row four words at a time, which ptxas would otherwise make of four loads in a row.
__global__ void tile_product(const float* in, float* out) {
  __shared__ alignas(16) float a[16][16];
  __shared__ float b[16][16];
  a[threadIdx.y][threadIdx.x] = in[threadIdx.y * 16 + threadIdx.x];
  b[threadIdx.y][threadIdx.x] = in[256 + threadIdx.y * 16 + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 16; i += 4) {
    const float4 row = *reinterpret_cast<const float4*>(&a[threadIdx.y][i]);
    sum += row.x * b[i][threadIdx.x];
    sum += row.y * b[i + 1][threadIdx.x];
    sum += row.z * b[i + 2][threadIdx.x];
    sum += row.w * b[i + 3][threadIdx.x];
  }
  out[blockIdx.x * 256 + threadIdx.y * 16 + threadIdx.x] = sum;
}

/// A tree in shared memory: half of the threads drop out in every step.
__global__ void tree(const float* in, float* out) {
  __shared__ float sums[256];
  sums[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (unsigned step = 1; step < 256; step *= 2) {
    if (threadIdx.x % (2 * step) == 0) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

}  // namespace

int main() {
  all_patterns<unsigned char>("1");
  all_patterns<short>("2");
  all_patterns<int>("4");
  all_patterns<double>("8");
  all_patterns<float4>("16");

  int* out = profiler::counted(1 << 16);
  run("stride.1", 2, 32, conflict<1>, out);
  run("stride.2", 2, 32, conflict<2>, out);
  run("stride.4", 2, 32, conflict<4>, out);
  run("stride.7", 2, 32, conflict<7>, out);
  run("stride.12", 2, 32, conflict<12>, out);
  run("stride.16", 2, 32, conflict<16>, out);
  run("stride.32", 2, 32, conflict<32>, out);
  const float* in = profiler::counted<float>(1 << 18);
  float* sums = profiler::counted<float>(1 << 18);
  run("transpose_tile.not_padded", 3, dim3(32, 8), transpose_tile<0>, in, sums);
  run("transpose_tile.padded", 3, dim3(32, 8), transpose_tile<1>, in, sums);
  run("tile_product", 3, dim3(16, 16), tile_product, in, sums);
  run("tree", 3, 256, tree, in, sums);
}
