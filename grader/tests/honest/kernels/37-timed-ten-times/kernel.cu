// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// lab 00, stage 4: ten launches of the same work are timed, their average is printed, and the copies' time by the host's clock
#include "kernel.cuh"

__global__ void add_one_each(float* out, const float* a, const float* b, int n) {
  const int sum = blockIdx.x * blockDim.x + threadIdx.x;
  if (sum < n) out[sum] = a[sum] + b[sum];
}
LAUNCH_SHAPE(add_one_each, int n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}

#ifdef MEMBOUND_PROGRAM
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "program.hpp"

void must(cudaError_t code) {
  if (code != cudaSuccess) std::exit(1);
}

int main(int argc, char** argv) {
  const membound::Program program(argc, argv);
  const std::vector<float> a = program.read<float>("a"), b = program.read<float>("b");
  std::vector<float> out(a.size());
  const int n = static_cast<int>(out.size());
  const std::size_t bytes = n * sizeof(float);
  cudaEvent_t before, behind;
  for (cudaEvent_t* event : {&before, &behind}) must(cudaEventCreate(event));
  float *d_a, *d_b, *d_out;
  for (float** array : {&d_a, &d_b, &d_out}) must(cudaMalloc(array, bytes));
  const auto start = std::chrono::steady_clock::now();
  must(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
  must(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));
  const std::chrono::duration<double, std::milli> copies = std::chrono::steady_clock::now() - start;
  std::printf("copies: %.3f ms, %.2f GB/s\n", copies.count(), 2e-6 * bytes / copies.count());
  constexpr int kTimes = 10;
  float all = 0;
  for (int i = 0; i < kTimes && n > 0; ++i) {
    must(cudaEventRecord(before));
    add_one_each<<<(n + kThreads - 1) / kThreads, kThreads>>>(d_out, d_a, d_b, n);
    must(cudaGetLastError());
    must(cudaEventRecord(behind));
    must(cudaEventSynchronize(behind));
    float one = 0;
    must(cudaEventElapsedTime(&one, before, behind));
    all += one;
  }
  std::printf("kernel: %.5f ms on average, %.0f GB/s\n", all / kTimes,
              3e-6 * bytes / (all / kTimes));
  must(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost));
  for (float* array : {d_a, d_b, d_out}) must(cudaFree(array));

  program.write("out", out);
  for (cudaEvent_t event : {before, behind}) must(cudaEventDestroy(event));
}
#endif
