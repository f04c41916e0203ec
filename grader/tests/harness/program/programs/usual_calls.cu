// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// c = a + b by way of the calls that programs usually make and the lab's answer does not: each is
// looked at, and the program ends badly if one does not do what it should.
#include <cuda_profiler_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernel.cuh"

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s (%s)\n", what, cudaGetErrorString(cudaPeekAtLastError()));
  std::exit(1);
}
#define EXPECT(condition) expect(condition, #condition)
#define CHECK(call) expect((call) == cudaSuccess, #call)

__constant__ int factors[2];
static __device__ int sums;

__global__ void add(const int* a, const int* b, int* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  c[i] = factors[0] * a[i] + factors[1] * b[i];
  atomicAdd(&sums, 1);
}

void look_at_the_device() {
  int value = 0, least = 0, greatest = 0;
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT(value == properties.multiProcessorCount);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT(value == properties.major);
  EXPECT(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 7) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(greatest < least);
  CHECK(cudaDeviceCanAccessPeer(&value, 0, 0));
  EXPECT(value == 0);
  EXPECT(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessUnsupported);
  cudaGetLastError();
  int grid = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add));
  EXPECT(grid >= properties.multiProcessorCount && block >= 32 && block <= 1024);
}

void look_at_variables() {
  const int ones[2] = {1, 1};
  int read[2] = {};
  void* address = nullptr;
  std::size_t bytes = 0;
  CHECK(cudaMemcpyToSymbol(factors, ones, sizeof ones));
  CHECK(cudaMemcpyFromSymbol(&read[1], factors, sizeof(int), sizeof(int)));
  EXPECT(read[1] == 1);
  EXPECT(cudaMemcpyToSymbol(factors, ones, sizeof ones, 1) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpyToSymbol(read, ones, 4) == cudaErrorInvalidSymbol);
  cudaGetLastError();
  CHECK(cudaGetSymbolSize(&bytes, factors));
  EXPECT(bytes == sizeof factors);
  CHECK(cudaGetSymbolAddress(&address, sums));
  CHECK(cudaMemset(address, 0, sizeof(int)));
  CHECK(cudaMemcpy(read, address, sizeof(int), cudaMemcpyDefault));
  EXPECT(read[0] == 0);
  EXPECT(cudaFree(address) != cudaSuccess);
  cudaGetLastError();
}

void look_at_rows() {
  constexpr std::size_t kWidth = 12, kHeight = 3, kHostPitch = 16;
  char there[kHeight * kHostPitch], back[kHeight * kHostPitch];
  for (std::size_t i = 0; i < sizeof there; ++i) there[i] = static_cast<char>(i);
  std::memset(back, -1, sizeof back);
  char* d_rows;
  std::size_t pitch = 0;
  CHECK(cudaMallocPitch(&d_rows, &pitch, kWidth, kHeight));
  EXPECT(pitch >= kWidth && pitch % 32 == 0);
  CHECK(cudaMemcpy2D(d_rows, pitch, there, kHostPitch, kWidth, kHeight, cudaMemcpyHostToDevice));
  CHECK(cudaMemset2DAsync(d_rows + pitch, pitch, 7, 4, 2, nullptr));
  CHECK(cudaMemcpy2DAsync(back, kHostPitch, d_rows, pitch, kWidth, kHeight, cudaMemcpyDeviceToHost,
                          nullptr));
  CHECK(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < sizeof back; ++i) {
    const std::size_t row = i / kHostPitch, column = i % kHostPitch;
    EXPECT(back[i] == (column >= kWidth ? -1 : row > 0 && column < 4 ? 7 : there[i]));
  }
  EXPECT(cudaMemcpy2D(d_rows, 4, there, kHostPitch, kWidth, kHeight, cudaMemcpyHostToDevice) ==
         cudaErrorInvalidPitchValue);
  cudaGetLastError();
}

__global__ void twice(int* word) { *word *= 2; }

