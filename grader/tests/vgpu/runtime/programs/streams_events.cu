// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// Time as events see it: streams overlap, one stream does not, waiting makes order.
#include "check.cuh"

__global__ void busy(float* data, int rounds) {
  float value = data[threadIdx.x];
  for (int i = 0; i < rounds; ++i) value = value * 1.0001f + 0.5f;
  data[threadIdx.x] = value;
}

float elapsed(cudaEvent_t start, cudaEvent_t stop) {
  float ms = -1;
  CHECK_CUDA(cudaEventElapsedTime(&ms, start, stop));
  return ms;
}

int main() {
  constexpr int kStreams = 4;
  float* d_data;
  CHECK_CUDA(cudaMalloc(&d_data, 64 * sizeof(float)));
  CHECK_CUDA(cudaMemset(d_data, 0, 64 * sizeof(float)));
  cudaStream_t streams[kStreams];
  for (auto& stream : streams) CHECK_CUDA(cudaStreamCreate(&stream));
  cudaEvent_t start, stop, middle;
  CHECK_CUDA(cudaEventCreate(&start));
  CHECK_CUDA(cudaEventCreate(&stop));
  CHECK_CUDA(cudaEventCreate(&middle));
  float ms = 0;
  CHECK_FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, stop));

  // Four small kernels: in one stream they take turns, in four they run side by side.
  CHECK_CUDA(cudaEventRecord(start));
  for (int i = 0; i < kStreams; ++i) busy<<<1, 32, 0, streams[0]>>>(d_data, 20000);
  CHECK_CUDA(cudaEventRecord(stop));
  CHECK_CUDA(cudaEventSynchronize(stop));
  const float one_stream = elapsed(start, stop);
  CHECK_CUDA(cudaEventRecord(start));
  for (int i = 0; i < kStreams; ++i) busy<<<1, 32, 0, streams[i]>>>(d_data, 20000);
  CHECK_CUDA(cudaEventRecord(stop));
  CHECK_CUDA(cudaEventSynchronize(stop));
  const float four_streams = elapsed(start, stop);
  CHECK(one_stream > 2 * four_streams);

  // The same stream: the second event is later by the kernel's time; nothing between: no later.
  CHECK_CUDA(cudaEventRecord(start, streams[0]));
  busy<<<1, 32, 0, streams[0]>>>(d_data, 20000);
  CHECK_CUDA(cudaEventRecord(middle, streams[0]));
  CHECK_CUDA(cudaStreamWaitEvent(streams[1], middle, 0));
  busy<<<1, 32, 0, streams[1]>>>(d_data + 32, 20000);
  CHECK_CUDA(cudaEventRecord(stop, streams[1]));
  CHECK_FAILS(cudaErrorNotReady, cudaEventQuery(stop));
  CHECK_FAILS(cudaErrorNotReady, cudaStreamQuery(streams[1]));
  (void)cudaGetLastError();
  CHECK_CUDA(cudaEventSynchronize(stop));
  CHECK(elapsed(middle, stop) > 0.5f * elapsed(start, middle));
  CHECK_CUDA(cudaStreamQuery(streams[1]));

  // A copy from pinned memory runs beside a kernel.
  constexpr size_t kBytes = 8 << 20;
  char *h_pinned, *d_bytes;
  CHECK_CUDA(cudaMallocHost(&h_pinned, kBytes));
  CHECK_CUDA(cudaMalloc(&d_bytes, kBytes));
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK_CUDA(cudaEventRecord(start, streams[0]));
  CHECK_CUDA(cudaMemcpyAsync(d_bytes, h_pinned, kBytes, cudaMemcpyHostToDevice, streams[0]));
  CHECK_CUDA(cudaEventRecord(stop, streams[0]));
  CHECK_CUDA(cudaStreamSynchronize(streams[0]));
  const float copy_alone = elapsed(start, stop);
  CHECK_CUDA(cudaEventRecord(start, streams[0]));
  busy<<<1, 32, 0, streams[1]>>>(d_data, 20000);
  CHECK_CUDA(cudaMemcpyAsync(d_bytes, h_pinned, kBytes, cudaMemcpyHostToDevice, streams[0]));
  CHECK_CUDA(cudaEventRecord(stop, streams[0]));
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(elapsed(start, stop) < 1.5f * copy_alone);

  // Polling gets on.
  busy<<<1, 32, 0, streams[2]>>>(d_data, 20000);
  CHECK_CUDA(cudaEventRecord(stop, streams[2]));
  long polls = 0;
  while (cudaEventQuery(stop) == cudaErrorNotReady) ++polls;
  CHECK(polls > 0);

  cudaEvent_t untimed;
  CHECK_CUDA(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  CHECK_CUDA(cudaEventRecord(untimed));
  CHECK_FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, untimed));

  int called = 0;
  CHECK_CUDA(cudaLaunchHostFunc(
      streams[0], [](void* data) { ++*static_cast<int*>(data); }, &called));
  CHECK_CUDA(cudaStreamSynchronize(streams[0]));
  CHECK(called == 1);
  for (auto& stream : streams) CHECK_CUDA(cudaStreamDestroy(stream));
}
