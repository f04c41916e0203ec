// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// all pieces but the last go through the device; that one is the CPU's
#include <cstdio>
#include <cstdlib>

#include "kernel.cuh"

void must(cudaError_t code) {
  if (code != cudaSuccess) std::exit(1);
}

int on_the_cpu(int sample, int rounds) {
  int value = sample;
  for (int round = 0; round < rounds; ++round) value = value - (value >> 3) + sample;
  return value;
}

__global__ void soften(int* piece, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int sample = piece[i];
  int value = sample;
  for (int round = 0; round < rounds; ++round) value = value - (value >> 3) + sample;
  piece[i] = value;
}

int main(int argc, char** argv) {
  const membound::Program program(argc, argv);
  const std::vector<int> in = program.read<int>("in");
  const int n = static_cast<int>(in.size()), rounds = program.read<int>("rounds").front();
  const int most = (n + kPieces - 1) / kPieces;
  int *d_samples = nullptr, *samples = nullptr;
  must(cudaMalloc(&d_samples, n * sizeof(int)));
  must(cudaMallocHost(&samples, (n + 1) * sizeof(int)));
  for (int i = 0; i < n; ++i) samples[i] = in[i];
  cudaStream_t streams[kStreams];
  for (cudaStream_t& stream : streams) must(cudaStreamCreate(&stream));
  for (int i = 0; i < kPieces; ++i) {
    const int first = i * most, count = most < n - first ? most : n - first;
    if (count <= 0) break;
    const std::size_t bytes = count * sizeof(int);
    const cudaStream_t stream = streams[i % kStreams];
    must(cudaMemcpyAsync(d_samples + first, samples + first, bytes, cudaMemcpyHostToDevice, stream));
    soften<<<blocks_for(count), kThreads, 0, stream>>>(d_samples + first, count, rounds);
    must(cudaGetLastError());
    if (first + count < n)
      must(cudaMemcpyAsync(samples + first, d_samples + first, bytes, cudaMemcpyDeviceToHost,
                           stream));
    else
      for (int j = first; j < n; ++j) samples[j] = on_the_cpu(in[j], rounds);
  }
  must(cudaDeviceSynchronize());
  program.write("out", samples, n);
  for (cudaStream_t stream : streams) must(cudaStreamDestroy(stream));
  must(cudaFreeHost(samples));
  must(cudaFree(d_samples));
}
