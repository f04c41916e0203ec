// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 06, "Are we happy now?": the kernel of stage 4, once with min and once with + in its place.
// The result of the second is of no use; its time tells what the minima cost. An ordinary program:
//
//     nvcc -O3 -std=c++20 -arch=native handouts/06-shortcut/experiment.cu -o experiment
//     ./experiment          or: ./experiment 1024
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kThreads = 8, kEach = 8, kTile = kThreads * kEach, kPanel = 4;

struct Min {
  __device__ static float combine(float best, float cost) { return fminf(best, cost); }
};
struct Add {
  __device__ static float combine(float sum, float cost) { return sum + cost; }
};

// `in` and `out` are n x n, and n is a multiple of kTile: no guards, as inside of the lab's
// padding.
template <typename Operation>
__global__ void product(float* r, const float* in, const float* out, int n) {
  __shared__ float panel_in[kPanel][kTile];
  __shared__ float panel_out[kPanel][kTile];
  float best[kEach][kEach] = {};
  const int thread = threadIdx.y * kThreads + threadIdx.x;
  for (int first_via = 0; first_via < n; first_via += kPanel) {
    for (int p = 0; p < kPanel; ++p) {
      const long long row = static_cast<long long>(first_via + p) * n;
      panel_in[p][thread] = in[row + blockIdx.y * kTile + thread];
      panel_out[p][thread] = out[row + blockIdx.x * kTile + thread];
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kPanel; ++p) {
      float cost_in[kEach], cost_out[kEach];
      for (int a = 0; a < kEach; ++a) cost_in[a] = panel_in[p][threadIdx.y + a * kThreads];
      for (int b = 0; b < kEach; ++b) cost_out[b] = panel_out[p][threadIdx.x + b * kThreads];
      for (int a = 0; a < kEach; ++a) {
        for (int b = 0; b < kEach; ++b) {
          best[a][b] = Operation::combine(best[a][b], cost_in[a] + cost_out[b]);
        }
      }
    }
    __syncthreads();
  }
  for (int a = 0; a < kEach; ++a) {
    for (int b = 0; b < kEach; ++b) {
      const int from = blockIdx.y * kTile + threadIdx.y + a * kThreads;
      const int to = blockIdx.x * kTile + threadIdx.x + b * kThreads;
      r[static_cast<long long>(from) * n + to] = best[a][b];
    }
  }
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(3);
}

// The best of five runs, in milliseconds; the first of six only warms up.
template <typename Operation>
float milliseconds(float* d_r, const float* d_in, const float* d_out, int n) {
  const dim3 grid(n / kTile, n / kTile), block(kThreads, kThreads);
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  float best = 0;
  for (int run = 0; run < 6; ++run) {
    check(cudaEventRecord(start));
    product<Operation><<<grid, block>>>(d_r, d_in, d_out, n);
    check(cudaEventRecord(stop));
    check(cudaEventSynchronize(stop));
    float time = 0;
    check(cudaEventElapsedTime(&time, start, stop));
    if (run == 1 || (run > 1 && time < best)) best = time;
  }
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
  return best;
}

int main(int argc, char** argv) {
  const int wanted = argc > 1 ? std::atoi(argv[1]) : 6272;
  const int n = (wanted < 1 ? 1 : (wanted + kTile - 1) / kTile) * kTile;
  const std::size_t bytes = sizeof(float) * n * n;
  std::vector<float> costs(static_cast<std::size_t>(n) * n);
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = static_cast<float>(i * 7919 % 1000);
  float *d_r, *d_in, *d_out;
  check(cudaMalloc(&d_r, bytes));
  check(cudaMalloc(&d_in, bytes));
  check(cudaMalloc(&d_out, bytes));
  check(cudaMemcpy(d_in, costs.data(), bytes, cudaMemcpyHostToDevice));
  check(cudaMemcpy(d_out, costs.data(), bytes, cudaMemcpyHostToDevice));
  const double operations = 2.0 * n * n * n;
  const float with_min = milliseconds<Min>(d_r, d_in, d_out, n);
  const float with_add = milliseconds<Add>(d_r, d_in, d_out, n);
  std::printf("n = %d\nmin and +  %9.3f ms  %6.2f Tops/s\n+ and +    %9.3f ms  %6.2f Tops/s\n", n,
              with_min, operations / with_min * 1e-9, with_add, operations / with_add * 1e-9);
  check(cudaFree(d_r));
  check(cudaFree(d_in));
  check(cudaFree(d_out));
}
