// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 14: the roofs of a GPU: how many multiply-adds it does a second, and how many bytes a second
// come from shared memory, L1, L2 and DRAM. An ordinary program:
//
//     nvcc -O3 -std=c++20 -arch=native -cudart shared
//     handouts/14-arithmetic-intensity/experiment.cu
//     ./a.out                                              on a GPU
//     MEMBOUND_SMS=8 ./membound run -- ./a.out 32          predicted, for 8 SMs of an H200
//
// The argument is the size in MiB of the array that is read from DRAM; it has to be several times
// the L2 cache. Every memory is read in vectors of 16 bytes, by all SMs; the shortest of five runs
// counts. The last column is the ridge: so many operations each byte has to serve before arithmetic
// is the limit.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

constexpr int kThreads = 512;    // of a block
constexpr int kBlocksPerSm = 4;  // 2,048 threads on an SM
constexpr int kLoadsAtOnce = 8;  // loads of a thread
constexpr int kChains = 8;       // of multiply-adds in a thread
constexpr int kRuns = 5;
constexpr unsigned kL1Vectors = 1024;        // 16 KiB a block, 64 KiB an SM
constexpr unsigned kL2Vectors = 1024 * 512;  // 8 MiB for all

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(3);
}

__global__ void multiply_add(float* never, float factor, int rounds) {
  float sum[kChains];
  for (int c = 0; c < kChains; ++c) sum[c] = threadIdx.x + c;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 16; ++step) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) sum[c] = sum[c] * factor + factor;
    }
  }
  float all = 0;
  for (int c = 0; c < kChains; ++c) all += sum[c];
  if (all == 0.123F) *never = all;
}

__global__ void read_shared(float* never, int rounds) {
  __shared__ float4 values[kThreads];
  values[threadIdx.x] = make_float4(threadIdx.x, 1, 2, 3);
  // From here on every thread may assume that all values are there.
  __syncthreads();
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < kLoadsAtOnce; ++i) {
      // No vector twice in rounds that follow each other: the compiler would load it once.
      const float4 four = values[(threadIdx.x + 32 * i + round) % kThreads];
      sum += four.x + four.y + four.z + four.w;
    }
  }
  if (sum == 0.123F) *never = sum;
}

// Each block reads its own `vectors` (a power of two) again and again, or all blocks read the same.
template <bool kThroughL1>
__global__ void read_global(float* never, const float4* in, unsigned vectors, bool own,
                            int rounds) {
  const float4* const mine = in + (own ? static_cast<size_t>(blockIdx.x) * vectors : 0);
  const unsigned first = own ? threadIdx.x : blockIdx.x * kThreads * kLoadsAtOnce + threadIdx.x;
  const unsigned step = own ? kThreads * kLoadsAtOnce : gridDim.x * kThreads * kLoadsAtOnce;
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
    float4 four[kLoadsAtOnce];
#pragma unroll
    for (int i = 0; i < kLoadsAtOnce; ++i) {
      const float4* const from = mine + (first + round * step + i * kThreads) % vectors;
      four[i] = kThroughL1 ? *from : __ldcg(from);
    }
#pragma unroll
    for (int i = 0; i < kLoadsAtOnce; ++i) sum += four[i].x + four[i].y + four[i].z + four[i].w;
  }
  if (sum == 0.123F) *never = sum;
}

/// Seconds of the fastest run, after one that warms up.
double seconds_of(const std::function<void()>& launch) {
  cudaEvent_t first, last;
  check(cudaEventCreate(&first));
  check(cudaEventCreate(&last));
  float best = 1e30F;
  for (int run = 0; run <= kRuns; ++run) {
    check(cudaEventRecord(first));
    launch();
    check(cudaGetLastError());
    check(cudaEventRecord(last));
    check(cudaEventSynchronize(last));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, first, last));
    if (run > 0) best = std::min(best, milliseconds);
  }
  check(cudaEventDestroy(first));
  check(cudaEventDestroy(last));
  return best / 1e3;
}

int main(int argc, char** argv) {
  const size_t mib = argc > 1 ? std::atoi(argv[1]) : 1024;
  const bool is_short = mib < 256;  // where somebody computes all this on a CPU
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const int blocks = kBlocksPerSm * sms;
  const double threads = static_cast<double>(blocks) * kThreads;
  const size_t own_bytes = static_cast<size_t>(blocks) * kL1Vectors * sizeof(float4);
  const size_t bytes = std::max(mib << 20, std::max(own_bytes, kL2Vectors * sizeof(float4)));
  float* never = nullptr;
  float4* in = nullptr;
  check(cudaMalloc(&never, sizeof(float)));
  check(cudaMalloc(&in, bytes));
  check(cudaMemset(in, 0, bytes));

  const int rounds = is_short ? 16 : 1024;
  const double operations = threads * kChains * 16 * 2 * rounds;
  const double rate =
      operations / seconds_of([&] { multiply_add<<<blocks, kThreads>>>(never, 0.5F, rounds); });
  std::printf("multiply-adds from registers  %8.2f Tops/s\n\n", rate / 1e12);
  std::printf("operands from        GB/s   operations a byte at the ridge\n");
  const auto row = [&](const char* name, double moved, const std::function<void()>& launch) {
    const double speed = moved / seconds_of(launch);
    std::printf("%-16s %9.0f   %8.2f\n", name, speed / 1e9, rate / speed);
  };
  const double moved = threads * kLoadsAtOnce * sizeof(float4) * rounds;
  row("shared memory", moved, [&] { read_shared<<<blocks, kThreads>>>(never, rounds); });
  row("L1", moved,
      [&] { read_global<true><<<blocks, kThreads>>>(never, in, kL1Vectors, true, rounds); });
  row("L2", moved,
      [&] { read_global<false><<<blocks, kThreads>>>(never, in, kL2Vectors, false, rounds); });
  // All of the array once: a power of two of vectors, as many rounds as cover it.
  const unsigned vectors = static_cast<unsigned>((mib << 20) / sizeof(float4));
  const double round_bytes = threads * kLoadsAtOnce * sizeof(float4);
  const int once = std::max(1, static_cast<int>(static_cast<double>(mib << 20) / round_bytes));
  row("DRAM", round_bytes * once,
      [&] { read_global<false><<<blocks, kThreads>>>(never, in, vectors, false, once); });
  check(cudaFree(in));
  check(cudaFree(never));
}
