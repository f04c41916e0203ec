// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// lab 12, stage 4: the graph fills scratch memory and copies on the device, too
#include <cstdio>
#include <cstdlib>

#include "kernel.cuh"

void must(cudaError_t code) {
  if (code != cudaSuccess) std::exit(1);
}

__global__ void turn(int* out, const int* mine, const int* other, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = mine[i] - (mine[i] >> 2) + (other[i] >> 3);
}

int main(int argc, char** argv) {
  const membound::Program program(argc, argv);
  const std::vector<int> in = program.read<int>("in");
  const int n = static_cast<int>(in.size()) / kChannels;
  const std::size_t bytes = n * sizeof(int);
  cudaStream_t first, second;
  cudaEvent_t begun, a_is_there, b_is_there, right_is_there;
  for (cudaStream_t* stream : {&first, &second}) must(cudaStreamCreate(stream));
  for (cudaEvent_t* event : {&begun, &a_is_there, &b_is_there, &right_is_there})
    must(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  int *channels = nullptr, *d_memory = nullptr;
  must(cudaMallocHost(&channels, 2 * bytes + sizeof(int)));
  for (int i = 0; i < kChannels * n; ++i) channels[i] = in[i];
  must(cudaMallocAsync(&d_memory, 5 * bytes + sizeof(int), first));
  int *d_left = d_memory, *d_right = d_left + n, *d_a = d_right + n, *d_b = d_a + n,
      *d_scratch = d_b + n;
  must(cudaMemcpyAsync(d_left, channels, 2 * bytes, cudaMemcpyHostToDevice, first));
  if (n > 0) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    must(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    must(cudaMemsetAsync(d_scratch, 0, bytes, first));
    must(cudaEventRecord(begun, first));
    must(cudaStreamWaitEvent(second, begun, 0));
    turn<<<blocks_for(n), kThreads, 0, first>>>(d_a, d_left, d_right, n);
    turn<<<blocks_for(n), kThreads, 0, second>>>(d_b, d_right, d_left, n);
    must(cudaEventRecord(a_is_there, first));
    must(cudaEventRecord(b_is_there, second));
    must(cudaStreamWaitEvent(first, b_is_there, 0));
    must(cudaStreamWaitEvent(second, a_is_there, 0));
    turn<<<blocks_for(n), kThreads, 0, first>>>(d_scratch, d_a, d_b, n);
    turn<<<blocks_for(n), kThreads, 0, second>>>(d_right, d_b, d_a, n);
    must(cudaMemcpyAsync(d_left, d_scratch, bytes, cudaMemcpyDeviceToDevice, first));
    must(cudaEventRecord(right_is_there, second));
    must(cudaStreamWaitEvent(first, right_is_there, 0));
    must(cudaStreamEndCapture(first, &graph));
    must(cudaGraphInstantiate(&ready, graph, 0));
    for (int i = 0; i < kTurns; ++i) must(cudaGraphLaunch(ready, first));
    must(cudaGraphExecDestroy(ready));
    must(cudaGraphDestroy(graph));
  }
  must(cudaMemcpyAsync(channels, d_left, 2 * bytes, cudaMemcpyDeviceToHost, first));
  must(cudaFreeAsync(d_memory, first));
  must(cudaStreamSynchronize(first));
  program.write("out", channels, in.size());
  for (cudaEvent_t event : {begun, a_is_there, b_is_there, right_is_there})
    must(cudaEventDestroy(event));
  for (cudaStream_t stream : {first, second}) must(cudaStreamDestroy(stream));
  must(cudaFreeHost(channels));
}
