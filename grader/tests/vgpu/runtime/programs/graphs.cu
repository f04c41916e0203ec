// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// Graphs: captured from streams (with a fork), built by hand, updated, launched again.
#include "check.cuh"

__global__ void add(int* data, int value) { data[threadIdx.x] += value; }
__global__ void multiply(int* data, int value) { data[threadIdx.x] *= value; }

int first(const int* d_data) {
  int value = 0;
  CHECK_CUDA(cudaMemcpy(&value, d_data, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

void captured(int* d_data) {
  cudaStream_t main_stream, side_stream;
  CHECK_CUDA(cudaStreamCreateWithFlags(&main_stream, cudaStreamNonBlocking));
  CHECK_CUDA(cudaStreamCreateWithFlags(&side_stream, cudaStreamNonBlocking));
  cudaEvent_t fork, join;
  CHECK_CUDA(cudaEventCreate(&fork));
  CHECK_CUDA(cudaEventCreate(&join));
  CHECK_CUDA(cudaMemset(d_data, 0, 64 * sizeof(int)));

  CHECK_CUDA(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
  CHECK_FAILS(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(main_stream));
  add<<<1, 32, 0, main_stream>>>(d_data, 3);
  CHECK_CUDA(cudaEventRecord(fork, main_stream));
  CHECK_CUDA(cudaStreamWaitEvent(side_stream, fork, 0));
  add<<<1, 32, 0, side_stream>>>(d_data + 32, 5);
  CHECK_CUDA(cudaEventRecord(join, side_stream));
  multiply<<<1, 32, 0, main_stream>>>(d_data, 2);
  CHECK_CUDA(cudaStreamWaitEvent(main_stream, join, 0));
  cudaGraph_t graph;
  CHECK_CUDA(cudaStreamEndCapture(main_stream, &graph));
  (void)cudaGetLastError();
  CHECK(first(d_data) == 0);  // captured, not run

  size_t nodes = 0;
  CHECK_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 3);
  cudaGraphExec_t executable;
  CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 2; ++i) CHECK_CUDA(cudaGraphLaunch(executable, main_stream));
  CHECK_CUDA(cudaStreamSynchronize(main_stream));
  CHECK(first(d_data) == 18);       // ((0 + 3) * 2 + 3) * 2
  CHECK(first(d_data + 32) == 10);  // 5 + 5
  CHECK_CUDA(cudaGraphExecDestroy(executable));
  CHECK_CUDA(cudaGraphDestroy(graph));
}

void built(int* d_data) {
  int *d_copy, host[64], called = 0;
  CHECK_CUDA(cudaMalloc(&d_copy, 64 * sizeof(int)));
  cudaGraph_t graph;
  CHECK_CUDA(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fill = {};
  fill.dst = d_data;
  fill.elementSize = 4;
  fill.value = 11;
  fill.width = 64;
  fill.height = 1;
  cudaGraphNode_t fill_node, kernel_node, copy_node, back_node, host_node;
  CHECK_CUDA(cudaGraphAddMemsetNode(&fill_node, graph, nullptr, 0, &fill));
  int value = 4;
  void* arguments[] = {&d_data, &value};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(add);
  kernel.gridDim = 1;
  kernel.blockDim = 64;
  kernel.kernelParams = arguments;
  CHECK_CUDA(cudaGraphAddKernelNode(&kernel_node, graph, &fill_node, 1, &kernel));
  CHECK_CUDA(cudaGraphAddMemcpyNode1D(&copy_node, graph, &kernel_node, 1, d_copy, d_data,
                                      64 * sizeof(int), cudaMemcpyDeviceToDevice));
  CHECK_CUDA(cudaGraphAddMemcpyNode1D(&back_node, graph, &copy_node, 1, host, d_copy,
                                      64 * sizeof(int), cudaMemcpyDeviceToHost));
  cudaHostNodeParams call = {[](void* data) { ++*static_cast<int*>(data); }, &called};
  CHECK_CUDA(cudaGraphAddHostNode(&host_node, graph, &back_node, 1, &call));
  cudaGraphNodeType type;
  CHECK_CUDA(cudaGraphNodeGetType(kernel_node, &type));
  CHECK(type == cudaGraphNodeTypeKernel);

  cudaGraphExec_t executable;
  CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  CHECK_CUDA(cudaGraphLaunch(executable, nullptr));
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(host[0] == 15 && host[63] == 15 && called == 1);

  value = 100;
  CHECK_CUDA(cudaGraphExecKernelNodeSetParams(executable, kernel_node, &kernel));
  CHECK_CUDA(cudaGraphLaunch(executable, nullptr));
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(host[0] == 111 && called == 2);
  CHECK_CUDA(cudaGraphNodeSetEnabled(executable, kernel_node, 0));
  CHECK_CUDA(cudaGraphLaunch(executable, nullptr));
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(host[0] == 11);
}

int main() {
  int* d_data;
  CHECK_CUDA(cudaMalloc(&d_data, 64 * sizeof(int)));
  captured(d_data);
  built(d_data);
}
