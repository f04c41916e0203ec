// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Products of matrices in which a thread has 8 x 8 results in registers: from global memory, from
/// panels in shared memory, by words or by vectors, with two barriers a panel or one. With products
/// and sums, or with minima, whose unit takes an instruction every other cycle. All blocks run in
/// one round or in four, so no round is half empty.
///
/// A program whose rows tell how arithmetic, shared memory and barriers pass beside each other.
#include "grader/vgpu/calibration/timed.cuh"

namespace {

constexpr int kWidth = 2048, kSteps = 2048;  // the matrices: kSteps rows of kWidth

struct Product {
  static __device__ float join(float best, float a, float b) { return best + a * b; }
};
struct Minimum {
  static __device__ float join(float best, float a, float b) { return fminf(best, a + b); }
};

template <class Op>
__device__ void join_all(float (&best)[8][8], const float (&a)[8], const float (&b)[8]) {
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) best[i][j] = Op::join(best[i][j], a[i], b[j]);
}

__device__ void finish(float* out, const float (&best)[8][8]) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += best[i][j];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__device__ void load_four(float* to, const float* from) {
  *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

/// 64 threads, 64 x 64 results, all costs from global memory.
template <class Op>
__global__ void registers(float* out, const float* in) {
  const int row = blockIdx.x * 64 % kWidth + threadIdx.x / 8;
  const int col = blockIdx.x / 32 * 64 % kWidth + threadIdx.x % 8;
  float best[8][8] = {};
#pragma unroll 1
  for (int k = 0; k < kSteps; ++k) {
    float a[8], b[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) a[i] = in[k * kWidth + row + i * 8];
#pragma unroll
    for (int i = 0; i < 8; ++i) b[i] = in[(kSteps + k) * kWidth + col + i * 8];
    join_all<Op>(best, a, b);
  }
  finish(out, best);
}

/// The same with panels of kDeep rows, loaded and read by words; two barriers a panel.
template <class Op, int kDeep>
__global__ void words(float* out, const float* in) {
  __shared__ float panel_a[kDeep][64], panel_b[kDeep][64];
  const int t = threadIdx.x;
  const float* from_a = in + blockIdx.x * 64 % kWidth + t;
  const float* from_b = in + kSteps * kWidth + blockIdx.x / 32 * 64 % kWidth + t;
  float best[8][8] = {};
#pragma unroll 1
  for (int k = 0; k < kSteps; k += kDeep) {
#pragma unroll
    for (int p = 0; p < kDeep; ++p) {
      panel_a[p][t] = from_a[(k + p) * kWidth];
      panel_b[p][t] = from_b[(k + p) * kWidth];
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kDeep; ++p) {
      float a[8], b[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) a[i] = panel_a[p][t / 8 + i * 8];
#pragma unroll
      for (int i = 0; i < 8; ++i) b[i] = panel_b[p][t % 8 + i * 8];
      join_all<Op>(best, a, b);
    }
    __syncthreads();
  }
  finish(out, best);
}

/// 256 threads, 128 x 128 results, vectors; two panels in turn and one barrier where kAhead, or one
/// panel and two barriers.
template <class Op, int kDeep, bool kAhead>
__global__ void __launch_bounds__(256, 2) vectors(float* out, const float* in) {
  __shared__ __align__(16) float panels[kAhead ? 2 : 1][2][kDeep][128];
  const int t = threadIdx.x, four = t % 32 * 4;
  const float* from_a = in + t / 32 * kWidth + blockIdx.x * 128 % kWidth + four;
  const float* from_b = in + (kSteps + t / 32) * kWidth + blockIdx.x / 16 * 128 % kWidth + four;
  const int row = t / 64 * 16 + t % 32 / 8 * 4, col = t / 32 % 2 * 32 + t % 8 * 4;
  float best[8][8] = {};
  float4 next_a = {}, next_b = {};
  static_assert(kDeep == 8);
  if (kAhead) {
    load_four(&panels[0][0][t / 32][four], from_a);
    load_four(&panels[0][1][t / 32][four], from_b);
    __syncthreads();
  }
  int now = 0;
#pragma unroll 1
  for (int k = 0; k < kSteps; k += kDeep) {
    if (kAhead) {
      const int soon = (k + kDeep) % kSteps * kWidth;
      next_a = *reinterpret_cast<const float4*>(from_a + soon);
      next_b = *reinterpret_cast<const float4*>(from_b + soon);
    } else {
      load_four(&panels[0][0][t / 32][four], from_a + k * kWidth);
      load_four(&panels[0][1][t / 32][four], from_b + k * kWidth);
      __syncthreads();
    }
#pragma unroll
    for (int p = 0; p < kDeep; ++p) {
      float a[8], b[8];
      load_four(&a[0], &panels[now][0][p][row]);
      load_four(&a[4], &panels[now][0][p][64 + row]);
      load_four(&b[0], &panels[now][1][p][col]);
      load_four(&b[4], &panels[now][1][p][64 + col]);
      join_all<Op>(best, a, b);
    }
    if (kAhead) {
      now = 1 - now;
      *reinterpret_cast<float4*>(&panels[now][0][t / 32][four]) = next_a;
      *reinterpret_cast<float4*>(&panels[now][1][t / 32][four]) = next_b;
    }
    __syncthreads();
  }
  finish(out, best);
}

template <class Op>
void time_all(timed::Bench& bench, const std::string& name, float* out, const float* in) {
  for (const int per_sm : {1, 2, 4, 8, 16}) {
    const std::string blocks = name + ", " + std::to_string(per_sm) + " blocks";
    const int grid = 132 * per_sm;
    bench("registers", blocks, [&] { registers<Op><<<grid, 64>>>(out, in); });
    bench("words by 4 rows", blocks, [&] { words<Op, 4><<<grid, 64>>>(out, in); });
    bench("words by 16 rows", blocks, [&] { words<Op, 16><<<grid, 64>>>(out, in); });
    if (per_sm > 8) continue;
    bench("vectors by 8 rows", blocks, [&] { vectors<Op, 8, false><<<grid, 256>>>(out, in); });
    bench("vectors fetched ahead", blocks, [&] { vectors<Op, 8, true><<<grid, 256>>>(out, in); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  timed::Bench bench(argc, argv);
  float *out = nullptr, *in = nullptr;
  const std::size_t bytes = std::size_t{2} * kSteps * kWidth * sizeof(float);
  timed::check(cudaMalloc(&out, std::size_t{132} * 16 * 256 * sizeof(float)), "cudaMalloc");
  timed::check(cudaMalloc(&in, bytes), "cudaMalloc");
  timed::check(cudaMemset(in, 0, bytes), "cudaMemset");
  time_all<Product>(bench, "products", out, in);
  time_all<Minimum>(bench, "minima", out, in);
  return 0;
}
