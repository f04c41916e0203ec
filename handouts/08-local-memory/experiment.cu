// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 08: the same eight numbers in registers, in local memory and in shared memory, in both
// layouts. An ordinary program:
//
//     nvcc -O3 -std=c++20 -arch=native -cudart shared handouts/08-local-memory/experiment.cu
//     ./membound ptx a.out --sass | grep -E "^kernel|LDL|STL"    who uses local memory?
//     ./a.out                                                    on a GPU
//     MEMBOUND_SMS=8 ./membound run --counters c.json -- ./a.out   counted, and predicted
//
// Every thread fills its table and then looks kLooks numbers up. "one": all lanes of a warp want
// the same number; "any": each lane one of its own. The compiler knows neither.
#include <cstdio>
#include <cstdlib>

constexpr int kThreads = 256, kNumbers = 8, kLooks = 256;

// Three bits of a product that is different in every look, and, where `spread` is not 0, in every
// thread.
__device__ int index_of(int look, unsigned spread) {
  return (look * 2654435761U + threadIdx.x * spread) >> 13 & (kNumbers - 1);
}

// The course's first example: a loop that the compiler can write out.
__global__ void known_index(float* buffer) {
  float a[5];
#pragma unroll
  for (int i = 0; i < 5; ++i) a[i] = buffer[threadIdx.x + i * blockDim.x];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 5; ++i) sum += a[i];
  buffer[threadIdx.x] = sum;
}

// Its second one: where the loop starts comes from outside.
__global__ void unknown_start(float* buffer, int start) {
  float a[6];
#pragma unroll
  for (int i = 0; i < 6; ++i) a[i] = buffer[threadIdx.x + i * blockDim.x];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 5; ++i) sum += a[start + i];
  buffer[threadIdx.x] = sum;
}

__global__ void in_local_memory(unsigned* out, unsigned spread) {
  unsigned number[kNumbers];
  for (int k = 0; k < kNumbers; ++k) number[k] = threadIdx.x * 7 + k;
  unsigned sum = 0;
  for (int look = 0; look < kLooks; ++look) sum += number[index_of(look, spread)]++;
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void a_table_after_the_other(unsigned* out, unsigned spread) {
  __shared__ unsigned number[kThreads][kNumbers];
  for (int k = 0; k < kNumbers; ++k) number[threadIdx.x][k] = threadIdx.x * 7 + k;
  unsigned sum = 0;
  for (int look = 0; look < kLooks; ++look) sum += number[threadIdx.x][index_of(look, spread)]++;
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void a_number_after_the_other(unsigned* out, unsigned spread) {
  __shared__ unsigned number[kNumbers][kThreads];
  for (int k = 0; k < kNumbers; ++k) number[k][threadIdx.x] = threadIdx.x * 7 + k;
  unsigned sum = 0;
  for (int look = 0; look < kLooks; ++look) sum += number[index_of(look, spread)][threadIdx.x]++;
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(3);
}

using Kernel = void (*)(unsigned*, unsigned);

// The best of five runs, in microseconds; the first of six only warms up.
float microseconds(Kernel kernel, unsigned* d_out, int blocks, unsigned spread) {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  float best = 0;
  for (int run = 0; run < 6; ++run) {
    check(cudaEventRecord(start));
    kernel<<<blocks, kThreads>>>(d_out, spread);
    check(cudaGetLastError());
    check(cudaEventRecord(stop));
    check(cudaEventSynchronize(stop));
    float time = 0;
    check(cudaEventElapsedTime(&time, start, stop));
    if (run == 1 || (run > 1 && time < best)) best = time;
  }
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
  return best * 1000;
}

int main() {
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const int blocks = sms * 8;
  unsigned* d_out;
  check(cudaMalloc(&d_out, sizeof(unsigned) * blocks * kThreads));
  float* d_buffer;
  check(cudaMalloc(&d_buffer, sizeof(float) * kThreads * 6));
  check(cudaMemset(d_buffer, 0, sizeof(float) * kThreads * 6));
  known_index<<<1, kThreads>>>(d_buffer);
  unknown_start<<<1, kThreads>>>(d_buffer, 1);
  check(cudaGetLastError());

  const struct {
    const char* name;
    Kernel kernel;
  } rows[] = {{"local memory", in_local_memory},
              {"shared, a table after the other", a_table_after_the_other},
              {"shared, a number after the other", a_number_after_the_other}};
  std::printf("%-34s %12s %12s\n", "microseconds", "one", "any");
  for (const auto& row : rows) {
    const float one = microseconds(row.kernel, d_out, blocks, 0);
    const float any = microseconds(row.kernel, d_out, blocks, 2246822519U);
    std::printf("%-34s %12.1f %12.1f\n", row.name, one, any);
  }
  check(cudaFree(d_out));
  check(cudaFree(d_buffer));
}
