// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Atomics on shared memory: those the hardware has, and those it makes of compare-and-swap.
#include "grader/gpu_truth/profiler/profiler.cuh"

namespace {

using profiler::run;
using profiler::run_pattern;

constexpr int kElements = 1024;

enum class Operation { kAdd, kMin, kOr, kExchange, kSwap };

template <Operation kOperation, typename T>
__device__ T perform(T* place, T value) {
  if constexpr (kOperation == Operation::kAdd) return atomicAdd(place, value);
  if constexpr (kOperation == Operation::kMin) return atomicMin(place, value);
  if constexpr (kOperation == Operation::kOr) return atomicOr(place, value);
  if constexpr (kOperation == Operation::kExchange) return atomicExch(place, value);
  if constexpr (kOperation == Operation::kSwap) return atomicCAS(place, T(0), value);
}

template <Operation kOperation, typename T, bool kKeep>
__global__ void apply(T* out, T value, const int* index) {
  __shared__ T memory[kElements];
  for (unsigned i = threadIdx.x; i < kElements; i += blockDim.x)
    *const_cast<volatile T*>(memory + i) = T(0);
  __syncthreads();
  const int at = element_of(index);
  T old = value;
  if (at >= 0) {
    const T before = perform<kOperation>(memory + at, value);
    if constexpr (kKeep) old = before;
  }
  __syncthreads();
  out[thread_number()] = old + *const_cast<volatile T*>(memory + threadIdx.x);
}

template <Operation kOperation, typename T>
void try_patterns(const std::string& what, T value) {
  T* out = profiler::counted<T>(1 << 16);
  auto patterns = profiler::few_patterns();
  patterns.push_back(profiler::lanes("every_second", [](int l) { return 2 * l; }));
  patterns.push_back(profiler::lanes("one_bank", [](int l) { return 32 * l % kElements; }));
  for (const profiler::Pattern& pattern : patterns) {
    run_pattern("forget." + what, pattern, apply<kOperation, T, false>, out, value);
    run_pattern("keep." + what, pattern, apply<kOperation, T, true>, out, value);
  }
}

template <typename T>
__global__ void block_sum(const T* in, T* out) {
  __shared__ T sum;
  if (threadIdx.x == 0) sum = T(0);
  __syncthreads();
  atomicAdd(&sum, in[thread_number()]);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void block_count(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x % 3 == 0) atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = count;
}

__global__ void block_histogram(const int* in, int* out) {
  __shared__ int bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(bins + (in[thread_number()] * 11 & 63), 1);
  __syncthreads();
  if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x];
}

}  // namespace

int main() {
  try_patterns<Operation::kAdd>("add.int", 1);
  try_patterns<Operation::kAdd>("add.float", 1.0f);
  try_patterns<Operation::kAdd>("add.u64", 1ull);
  try_patterns<Operation::kAdd>("add.double", 1.0);
  try_patterns<Operation::kMin>("min.int", 1);
  try_patterns<Operation::kOr>("or.int", 1);
  try_patterns<Operation::kExchange>("exchange.int", 1);
  try_patterns<Operation::kSwap>("swap.int", 1);
  const int* in = profiler::counted<int>(1 << 14);
  int* out = profiler::counted<int>(1 << 14);
  run("block_sum.int", 3, 128, block_sum<int>, in, out);
  run("block_sum.float", 3, 128, block_sum<float>, reinterpret_cast<const float*>(in),
      reinterpret_cast<float*>(out));
  run("block_count", 3, 128, block_count, out);
  run("block_histogram", 3, 128, block_histogram, in, out);
}
