// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 05, "Measure it yourself" and "Two suspects": what strides and small types cost in shared
// memory on this GPU, and two kernels with the same result. An ordinary program, for a GPU or for
// the virtual one:
//
//     nvcc -O3 -std=c++20 -cudart shared -lineinfo -arch=native \
//         handouts/05-bank-conflicts/experiment.cu -o banks
//     ./banks          or: MEMBOUND_SMS=1 ./membound run --device vgpu:h200 -- ./banks
#include <cstdio>
#include <cstdlib>

constexpr int kThreads = 256, kTimes = 4096, kRoom = 33 * 31 + 256;

// Each lane reads elements lane * stride + 0, 1, 2, …, 255, and again.
template <typename T>
__global__ void read_elements(int* out, int stride) {
  __shared__ T elements[kRoom];
  for (int i = threadIdx.x; i < kRoom; i += kThreads) elements[i] = static_cast<T>(i);
  __syncthreads();
  const T* const own = elements + threadIdx.x % 32 * stride;
  int sum = 0;
#pragma unroll 16
  for (int i = 0; i < kTimes; ++i) sum += own[i % 256];
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

// The suspects: a warp fills a tile of 32 x 32, and then each lane sums a row, 32 times over.
constexpr int kTile = 32, kRounds = 32;

__device__ int sum_of_rows(const int* tile, int width) {
  int sum = 0;
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int col = 0; col < kTile; ++col) sum += tile[threadIdx.x * width + (col ^ round)];
  }
  return sum;
}

__global__ void suspect_a(int* out, const int* in) {
  __shared__ int tile[kTile * 33];
  for (int row = 0; row < kTile; ++row) {
    tile[row * 33 + threadIdx.x] = in[row * kTile + threadIdx.x];
  }
  __syncthreads();
  out[blockIdx.x * kTile + threadIdx.x] = sum_of_rows(tile, 33);
}

__global__ void suspect_b(int* out, const int* in) {
  alignas(16) __shared__ int tile[kTile * 36];
  for (int i = threadIdx.x; i < kTile * kTile / 4; i += 32) {
    *reinterpret_cast<int4*>(&tile[i / 8 * 36 + i % 8 * 4]) = reinterpret_cast<const int4*>(in)[i];
  }
  __syncthreads();
  out[blockIdx.x * kTile + threadIdx.x] = sum_of_rows(tile, 36);
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(3);
}

// Milliseconds of one launch; `launch` is called twice, and the second time counts.
template <typename Launch>
float milliseconds(Launch launch) {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  launch();
  check(cudaEventRecord(start));
  launch();
  check(cudaEventRecord(stop));
  check(cudaEventSynchronize(stop));
  check(cudaGetLastError());
  float time = 0;
  check(cudaEventElapsedTime(&time, start, stop));
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
  return time;
}

int main() {
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const int blocks = 8 * sms;
  int *d_in = nullptr, *d_out = nullptr;
  check(cudaMalloc(&d_in, kTile * kTile * sizeof(int)));
  check(cudaMalloc(&d_out, static_cast<size_t>(blocks) * kThreads * sizeof(int)));
  check(cudaMemset(d_in, 1, kTile * kTile * sizeof(int)));

  const float one = milliseconds([&] { read_elements<int><<<blocks, kThreads>>>(d_out, 1); });
  std::printf("ints, lanes so many words apart: time of 1 apart is 1\n");
  for (const int stride : {0, 1, 2, 3, 4, 8, 16, 24, 31, 32, 33}) {
    std::printf("%4d %6.2f\n", stride, milliseconds([&] {
                                         read_elements<int><<<blocks, kThreads>>>(d_out, stride);
                                       }) / one);
  }
  std::printf("neighbouring lanes, neighbouring elements\nchar %5.2f\nshort %4.2f\n",
              milliseconds([&] { read_elements<char><<<blocks, kThreads>>>(d_out, 1); }) / one,
              milliseconds([&] { read_elements<short><<<blocks, kThreads>>>(d_out, 1); }) / one);
  std::printf("the suspects, ms\nA %8.4f\nB %8.4f\n",
              milliseconds([&] { suspect_a<<<4 * blocks, kTile>>>(d_out, d_in); }),
              milliseconds([&] { suspect_b<<<4 * blocks, kTile>>>(d_out, d_in); }));
  check(cudaFree(d_in));
  check(cudaFree(d_out));
}
