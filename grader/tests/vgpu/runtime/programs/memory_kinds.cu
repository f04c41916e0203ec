// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// Memory in all its kinds: pitched, three-dimensional, pinned, registered, managed, from pools.
#include <cstring>
#include <vector>

#include "check.cuh"

__global__ void increment(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}

__global__ void fill_rows(char* rows, size_t pitch, int width) {
  int* row = reinterpret_cast<int*>(rows + blockIdx.x * pitch);
  if (threadIdx.x < width) row[threadIdx.x] = 100 * blockIdx.x + threadIdx.x;
}

void pitched() {
  int* d_rows;
  size_t pitch;
  CHECK_CUDA(cudaMallocPitch(&d_rows, &pitch, 10 * sizeof(int), 5));
  CHECK(pitch >= 40 && pitch % 32 == 0);
  fill_rows<<<5, 32>>>(reinterpret_cast<char*>(d_rows), pitch, 10);
  int host[5][12];
  CHECK_CUDA(cudaMemcpy2D(host, sizeof host[0], d_rows, pitch, 40, 5, cudaMemcpyDeviceToHost));
  CHECK(host[4][9] == 409 && host[2][0] == 200);
  CHECK_CUDA(cudaMemset2D(d_rows, pitch, 0xff, 8, 2));
  CHECK_CUDA(cudaMemcpy2D(host, sizeof host[0], d_rows, pitch, 40, 5, cudaMemcpyDeviceToHost));
  CHECK(host[0][0] == -1 && host[1][1] == -1 && host[1][2] == 102 && host[2][0] == 200);
  CHECK_FAILS(cudaErrorInvalidPitchValue,
              cudaMemcpy2D(host, 16, d_rows, pitch, 40, 5, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(d_rows));
}

void boxes() {
  cudaPitchedPtr box;
  const cudaExtent extent = make_cudaExtent(6, 4, 3);
  CHECK_CUDA(cudaMalloc3D(&box, extent));
  CHECK_CUDA(cudaMemset3D(box, 7, extent));
  std::vector<char> host(6 * 4 * 3, 0);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = box;
  copy.dstPtr = make_cudaPitchedPtr(host.data(), 6, 6, 4);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK_CUDA(cudaMemcpy3D(&copy));
  for (const char byte : host) CHECK(byte == 7);
  CHECK_CUDA(cudaFree(box.ptr));
}

void pinned_and_registered() {
  int* h_pinned;
  CHECK_CUDA(cudaHostAlloc(&h_pinned, 64 * sizeof(int), cudaHostAllocMapped));
  std::memset(h_pinned, 0, 64 * sizeof(int));
  int* d_view;
  CHECK_CUDA(cudaHostGetDevicePointer(&d_view, h_pinned, 0));
  increment<<<1, 64>>>(d_view, 64);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(h_pinned[63] == 1);
  cudaPointerAttributes attributes;
  CHECK_CUDA(cudaPointerGetAttributes(&attributes, h_pinned + 5));
  CHECK(attributes.type == cudaMemoryTypeHost);
  CHECK_CUDA(cudaFreeHost(h_pinned));

  std::vector<int> own(1024, 1);
  CHECK_CUDA(cudaHostRegister(own.data(), own.size() * sizeof(int), cudaHostRegisterDefault));
  CHECK_FAILS(cudaErrorHostMemoryAlreadyRegistered,
              cudaHostRegister(own.data(), own.size() * sizeof(int), cudaHostRegisterDefault));
  increment<<<4, 256>>>(own.data(), 1024);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(own[1023] == 2);
  CHECK_CUDA(cudaHostUnregister(own.data()));
  CHECK_FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own.data()));
  (void)cudaGetLastError();
}

__managed__ int counter[4];

void managed() {
  int* data;
  CHECK_CUDA(cudaMallocManaged(&data, 256 * sizeof(int)));
  for (int i = 0; i < 256; ++i) data[i] = i;
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
  CHECK_CUDA(cudaMemPrefetchAsync(data, 256 * sizeof(int), here, 0));
  CHECK_CUDA(cudaMemAdvise(data, 256 * sizeof(int), cudaMemAdviseSetReadMostly, here));
  CHECK_CUDA(cudaMemPrefetchAsync(counter, sizeof counter, here, 0));
  CHECK_CUDA(cudaMemAdvise(counter, sizeof counter, cudaMemAdviseSetReadMostly, here));
  increment<<<1, 256>>>(data, 256);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(data[255] == 256);
  cudaPointerAttributes attributes;
  CHECK_CUDA(cudaPointerGetAttributes(&attributes, data));
  CHECK(attributes.type == cudaMemoryTypeManaged);
  CHECK_CUDA(cudaFree(data));
}

void pools() {
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreate(&stream));
  int* d_data;
  CHECK_CUDA(cudaMallocAsync(&d_data, 64 * sizeof(int), stream));
  CHECK_CUDA(cudaMemsetAsync(d_data, 0, 64 * sizeof(int), stream));
  increment<<<1, 64, 0, stream>>>(d_data, 64);
  int host[64];
  CHECK_CUDA(cudaMemcpyAsync(host, d_data, sizeof host, cudaMemcpyDeviceToHost, stream));
  cudaMemPool_t pool;
  CHECK_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long used = 0;
  CHECK_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  CHECK(used >= sizeof host);
  CHECK_CUDA(cudaFreeAsync(d_data, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK(host[7] == 1);
}

int main() {
  size_t free_before, free_after, total;
  CHECK_CUDA(cudaMemGetInfo(&free_before, &total));
  pitched();
  boxes();
  pinned_and_registered();
  managed();
  pools();
  CHECK_CUDA(cudaMemGetInfo(&free_after, &total));
  CHECK(free_before == free_after);
}
