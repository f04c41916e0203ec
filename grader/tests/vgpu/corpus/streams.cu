// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Work of two streams that touches one place, with and without something that orders it. Only
// kernels have lines; of two the finding names that of the later one, and beside a copy, or memory
// that is given out or back, that of the kernel.
#include "corpus.cuh"

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void fill(int* out, int value) {
  out[place()] = value;  // copied_too_early, copied_over, stream_that_waits_for_nobody, both_fill
}
__global__ void add(int* out, const int* in) {
  const int i = place();
  const int value = in[i];  // read_too_early, cleared_while_read, event_too_early, nobody_waits
  out[i] += value;
}
__global__ void count(int* out) { atomicAdd(out, 1); }  // given_out_elsewhere
__global__ void read_sum(int* out, const int* sum) {
  out[place()] = sum[0];  // sum_read_while_it_grows, given_back_elsewhere
}

void run_case(const char* wanted, Arrays d) {
  constexpr int kThreads = 64, kBlocks = kCount / kThreads;
  const std::size_t bytes = kCount * sizeof(int);
  int* host = nullptr;
  cudaMallocHost(&host, 2 * bytes);
  cudaStream_t a = nullptr, b = nullptr, apart = nullptr;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  const auto fill_in = [&](cudaStream_t stream, int* out) {
    fill<<<kBlocks, kThreads, 0, stream>>>(out, 7);
  };
  const auto add_in = [&](cudaStream_t stream, const int* in) {
    add<<<kBlocks, kThreads, 0, stream>>>(d.out, in);
  };

  CASE(read_too_early, "data race", {
    fill_in(a, d.in);
    add_in(b, d.in);
  });
  CASE(both_fill, "data race", {
    fill_in(a, d.in);
    fill_in(b, d.in + kCount - 1);
  });
  CASE(copied_too_early, "data race", {
    fill_in(a, d.in);
    cudaMemcpyAsync(host, d.in, bytes, cudaMemcpyDeviceToHost, b);
  });
  CASE(copied_over, "data race", {
    cudaMemcpyAsync(d.in + kCount / 2, host, bytes, cudaMemcpyHostToDevice, a);
    fill_in(b, d.in);
  });
  CASE(cleared_while_read, "data race", {
    add_in(a, d.in);
    cudaMemsetAsync(d.in, 0, bytes, b);
  });
  CASE(event_too_early, "data race", {
    cudaEventRecord(event, a);
    fill_in(a, d.in);
    cudaStreamWaitEvent(b, event, 0);
    add_in(b, d.in);
  });
  CASE(nobody_waits, "data race", {
    fill_in(a, d.in);
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(apart, event, 0);
    add_in(b, d.in);
  });
  CASE(stream_that_waits_for_nobody, "data race", {
    add_in(nullptr, d.in);
    fill_in(apart, d.in);
  });
  CASE(sum_read_while_it_grows, "data race", {
    count<<<kBlocks, kThreads, 0, a>>>(d.in);
    read_sum<<<kBlocks, kThreads, 0, b>>>(d.out, d.in);
  });
  CASE(copied_both_ways, "data race", {
    cudaMemcpyAsync(d.in, host, bytes, cudaMemcpyHostToDevice, a);
    cudaMemcpyAsync(host + kCount, d.in, bytes, cudaMemcpyDeviceToHost, b);
  });
  CASE(pinned_memory_both_ways, "data race", {
    cudaMemcpyAsync(host, d.in, bytes, cudaMemcpyDeviceToHost, a);
    cudaMemcpyAsync(d.out, host, bytes, cudaMemcpyHostToDevice, b);
  });
  int* own = nullptr;
  CASE(given_out_elsewhere, "data race", {
    cudaMallocAsync(&own, bytes, a);
    count<<<kBlocks, kThreads, 0, b>>>(own);
    cudaDeviceSynchronize();
    cudaFree(own);
  });
  CASE(given_back_elsewhere, "data race", {
    cudaMallocAsync(&own, bytes, a);
    cudaMemsetAsync(own, 0, bytes, a);
    read_sum<<<kBlocks, kThreads, 0, a>>>(d.out, own);
    cudaFreeAsync(own, b);
  });

  RIGHT(given_out_and_back_in_order, {
    cudaMallocAsync(&own, bytes, a);
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event, 0);
    fill_in(b, own);
    add_in(b, own);
    cudaEventRecord(event, b);
    cudaStreamWaitEvent(a, event, 0);
    cudaFreeAsync(own, a);
    cudaMallocAsync(&own, bytes, a);
    fill_in(a, own);
    cudaFreeAsync(own, a);
  });
  RIGHT(pinned_memory_read_by_both, {
    cudaMemcpyAsync(d.in, host, bytes, cudaMemcpyHostToDevice, a);
    cudaMemcpyAsync(d.out, host, bytes, cudaMemcpyHostToDevice, b);
  });
  RIGHT(one_stream, {
    fill_in(a, d.in);
    add_in(a, d.in);
    cudaMemcpyAsync(host, d.out, bytes, cudaMemcpyDeviceToHost, a);
  });
  RIGHT(ordered_by_an_event, {
    fill_in(a, d.in);
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event, 0);
    add_in(b, d.in);
  });
  RIGHT(ordered_by_two_events, {
    fill_in(a, d.in);
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(apart, event, 0);
    cudaEventRecord(event, apart);
    cudaStreamWaitEvent(b, event, 0);
    add_in(b, d.in);
  });
  RIGHT(host_waits_for_the_stream, {
    fill_in(a, d.in);
    cudaStreamSynchronize(a);
    add_in(b, d.in);
  });
  RIGHT(host_waits_for_the_event, {
    fill_in(a, d.in);
    cudaEventRecord(event, a);
    cudaEventSynchronize(event);
    add_in(apart, d.in);
  });
  RIGHT(default_stream_between, {
    fill_in(a, d.in);
    count<<<1, 1>>>(d.in + kCount);
    add_in(b, d.in);
  });
  RIGHT(halves_of_their_own, {
    fill_in(a, d.in);
    fill_in(b, d.in + kCount);
    cudaMemcpyAsync(host, d.out, bytes, cudaMemcpyDeviceToHost, apart);
  });
  RIGHT(both_only_read, {
    add_in(a, d.in);
    cudaMemcpyAsync(host, d.in, bytes, cudaMemcpyDeviceToHost, b);
  });
  RIGHT(both_count, {
    count<<<kBlocks, kThreads, 0, a>>>(d.in);
    count<<<kBlocks, kThreads, 0, b>>>(d.in);
  });

  cudaDeviceSynchronize();
  cudaEventDestroy(event);
  for (const cudaStream_t stream : {a, b, apart}) cudaStreamDestroy(stream);
  cudaFreeHost(host);
}
