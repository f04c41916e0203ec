// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 09: how long a load takes, and how much a GPU loads with so many bytes in flight. An ordinary
// program:
//
//     nvcc -O3 -std=c++20 -arch=native -cudart shared handouts/09-latency-hiding/experiment.cu
//     ./a.out                                              on a GPU
//     MEMBOUND_SMS=8 ./membound run -- ./a.out 32          predicted, for 8 SMs of an H200
//
// The argument is the size of the large array in MiB; it has to be several times the L2 cache.
//
// First table: one thread follows a chain (each load's address is what the last one brought), so it
// has one load in flight. Idle: it is alone. Loaded: the other blocks read the large array
// meanwhile. Second table: GB/s read by so many threads an SM, each with so many loads of 4 bytes
// in flight.
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

constexpr int kThreads = 128;          // of a block, in the second table
constexpr int kLineWords = 32;         // one link of the chain a line of 128 bytes
constexpr unsigned kHops = 4096;       // timed; twice as many are run to take the start away
constexpr int kLoadedBlocksPerSm = 4;  // beside the chain, of 512 threads each

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(3);
}

/// A number of the device.
int attribute(cudaDeviceAttr name) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, name, 0));
  return value;
}

/// Links lines in an order that nobody can guess, as one ring.
std::vector<unsigned> ring(std::size_t words) {
  const std::size_t lines = words / kLineWords;
  std::vector<unsigned> order(lines), next(words, 0);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937 random(1);
  for (std::size_t i = lines; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  for (std::size_t i = 0; i < lines; ++i)
    next[static_cast<std::size_t>(order[i]) * kLineWords] = order[(i + 1) % lines] * kLineWords;
  return next;
}

// Block 0 follows the chain; the others, if there are any, read `large` until it has arrived.
__global__ void chase(const unsigned* next, unsigned hops, unsigned* place, long long* clocks,
                      const float4* large, long long vectors, volatile unsigned* arrived,
                      float* sink) {
  if (blockIdx.x == 0) {
    if (threadIdx.x != 0) return;
    unsigned at = *place;
    const long long start = clock64();
    for (unsigned hop = 0; hop < hops; ++hop) at = next[at];
    *place = at;  // which has to wait for the last load
    *clocks = clock64() - start;
    *arrived = 1;
    return;
  }
  float sum = 0;
  const long long step = static_cast<long long>(gridDim.x - 1) * blockDim.x;
  long long i = static_cast<long long>(blockIdx.x - 1) * blockDim.x + threadIdx.x;
  while (*arrived == 0) {
    for (int k = 0; k < 8; ++k) {
      const float4 value = large[i];
      sum += value.x + value.y + value.z + value.w;
      i += step;
      if (i >= vectors) i -= vectors;
    }
  }
  if (sum == 0.5F) *sink = sum;  // never; keeps the loads
}

// Reads n floats. Every thread has kLoads of them on their way before it uses the first.
template <int kLoads>
__global__ void read(const float* in, long long n, float* sink) {
  float sum = 0;
  const long long batch = static_cast<long long>(kLoads) * blockDim.x;
  for (long long first = blockIdx.x * batch; first + batch <= n; first += gridDim.x * batch) {
    float value[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) value[k] = in[first + k * blockDim.x + threadIdx.x];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sum += value[k];
  }
  if (sum == 0.5F) *sink = sum;
}

template <typename Work>
float milliseconds(Work work) {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  check(cudaEventRecord(start));
  work();
  check(cudaGetLastError());
  check(cudaEventRecord(stop));
  check(cudaEventSynchronize(stop));
  float time = 0;
  check(cudaEventElapsedTime(&time, start, stop));
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
  return time;
}

struct Arrays {
  float* large = nullptr;
  std::size_t large_bytes = 0;
  float* sink = nullptr;
};

/// One line of the first table: a ring of this many bytes.
void chain_line(const char* where, std::size_t bytes, bool in_cache, const Arrays& arrays) {
  const std::vector<unsigned> links = ring(bytes / sizeof(unsigned));
  unsigned *d_links, *d_place, *d_arrived;
  long long* d_clocks;
  check(cudaMalloc(&d_links, bytes));
  check(cudaMalloc(&d_place, sizeof(unsigned)));
  check(cudaMalloc(&d_arrived, sizeof(unsigned)));
  check(cudaMalloc(&d_clocks, sizeof(long long)));
  check(cudaMemcpy(d_links, links.data(), bytes, cudaMemcpyHostToDevice));
  check(cudaMemset(d_place, 0, sizeof(unsigned)));
  const auto vectors = static_cast<long long>(arrays.large_bytes / sizeof(float4));
  const auto run = [&](unsigned hops, int other_blocks) {
    check(cudaMemset(d_arrived, 0, sizeof(unsigned)));
    const int blocks = 1 + other_blocks, threads = other_blocks > 0 ? 512 : 32;
    const auto* const vector = reinterpret_cast<const float4*>(arrays.large);
    const float time = milliseconds([&] {
      chase<<<blocks, threads>>>(d_links, hops, d_place, d_clocks, vector, vectors, d_arrived,
                                 arrays.sink);
    });
    long long clocks = 0;
    check(cudaMemcpy(&clocks, d_clocks, sizeof clocks, cudaMemcpyDeviceToHost));
    return std::pair(time, clocks);
  };
  // Once round, so that what fits a cache is there. What fits none meets new lines in every run.
  if (in_cache) run(static_cast<unsigned>(bytes / sizeof(unsigned) / kLineWords), 0);
  const auto [once, once_clocks] = run(kHops, 0);
  const auto [twice, twice_clocks] = run(2 * kHops, 0);
  std::printf("%-28s %8.0f ns %8.0f cycles", where, (twice - once) * 1e6 / kHops,
              static_cast<double>(twice_clocks - once_clocks) / kHops);
  if (!in_cache) {
    const int sms = attribute(cudaDevAttrMultiProcessorCount);
    const long long clocks = run(kHops, sms * kLoadedBlocksPerSm - 1).second;
    std::printf("   loaded: %6.0f cycles", static_cast<double>(clocks) / kHops);
  }
  std::printf("\n");
  check(cudaFree(d_links));
  check(cudaFree(d_place));
  check(cudaFree(d_arrived));
  check(cudaFree(d_clocks));
}

/// GB/s of the best of three runs.
template <int kLoads>
double read_gbs(const Arrays& arrays, int threads_per_sm) {
  const int blocks = attribute(cudaDevAttrMultiProcessorCount) * threads_per_sm / kThreads;
  const auto n = static_cast<long long>(arrays.large_bytes / sizeof(float));
  float best = 0;
  for (int run = 0; run < 4; ++run) {
    const float time =
        milliseconds([&] { read<kLoads><<<blocks, kThreads>>>(arrays.large, n, arrays.sink); });
    if (run == 1 || (run > 1 && time < best)) best = time;
  }
  return static_cast<double>(arrays.large_bytes) / best * 1e-6;
}

int main(int argc, char** argv) {
  const int mib = argc > 1 ? std::atoi(argv[1]) : 1024;
  Arrays arrays;
  arrays.large_bytes = static_cast<std::size_t>(mib < 1 ? 1 : mib) << 20;
  check(cudaMalloc(&arrays.large, arrays.large_bytes));
  check(cudaMalloc(&arrays.sink, sizeof(float)));
  check(cudaMemset(arrays.large, 0, arrays.large_bytes));

  std::printf("a load that waits for the one before it\n");
  chain_line("L1 (16 KiB)", std::size_t{16} << 10, true, arrays);
  chain_line("L2 (4 MiB)", std::size_t{4} << 20, true, arrays);
  chain_line("DRAM (the large array's size)", arrays.large_bytes, false, arrays);

  std::printf("\nGB/s read            loads of 4 bytes in flight a thread\n");
  std::printf("threads an SM            1        2        4        8       16\n");
  const int most = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  for (int threads = kThreads; threads <= most; threads *= 2) {
    std::printf("%13d %8.0f %8.0f %8.0f %8.0f %8.0f\n", threads, read_gbs<1>(arrays, threads),
                read_gbs<2>(arrays, threads), read_gbs<4>(arrays, threads),
                read_gbs<8>(arrays, threads), read_gbs<16>(arrays, threads));
  }
  check(cudaFree(arrays.large));
  check(cudaFree(arrays.sink));
}
