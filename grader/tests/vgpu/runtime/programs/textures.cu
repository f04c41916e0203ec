// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// Textures and surfaces through the runtime's objects.
#include "check.cuh"

__global__ void sample(cudaTextureObject_t texture, float* out, float step) {
  out[threadIdx.x] = tex2D<float>(texture, (threadIdx.x + 0.5f) * step, 0.5f);
}

__global__ void fetch(cudaTextureObject_t texture, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x);
}

__global__ void mirror(cudaSurfaceObject_t surface, int width) {
  const float value = surf2Dread<float>(surface, (width - 1 - threadIdx.x) * 4, 0);
  surf2Dwrite(value, surface, threadIdx.x * 4, 1);
}

int main() {
  constexpr int kWidth = 8;
  float host[2][kWidth], out[kWidth];
  for (int i = 0; i < kWidth; ++i) host[0][i] = i, host[1][i] = 0;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK_CUDA(cudaMallocArray(&array, &format, kWidth, 2, cudaArraySurfaceLoadStore));
  CHECK_CUDA(cudaMemcpy2DToArray(array, 0, 0, host, sizeof host[0], sizeof host[0], 2,
                                 cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  description.filterMode = cudaFilterModePoint;
  cudaTextureObject_t texture;
  CHECK_CUDA(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  float* d_out;
  CHECK_CUDA(cudaMalloc(&d_out, sizeof out));
  sample<<<1, kWidth>>>(texture, d_out, 1);
  CHECK_CUDA(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kWidth; ++i) CHECK(out[i] == i);
  sample<<<1, kWidth>>>(texture, d_out, 2);  // beyond the edge: clamped
  CHECK_CUDA(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  CHECK(out[3] == 7 && out[7] == 7);
  CHECK_CUDA(cudaDestroyTextureObject(texture));

  cudaSurfaceObject_t surface;
  CHECK_CUDA(cudaCreateSurfaceObject(&surface, &resource));
  mirror<<<1, kWidth>>>(surface, kWidth);
  CHECK_CUDA(cudaMemcpy2DFromArray(host, sizeof host[0], array, 0, 0, sizeof host[0], 2,
                                   cudaMemcpyDeviceToHost));
  for (int i = 0; i < kWidth; ++i) CHECK(host[1][i] == kWidth - 1 - i);
  CHECK_CUDA(cudaDestroySurfaceObject(surface));
  CHECK_CUDA(cudaFreeArray(array));

  int numbers[16], *d_numbers, fetched[16];
  for (int i = 0; i < 16; ++i) numbers[i] = i * i;
  CHECK_CUDA(cudaMalloc(&d_numbers, sizeof numbers));
  CHECK_CUDA(cudaMemcpy(d_numbers, numbers, sizeof numbers, cudaMemcpyHostToDevice));
  resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {d_numbers, cudaCreateChannelDesc<int>(), sizeof numbers};
  description = {};
  CHECK_CUDA(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  int* d_fetched;
  CHECK_CUDA(cudaMalloc(&d_fetched, sizeof fetched));
  fetch<<<1, 16>>>(texture, d_fetched);
  CHECK_CUDA(cudaMemcpy(fetched, d_fetched, sizeof fetched, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 16; ++i) CHECK(fetched[i] == i * i);
}
