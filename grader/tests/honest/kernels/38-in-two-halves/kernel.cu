// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// lab 00, stage 4: one allocation for all three arrays, two launches between the events, and no figure printed
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
  float* d_all;
  must(cudaMalloc(&d_all, 3 * bytes));
  float *const d_a = d_all, *const d_b = d_a + n, *const d_out = d_b + n;
  std::vector<float> both(a);
  both.insert(both.end(), b.begin(), b.end());
  must(cudaMemcpy(d_all, both.data(), 2 * bytes, cudaMemcpyHostToDevice));
  must(cudaMemset(d_out, 0, bytes));
  const int half = n / 2;
  must(cudaEventRecord(before));
  for (const int part : {0, 1}) {
    const int first = part * half, count = part == 0 ? half : n - half;
    if (count == 0) continue;
    add_one_each<<<(count + kThreads - 1) / kThreads, kThreads>>>(d_out + first, d_a + first,
                                                                  d_b + first, count);
    must(cudaGetLastError());
  }
  must(cudaEventRecord(behind));
  must(cudaEventSynchronize(behind));
  float milliseconds = 0;
  must(cudaEventElapsedTime(&milliseconds, before, behind));
  must(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost));
  must(cudaFree(d_all));

  program.write("out", out);
  for (cudaEvent_t event : {before, behind}) must(cudaEventDestroy(event));
}
#endif
