// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// lab 12, stage 3: an allocation for each array, results moved on the device before they are copied back, right before left
#include <cstdio>
#include <cstdlib>

#include "kernel.cuh"

void must(cudaError_t code) {
  if (code != cudaSuccess) std::exit(1);
}

__global__ void blend(int* out, const int* a, const int* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int even = a[i], odd = b[i];
  int value = 0;
  for (int round = 0; round < kLongRounds; ++round)
    value = value - (value >> 2) + (round % 2 == 0 ? even : odd);
  out[i] = value;
}

int main(int argc, char** argv) {
  const membound::Program program(argc, argv);
  const std::vector<int> in = program.read<int>("in");
  const int n = static_cast<int>(in.size()) / kTracks;
  const std::size_t bytes = n * sizeof(int);
  int* tracks = nullptr;
  must(cudaMallocHost(&tracks, (kTracks + 2) * (bytes + sizeof(int))));
  for (int i = 0; i < kTracks * n; ++i) tracks[i] = in[i];
  int* const out = tracks + kTracks * n;
  int *d_in, *d_x, *d_y, *d_z, *d_right, *d_out;
  must(cudaMalloc(&d_in, kTracks * bytes));
  must(cudaMalloc(&d_out, 2 * bytes));
  for (int** array : {&d_x, &d_y, &d_z, &d_right}) must(cudaMalloc(array, bytes));
  cudaStream_t first, second;
  cudaEvent_t arrived, y_is_there, z_is_there;
  for (cudaStream_t* stream : {&first, &second}) must(cudaStreamCreate(stream));
  for (cudaEvent_t* event : {&arrived, &y_is_there, &z_is_there}) must(cudaEventCreate(event));
  if (n > 0) {
    must(cudaMemcpyAsync(d_in, tracks, kTracks * bytes, cudaMemcpyHostToDevice, second));
    must(cudaEventRecord(arrived, second));
    must(cudaStreamWaitEvent(first, arrived, 0));
    blend<<<blocks_for(n), kThreads, 0, first>>>(d_x, d_in, d_in + n, n);
    must(cudaGetLastError());
    blend<<<blocks_for(n), kThreads, 0, second>>>(d_y, d_in + 2 * n, d_in + 3 * n, n);
    must(cudaGetLastError());
    must(cudaEventRecord(y_is_there, second));
    must(cudaStreamWaitEvent(first, y_is_there, 0));
    blend<<<blocks_for(n), kThreads, 0, first>>>(d_z, d_x, d_y, n);
    must(cudaGetLastError());
    must(cudaEventRecord(z_is_there, first));
    must(cudaStreamWaitEvent(second, z_is_there, 0));
    blend<<<blocks_for(n), kThreads, 0, second>>>(d_right, d_z, d_y, n);
    must(cudaGetLastError());
    must(cudaMemcpyAsync(d_out + n, d_right, bytes, cudaMemcpyDeviceToDevice, second));
    must(cudaMemcpyAsync(out + n, d_out + n, bytes, cudaMemcpyDeviceToHost, second));
    blend<<<blocks_for(n), kThreads, 0, first>>>(d_out, d_z, d_x, n);
    must(cudaGetLastError());
    must(cudaMemcpyAsync(out, d_out, bytes, cudaMemcpyDeviceToHost, first));
    must(cudaDeviceSynchronize());
  }
  program.write("out", out, 2 * n);
  for (cudaEvent_t event : {arrived, y_is_there, z_is_there}) must(cudaEventDestroy(event));
  for (cudaStream_t stream : {first, second}) must(cudaStreamDestroy(stream));
  must(cudaFreeHost(tracks));
  for (int* array : {d_in, d_x, d_y, d_z, d_right, d_out}) must(cudaFree(array));
}
