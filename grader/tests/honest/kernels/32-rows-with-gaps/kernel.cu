// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// lab 12, stage 1: sounds in the rows of one pitched array, copied row by row, after a kernel to warm up
#include <cstdio>
#include <cstdlib>

#include "kernel.cuh"

void must(cudaError_t code) {
  if (code != cudaSuccess) std::exit(1);
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
  const std::size_t width = n * sizeof(int);
  cudaStream_t streams[kSounds];
  for (cudaStream_t& stream : streams) must(cudaStreamCreate(&stream));
  if (n > 0) {
    int *d_rows = nullptr, *d_warm_up = nullptr;
    std::size_t pitch = 0;
    must(cudaMalloc(&d_warm_up, width));
    must(cudaMemset(d_warm_up, 0, width));
    echo<<<1, 32>>>(d_warm_up, n < 32 ? n : 32);
    must(cudaGetLastError());
    must(cudaMallocPitch(reinterpret_cast<void**>(&d_rows), &pitch, width, kSounds));
    must(cudaMemcpy2D(d_rows, pitch, sounds.data(), width, width, kSounds, cudaMemcpyHostToDevice));
    for (int i = 0; i < kSounds; ++i) {
      echo<<<blocks_for(n), kThreads, 0, streams[i]>>>(d_rows + i * pitch / sizeof(int), n);
      must(cudaGetLastError());
    }
    must(cudaDeviceSynchronize());
    must(cudaMemcpy2D(sounds.data(), width, d_rows, pitch, width, kSounds, cudaMemcpyDeviceToHost));
    must(cudaFree(d_rows));
    must(cudaFree(d_warm_up));
  }
  program.write("out", sounds);
  for (cudaStream_t stream : streams) must(cudaStreamDestroy(stream));
}
