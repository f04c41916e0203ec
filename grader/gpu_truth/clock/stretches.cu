// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Threads that walk through so many neighbouring words each, as a CPU's would: loads, stores and
/// copies of 512 MiB, by blocks of 256 threads of which an SM holds 8, 4, 2 or 1.
///
/// A program whose rows tell when L2 gives up sectors that are half read or half written.
#include "grader/vgpu/calibration/timed.cuh"

namespace {

constexpr std::size_t kWords = std::size_t{1} << 27;

__device__ std::size_t begin_of_thread(int each) {
  return (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) * each;
}

__global__ void copy(int* out, const int* in, int each) {
  const std::size_t begin = begin_of_thread(each);
  for (std::size_t i = begin; i < begin + each; ++i) out[i] = in[i];
}

__global__ void load(int* out, const int* in, int each) {
  const std::size_t begin = begin_of_thread(each);
  int sum = 0;
#pragma unroll 1
  for (std::size_t i = begin; i < begin + each; ++i) sum += in[i];
  if (sum == 0x7fffffff) *out = sum;
}

__global__ void store(int* out, const int*, int each) {
  const std::size_t begin = begin_of_thread(each);
  for (std::size_t i = begin; i < begin + each; ++i) out[i] = static_cast<int>(i);
}

}  // namespace

int main(int argc, char** argv) {
  timed::Bench bench(argc, argv);
  int *in = nullptr, *out = nullptr;
  timed::check(cudaMalloc(&in, kWords * sizeof(int)), "cudaMalloc");
  timed::check(cudaMalloc(&out, kWords * sizeof(int)), "cudaMalloc");
  timed::check(cudaMemset(in, 0, kWords * sizeof(int)), "cudaMemset");
  struct Walk {
    const char* name;
    void (*kernel)(int*, const int*, int);
  };
  constexpr int kThreads = 256, kLargestShared = 200 << 10;  // bytes: one block an SM
  for (const Walk walk : {Walk{"copy", copy}, {"load", load}, {"store", store}}) {
    timed::check(cudaFuncSetAttribute(walk.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      kLargestShared),
                 "cudaFuncSetAttribute");
    for (const int each : {4, 8, 16, 32, 64, 256})
      for (const int places : {8, 4, 2, 1}) {
        if (places != 8 && each != 64 && each != 16) continue;
        const int shared = places == 8 ? 0 : kLargestShared / places;
        bench(walk.name, std::to_string(each) + " each " + std::to_string(places) + " blocks an SM",
              [&] { walk.kernel<<<kWords / each / kThreads, kThreads, shared>>>(out, in, each); });
      }
  }
  return 0;
}
