// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// lab 12, stage 2: all pieces of one length, the last one padded with zeros, in memory registered as pinned
#include <cstdio>
#include <cstdlib>

#include "kernel.cuh"

void must(cudaError_t code) {
  if (code != cudaSuccess) std::exit(1);
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
  std::vector<int> samples = program.read<int>("in");
  const int n = static_cast<int>(samples.size()), rounds = program.read<int>("rounds").front();
  const int piece = (n + kPieces - 1) / kPieces;
  samples.resize(kPieces * piece + 1);
  const std::size_t bytes = piece * sizeof(int);
  int* d_samples = nullptr;
  must(cudaHostRegister(samples.data(), samples.size() * sizeof(int), cudaHostRegisterDefault));
  must(cudaMalloc(&d_samples, kPieces * bytes));
  cudaStream_t streams[kStreams];
  for (cudaStream_t& stream : streams)
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < kPieces && piece > 0; ++i) {
    int *const here = samples.data() + i * piece, *const there = d_samples + i * piece;
    const cudaStream_t stream = streams[i % kStreams];
    must(cudaMemcpyAsync(there, here, bytes, cudaMemcpyHostToDevice, stream));
    soften<<<blocks_for(piece), kThreads, 0, stream>>>(there, piece, rounds);
    must(cudaGetLastError());
    must(cudaMemcpyAsync(here, there, bytes, cudaMemcpyDeviceToHost, stream));
  }
  must(cudaDeviceSynchronize());
  program.write("out", samples.data(), n);
  for (cudaStream_t stream : streams) must(cudaStreamDestroy(stream));
  must(cudaHostUnregister(samples.data()));
  must(cudaFree(d_samples));
}
