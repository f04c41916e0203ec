// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 00, "Experiment": who is who in a grid, where errors surface, and three ways to time a
// kernel, of which one is a trap. An ordinary program, for a GPU or for the virtual one:
//
//     nvcc -O3 -std=c++20 -cudart shared -arch=native handouts/00-hello-gpu/experiment.cu -o hello
//     ./hello               or: ./membound run --device vgpu:h200 -- ./hello
#include <chrono>
#include <cstdio>
#include <cstdlib>

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(3);
}

// Prints one line for each 16th thread.
__global__ void who_am_i() {
  const int me = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 16 == 0)
    printf("block %d of %d, thread %2d of %d: warp %d, lane %2d, number in the grid %3d\n",
           blockIdx.x, gridDim.x, threadIdx.x, blockDim.x, threadIdx.x / 32, threadIdx.x % 32, me);
}

// A thread of a plane: two numbers in each direction.
__global__ void where_am_i() {
  if (threadIdx.x == 0)
    printf("block (%d, %d) of %d x %d, thread (%d, %d) of %d x %d\n", blockIdx.x, blockIdx.y,
           gridDim.x, gridDim.y, threadIdx.x, threadIdx.y, blockDim.x, blockDim.y);
}

__global__ void add(float* sums, const float* a, const float* b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sums[i] = a[i] + b[i];
}

void hierarchy() {
  std::printf("who_am_i<<<2, 64>>>: a line of threads\n");
  who_am_i<<<2, 64>>>();
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());  // without it, the program may end before its kernel prints
  std::printf("\nwhere_am_i<<<dim3(2, 1), dim3(4, 2)>>>: a plane\n");
  where_am_i<<<dim3(2, 1), dim3(4, 2)>>>();
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}

void errors() {
  std::printf("\nwho_am_i<<<1, 2048>>>: a block that is too large\n");
  who_am_i<<<1, 2048>>>();
  std::printf("  right after the launch, cudaGetLastError(): %s\n",
              cudaGetErrorString(cudaGetLastError()));
  std::printf("  asked again:             cudaGetLastError(): %s\n",
              cudaGetErrorString(cudaGetLastError()));
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

void timing(int n) {
  float *d_a, *d_b, *d_sums;
  for (float** array : {&d_a, &d_b, &d_sums}) {
    check(cudaMalloc(array, n * sizeof(float)));
    check(cudaMemset(*array, 0, n * sizeof(float)));
  }
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  const auto launch = [&] { add<<<1056, 256>>>(d_sums, d_a, d_b, n); };
  launch();  // the first one also loads the code
  check(cudaDeviceSynchronize());

  auto since = std::chrono::steady_clock::now();
  launch();
  const double trap = milliseconds_since(since);
  check(cudaDeviceSynchronize());

  since = std::chrono::steady_clock::now();
  launch();
  check(cudaDeviceSynchronize());
  const double waited = milliseconds_since(since);

  float between = 0;
  check(cudaEventRecord(start));
  launch();
  check(cudaGetLastError());
  check(cudaEventRecord(stop));
  check(cudaEventSynchronize(stop));
  check(cudaEventElapsedTime(&between, start, stop));

  std::printf("\n%d sums, %.0f MB moved         ms      GB/s\n", n, 12e-6 * n);
  const auto row = [&](const char* what, double ms) {
    std::printf("%-28s %9.4f %9.0f\n", what, ms, 12e-6 * n / ms);
  };
  row("host clock, no wait", trap);
  row("host clock, wait after it", waited);
  row("two events", between);
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
  for (float* array : {d_a, d_b, d_sums}) check(cudaFree(array));
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 26;
  if (n < 1) {
    std::fprintf(stderr, "sums: at least 1, such as 67108864\n");
    return 2;
  }
  hierarchy();
  errors();
  timing(n);
}