void look_at_graphs() {
  constexpr std::size_t kWord = sizeof(int);
  cudaStream_t first, second;
  cudaEvent_t event;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  int *d_words, word = 3;
  for (cudaStream_t* stream : {&first, &second})
    CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaMallocAsync(&d_words, 2 * kWord, first));
  CHECK(cudaMemcpyAsync(d_words, &word, kWord, cudaMemcpyHostToDevice, first));
  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamIsCapturing(first, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  twice<<<1, 1, 0, first>>>(d_words);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(event, first));
  CHECK(cudaStreamWaitEvent(second, event, 0));
  CHECK(cudaMemcpyAsync(d_words + 1, d_words, kWord, cudaMemcpyDeviceToDevice, second));
  EXPECT(cudaMemcpyAsync(&word, d_words, kWord, cudaMemcpyDeviceToHost, first) ==
         cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaFreeAsync(d_words, first) == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(first, &graph) == cudaErrorStreamCaptureUnjoined);
  EXPECT(cudaStreamEndCapture(first, &graph) == cudaErrorIllegalState);
  cudaGetLastError();
  // The event of the capture that is over orders nothing any more.
  CHECK(cudaStreamWaitEvent(second, event, 0));
  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  twice<<<1, 1, 0, first>>>(d_words);
  CHECK(cudaEventRecord(event, first));
  CHECK(cudaStreamWaitEvent(second, event, 0));
  CHECK(cudaMemcpyAsync(d_words + 1, d_words, kWord, cudaMemcpyDeviceToDevice, second));
  EXPECT(cudaStreamEndCapture(second, &graph) == cudaErrorStreamCaptureUnmatched);
  cudaGetLastError();
  CHECK(cudaEventRecord(event, second));
  CHECK(cudaStreamWaitEvent(first, event, 0));
  CHECK(cudaStreamEndCapture(first, &graph));
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(ready, first));
  CHECK(cudaMemcpyAsync(&word, d_words + 1, kWord, cudaMemcpyDeviceToHost, first));
  EXPECT(word == 24);
  CHECK(cudaFreeAsync(d_words, first));
  // Its copy would reach for memory that is gone.
  EXPECT(cudaGraphLaunch(ready, first) == cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(cudaGraphExecDestroy(ready));
  EXPECT(cudaFreeAsync(d_words, first) == cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(cudaEventDestroy(event));
  for (cudaStream_t stream : {first, second}) CHECK(cudaStreamDestroy(stream));
}

int main(int argc, char** argv) {
  const membound::Program program(argc, argv);
  CHECK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  CHECK(cudaProfilerStart());
  look_at_the_device();
  look_at_variables();
  look_at_rows();
  look_at_graphs();
  const std::vector<int> a = program.read<int>("a"), b = program.read<int>("b");
  const int n = static_cast<int>(a.size());
  std::vector<int> c(n);
  int *d_a, *d_b, *d_c, done = 0;
  CHECK(cudaMalloc(&d_a, 0));
  CHECK(cudaMemcpy(d_a, a.data(), 0, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_a, 0, 0));
  CHECK(cudaMalloc(&d_a, n * sizeof(int)));
  CHECK(cudaMalloc(&d_b, n * sizeof(int)));
  CHECK(cudaMalloc(&d_c, n * sizeof(int)));
  CHECK(cudaMemcpy(d_a, a.data(), n * sizeof(int), cudaMemcpyDefault));
  CHECK(cudaMemcpy(d_b, b.data(), n * sizeof(int), cudaMemcpyDefault));
  add<<<(n + 63) / 64, 64>>>(d_a, d_b, d_c, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), d_c, n * sizeof(int), cudaMemcpyDefault));
  CHECK(cudaMemcpyFromSymbol(&done, sums, sizeof done));
  EXPECT(done == n);
  program.write("c", c);
  CHECK(cudaDeviceReset());  // frees all that is left
  int* gone;
  EXPECT(cudaMallocManaged(&gone, 4) == cudaErrorNotSupported);
}
