// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Accesses of warps whose lanes went different ways, left early or are switched off; shuffles,
/// votes and asynchronous copies between accesses.
#include <cuda_pipeline.h>

#include "grader/gpu_truth/profiler/profiler.cuh"

namespace {

using profiler::run;

__global__ void both_ways(const int* in, int* out) {
  const int i = thread_number();
  if (in[i] % 2 == 0)
    out[i] = in[2 * i] + 1;
  else
    out[i] = in[3 * i + 5] * 2;
}

__global__ void trips_by_lane(const int* in, int* out) {
  int sum = 0;
  for (int i = 0; i < static_cast<int>(threadIdx.x % 7); ++i) sum += in[thread_number() + 64 * i];
  out[thread_number()] = sum;
}

__global__ void leave_early(const int* in, int* out, int count) {
  const int i = thread_number();
  if (i >= count) return;
  out[i] = in[i];
  if (threadIdx.x % 4 == 3) return;
  out[i + 4096] = in[i + 64];
}

/// No lane of most warps takes part: does a switched-off access count?
__global__ void switched_off(const int* in, int* out, int limit) {
  const int i = thread_number();
  int value = i;
  if (i < limit) value = in[i];
  out[i] = value;
  if (value == -7) out[i + 4096] = 1;
}

__global__ void by_case(const int* in, int* out) {
  const int i = thread_number();
  switch (in[i] % 5) {
    case 0:
      out[i] = in[i + 1];
      break;
    case 1:
      out[i + 64] = in[i + 2];
      break;
    case 2:
      out[i + 128] = in[i + 3] + in[i + 9];
      break;
    case 3:
      return;
    default:
      out[4 * i] = 3;
  }
}

__global__ void grid_stride(const float* in, float* out, int count) {
  for (int i = thread_number(); i < count; i += static_cast<int>(gridDim.x * blockDim.x))
    out[i] = in[i] * 2;
}

__global__ void search(const int* in, int* out, int count) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (in[middle] < thread_number() * 37 % count)
      low = middle + 1;
    else
      high = middle;
  }
  out[thread_number()] = low;
}

__global__ void shuffles(const int* in, int* out) {
  int value = in[thread_number()];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  value += __shfl_up_sync(~0u, value, 3) + __shfl_down_sync(~0u, value, 5, 16);
  out[thread_number()] = value + __shfl_sync(~0u, value, value & 31);
}

__global__ void votes(const int* in, int* out) {
  const int value = in[thread_number()];
  const unsigned odd = __ballot_sync(~0u, value % 2 != 0);
  const unsigned same = __match_any_sync(~0u, value % 5);
  const int sum = __reduce_add_sync(~0u, value);
  if (__any_sync(~0u, value > 100) && !__all_sync(~0u, value > 120))
    out[thread_number()] = static_cast<int>(odd + same) + sum;
}

__global__ void block_reduce(const float* in, float* out) {
  __shared__ float sums[32];
  float sum = in[thread_number()];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

/// Copies of `kBytes` bytes a lane, `stride` elements apart on both sides.
template <int kBytes>
__global__ void copies(const char* in, char* out, int stride, int fill) {
  __shared__ alignas(16) char memory[16384];
  char* to = memory + threadIdx.x * kBytes * stride % 16384;
  __pipeline_memcpy_async(to, in + thread_number() * kBytes * stride, kBytes,
                          static_cast<std::size_t>(fill));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  reinterpret_cast<int*>(out)[thread_number()] = reinterpret_cast<int*>(memory)[threadIdx.x];
}

template <int kBytes>
void try_copies(const std::string& width) {
  const char* in = profiler::counted<char>(1 << 20);
  char* out = profiler::counted<char>(1 << 16);
  for (const int stride : {1, 2, 4, 8})
    run("copy." + width + ".stride_" + std::to_string(stride), 3, 96, copies<kBytes>, in, out,
        stride, 0);
  run("copy." + width + ".filled", 3, 96, copies<kBytes>, in, out, 1, kBytes / 2);
}

__global__ void copies_of_some(const int* in, int* out) {
  __shared__ int memory[128];
  memory[threadIdx.x] = -1;
  __syncthreads();
  if (threadIdx.x % 3 == 0)
    __pipeline_memcpy_async(memory + threadIdx.x, in + thread_number() * 5, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[thread_number()] = memory[threadIdx.x ^ 1];
}

}  // namespace

int main() {
  const int* in = profiler::counted<int>(1 << 20);
  int* out = profiler::counted<int>(1 << 20);
  const auto* reals = reinterpret_cast<const float*>(in);
  auto* sums = reinterpret_cast<float*>(out);
  run("both_ways", 3, 96, both_ways, in, out);
  run("trips_by_lane", 3, 96, trips_by_lane, in, out);
  run("leave_early", 3, 96, leave_early, in, out, 250);
  run("switched_off", 3, 128, switched_off, in, out, 40);
  run("by_case", 3, 96, by_case, in, out);
  run("grid_stride", 7, 96, grid_stride, reals, sums, 5000);
  run("search", 3, 96, search, in, out, 100000);
  run("shuffles", 3, 96, shuffles, in, out);
  run("votes", 3, 96, votes, in, out);
  run("block_reduce", 5, 256, block_reduce, reals, sums);
  try_copies<4>("4");
  try_copies<8>("8");
  try_copies<16>("16");
  run("copy.some", 3, 96, copies_of_some, in, out);
}
