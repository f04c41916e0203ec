// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Local and constant memory: arrays that the compiler cannot keep in registers, spilled registers,
/// constants that all lanes share and constants that they do not.
#include "grader/gpu_truth/profiler/profiler.cuh"

namespace {

using profiler::run;
using profiler::run_pattern;

/// Writes an array of 32 elements, each lane its own, and reads one of them.
template <typename T>
__global__ void local_array(const T* in, T* out, const int* index) {
  T mine[32];
  const int at = element_of(index);
  if (at < 0) return;
  for (int i = 0; i < 4; ++i) mine[(at + i) & 31] = in[i];
  out[thread_number()] = mine[at & 31];
}

template <typename T>
void try_patterns(const std::string& type) {
  const T* in = profiler::counted<T>(1 << 12);
  T* out = profiler::counted<T>(1 << 14);
  for (const profiler::Pattern& pattern : profiler::few_patterns())
    run_pattern("array." + type, pattern, local_array<T>, in, out);
}

/// A sort whose array stays in registers: written so that every index is known when it is compiled,
/// which ptxas also makes of two plain loops.
__global__ void local_sort(const int* in, int* out) {
  int mine[12];
#pragma unroll
  for (int i = 0; i < 12; ++i) mine[i] = in[thread_number() * 12 + i] * 73 % 101;
#pragma unroll
  for (int i = 1; i < 12; ++i)
#pragma unroll
    for (int j = i; j > 0; --j) {
      const int low = min(mine[j - 1], mine[j]);
      mine[j] = max(mine[j - 1], mine[j]);
      mine[j - 1] = low;
    }
  int wanted = mine[0];
  const int at = in[thread_number()] % 12;
#pragma unroll
  for (int i = 1; i < 12; ++i) wanted = at == i ? mine[i] : wanted;
  out[thread_number()] = wanted;
}

/// More values alive than it may have registers.
__global__ void __launch_bounds__(1024, 2) spilled(const float* in, float* out) {
  float value[48];
#pragma unroll
  for (int i = 0; i < 48; ++i) value[i] = in[i * 1024 + threadIdx.x];
#pragma unroll
  for (int i = 0; i < 48; ++i) out[i * 1024 + threadIdx.x] = value[i] * value[(i * 7 + 5) % 48];
}

__device__ int depth_of(const int* in, int at) {
  return at <= 0 ? 0 : 1 + depth_of(in, in[at] - 1 - static_cast<int>(threadIdx.x % 3));
}
__global__ void recursion(const int* in, int* out) {
  out[thread_number()] = depth_of(in, static_cast<int>(threadIdx.x % 8));
}

__constant__ int table[1024];

__global__ void constant_for_all(int* out, int where) { out[thread_number()] = table[where]; }
__global__ void constant_loop(int* out, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += table[i * 3] ^ i;
  out[thread_number()] = sum;
}
__global__ void constant_by_lane(int* out, const int* index) {
  const int at = element_of(index);
  if (at >= 0) out[thread_number()] = table[at];
}

}  // namespace

int main() {
  try_patterns<unsigned char>("1");
  try_patterns<short>("2");
  try_patterns<int>("4");
  try_patterns<double>("8");
  try_patterns<float4>("16");
  const int* in = profiler::counted<int>(1 << 20);
  int* out = profiler::counted<int>(1 << 20);
  run("sort", 2, 96, local_sort, in, out);
  run("spilled", 2, 1024, spilled, reinterpret_cast<const float*>(in),
      reinterpret_cast<float*>(out));
  run("recursion", 2, 64, recursion, in, out);
  run("constant_for_all", 2, 96, constant_for_all, out, 7);
  run("constant_loop", 2, 96, constant_loop, out, 100);
  for (const profiler::Pattern& pattern : profiler::few_patterns())
    run_pattern("constant_by_lane", pattern, constant_by_lane, out);
}
