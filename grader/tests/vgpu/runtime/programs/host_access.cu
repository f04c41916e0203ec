// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// What the host does to pinned and managed memory while the device uses it, and what it does when
// it has waited; one way for each argument. host_memory_test.cpp runs them all.

#include <cstdlib>
#include <cstring>
#include <cuda/atomic>

#include "check.cuh"

constexpr int kCount = 4096;
constexpr std::size_t kBytes = kCount * sizeof(int);
__managed__ int shared_variable[kCount];

__global__ void fill(int* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = 7;  // fill
}
__global__ void fill_variable() { shared_variable[threadIdx.x] = 7; }  // fill_variable
__global__ void copy(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void hand_over(int* data, int* flag) {
  *data = 7;
  cuda::atomic_ref<int, cuda::thread_scope_system>(*flag).store(1, cuda::memory_order_release);
}

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  int *managed, *pinned, *d_data;
  CHECK_CUDA(cudaMallocManaged(&managed, kBytes));
  CHECK_CUDA(cudaMallocHost(&pinned, kBytes));
  CHECK_CUDA(cudaMalloc(&d_data, kBytes));
  CHECK_CUDA(cudaMemset(d_data, 0, kBytes));
  std::memset(pinned, 0, kBytes);
  cudaStream_t stream, other;
  CHECK_CUDA(cudaStreamCreate(&stream));
  CHECK_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  cudaEvent_t event;
  CHECK_CUDA(cudaEventCreate(&event));
  volatile int seen = 0;
  const auto fill_in = [&](int* out, cudaStream_t in) {
    fill<<<kCount / 256, 256, 0, in>>>(out, kCount);
  };
  const auto copy_back = [&] {
    CHECK_CUDA(cudaMemcpyAsync(pinned, d_data, kBytes, cudaMemcpyDeviceToHost, stream));
  };

  // Mistakes.
  if (is("managed_read")) fill_in(managed, nullptr), seen = managed[kCount - 1];
  if (is("managed_written")) fill_in(managed, nullptr), managed[5] = 1;
  if (is("variable_read")) fill_variable<<<1, 256>>>(), seen = shared_variable[3];
  if (is("pinned_read")) fill_in(pinned, stream), seen = pinned[0];
  if (is("copy_read")) copy_back(), seen = pinned[100];
  if (is("source_overwritten")) {
    CHECK_CUDA(cudaMemcpyAsync(d_data, pinned, kBytes, cudaMemcpyHostToDevice, stream));
    pinned[9] = 1;
  }
  if (is("other_stream_waited_for")) {
    fill_in(pinned, other);
    CHECK_CUDA(cudaStreamSynchronize(stream));
    seen = pinned[0];
  }
  if (is("event_before")) {
    CHECK_CUDA(cudaEventRecord(event, stream));
    fill_in(pinned, stream);
    CHECK_CUDA(cudaEventSynchronize(event));
    seen = pinned[0];
  }
  if (is("registered_read")) {
    int* const own = static_cast<int*>(std::malloc(16 * kBytes));
    CHECK_CUDA(cudaHostRegister(own, 16 * kBytes, 0));
    fill<<<kCount / 256, 256, 0, stream>>>(own + 4 * kCount, kCount);
    seen = own[4 * kCount + 2000];
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaHostUnregister(own));
    std::free(own);
  }

  // Right.
  if (is("device_waited_for")) {
    fill_in(managed, nullptr);
    CHECK_CUDA(cudaDeviceSynchronize());
    seen = managed[0];
  }
  if (is("event_waited_for")) {
    fill_in(pinned, stream);
    CHECK_CUDA(cudaEventRecord(event, stream));
    CHECK_CUDA(cudaEventSynchronize(event));
    seen = pinned[0];
  }
  if (is("stream_asked")) {
    copy_back();
    while (cudaStreamQuery(stream) != cudaSuccess) {
    }
    seen = pinned[0];
  }
  if (is("blocking_copy_after")) {
    fill_in(managed, nullptr);
    int first = 0;
    CHECK_CUDA(cudaMemcpy(&first, d_data, sizeof first, cudaMemcpyDeviceToHost));
    seen = managed[0];
  }
  if (is("other_array")) fill_in(managed, nullptr), seen = pinned[0], pinned[1] = 2;
  if (is("other_half")) {
    fill<<<kCount / 512, 256>>>(managed, kCount / 2);
    managed[kCount - 1] = 1;
    seen = managed[kCount / 2];
  }
  if (is("source_read")) {
    CHECK_CUDA(cudaMemcpyAsync(d_data, pinned, kBytes, cudaMemcpyHostToDevice, stream));
    seen = pinned[9];
  }
  if (is("own_memory")) {
    int* const own = static_cast<int*>(std::malloc(kBytes));
    CHECK_CUDA(cudaMemcpyAsync(own, d_data, kBytes, cudaMemcpyDeviceToHost, stream));
    seen = own[0];
    std::free(own);
  }
  if (is("filled_by_a_call_that_waits")) {
    CHECK_CUDA(cudaMemset(pinned, 1, kBytes));
    seen = pinned[0];
  }
  if (is("in_the_streams_order")) {
    fill_in(pinned, stream);
    CHECK_CUDA(cudaLaunchHostFunc(
        stream, [](void* data) { CHECK(*static_cast<int*>(data) == 7); }, pinned));
  }
  if (is("device_reads_it_next")) fill_in(managed, nullptr), copy<<<1, 256>>>(d_data, managed);
  if (is("handed_over_by_a_flag")) {
    hand_over<<<1, 1, 0, stream>>>(pinned, pinned + 1);
    while (cuda::atomic_ref<int, cuda::thread_scope_system>(pinned[1]).load(
               cuda::memory_order_acquire) == 0) {
    }
    CHECK(pinned[0] == 7);
  }
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK_CUDA(cudaStreamDestroy(stream));
  CHECK_CUDA(cudaStreamDestroy(other));
  CHECK_CUDA(cudaEventDestroy(event));
  CHECK_CUDA(cudaFree(managed));
  CHECK_CUDA(cudaFreeHost(pinned));
  CHECK_CUDA(cudaFree(d_data));
}
