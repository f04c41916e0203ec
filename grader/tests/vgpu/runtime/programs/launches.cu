// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// An ordinary program: copy in, launch, copy out; the launch from a template, with a struct
// argument.
#include <vector>

#include "check.cuh"

struct Scale {
  float factor;
  double offset;
  char sign;
};

template <typename T>
__global__ void scale(T* out, const T* in, Scale by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<T>(by.sign * (in[i] * by.factor + by.offset));
}

__global__ void reverse_block(int* data) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

int main() {
  constexpr int kCount = 1000;
  std::vector<float> in(kCount), out(kCount);
  for (int i = 0; i < kCount; ++i) in[i] = static_cast<float>(i);
  float *d_in, *d_out;
  CHECK_CUDA(cudaMalloc(&d_in, kCount * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&d_out, kCount * sizeof(float)));
  CHECK_CUDA(cudaMemcpy(d_in, in.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  scale<<<(kCount + 127) / 128, 128>>>(d_out, d_in, Scale{2.0f, 0.5, -1}, kCount);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(out.data(), d_out, kCount * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) CHECK(out[i] == -(i * 2.0f + 0.5f));

  int numbers[256];
  for (int i = 0; i < 256; ++i) numbers[i] = i;
  int* d_numbers;
  CHECK_CUDA(cudaMalloc(&d_numbers, sizeof numbers));
  CHECK_CUDA(cudaMemcpy(d_numbers, numbers, sizeof numbers, cudaMemcpyDefault));
  reverse_block<<<1, 256, 256 * sizeof(int)>>>(d_numbers);
  CHECK_CUDA(cudaMemcpy(numbers, d_numbers, sizeof numbers, cudaMemcpyDefault));
  for (int i = 0; i < 256; ++i) CHECK(numbers[i] == 255 - i);
  CHECK_CUDA(cudaFree(d_numbers));
  CHECK_CUDA(cudaFree(d_in));
  CHECK_CUDA(cudaFree(d_out));
}
