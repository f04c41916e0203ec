// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// lab 12, stage 2: pieces through pinned buffers of one piece each, filled and emptied by the host
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
  const std::vector<int> in = program.read<int>("in");
  std::vector<int> out(in.size());
  const int n = static_cast<int>(in.size()), rounds = program.read<int>("rounds").front();
  const int most = (n + kPieces - 1) / kPieces;
  const std::size_t room = (most + 1) * sizeof(int);
  // A stream, a buffer on either side and no wait between: eight of each, from two allocations.
  int *staging = nullptr, *d_pieces = nullptr;
  must(cudaMallocHost(&staging, 2 * kPieces * room));
  must(cudaMalloc(&d_pieces, kPieces * room));
  cudaStream_t streams[kPieces];
  for (cudaStream_t& stream : streams) must(cudaStreamCreate(&stream));
  for (int i = 0; i < kPieces; ++i) {
    const int first = i * most, count = most < n - first ? most : n - first;
    if (count <= 0) break;
    int* const to_device = staging + 2 * i * (most + 1);
    int* const from_device = to_device + most + 1;
    int* const d_piece = d_pieces + i * (most + 1);
    for (int j = 0; j < count; ++j) to_device[j] = in[first + j];
    must(cudaMemcpyAsync(d_piece, to_device, count * sizeof(int), cudaMemcpyDefault, streams[i]));
    soften<<<blocks_for(count), kThreads, 0, streams[i]>>>(d_piece, count, rounds);
    must(cudaGetLastError());
    must(cudaMemcpyAsync(from_device, d_piece, count * sizeof(int), cudaMemcpyDefault, streams[i]));
  }
  must(cudaDeviceSynchronize());
  for (int j = 0; j < n; ++j) {
    const int piece = j / most;
    out[j] = staging[(2 * piece + 1) * (most + 1) + j - piece * most];
  }
  program.write("out", out);
  for (cudaStream_t stream : streams) must(cudaStreamDestroy(stream));
  must(cudaFreeHost(staging));
  must(cudaFree(d_pieces));
}
