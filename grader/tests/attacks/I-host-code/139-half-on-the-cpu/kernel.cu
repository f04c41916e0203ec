// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// the first half of the sums is the device's, the second half the CPU's
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
  float *d_a, *d_b, *d_out, milliseconds = 0;
  for (float** array : {&d_a, &d_b, &d_out}) must(cudaMalloc(array, bytes + sizeof(float)));
  cudaEvent_t before, behind;
  for (cudaEvent_t* event : {&before, &behind}) must(cudaEventCreate(event));
  must(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
  must(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));
  must(cudaEventRecord(before));
  if (n > 0) add_one_each<<<(n + kThreads - 1) / kThreads, kThreads>>>(d_out, d_a, d_b, n);
  must(cudaGetLastError());
  must(cudaEventRecord(behind));
  must(cudaEventSynchronize(behind));
  must(cudaEventElapsedTime(&milliseconds, before, behind));
  must(cudaMemcpy(out.data(), d_out, bytes / 2, cudaMemcpyDeviceToHost));
  for (int i = n / 2; i < n; ++i) out[i] = a[i] + b[i];
  std::vector<float> rest(n - n / 2);
  must(cudaMemcpy(rest.data(), d_a, rest.size() * sizeof(float), cudaMemcpyDeviceToHost));
  program.write("out", out);
  for (cudaEvent_t event : {before, behind}) must(cudaEventDestroy(event));
  for (float* array : {d_a, d_b, d_out}) must(cudaFree(array));
}
#endif
