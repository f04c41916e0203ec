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
// First table: one thread follows a chain (each load's address is what the last one gave), so it
// has one load in flight. Idle: it is alone. Loaded: other warps read from the same memory
// meanwhile, as fast as they can: for L1 the 15 of its own block, which read 16 KiB; for L2 and
// DRAM those of all SMs, which read 16 MiB and the large array. Second table: GB/s read by so many
// threads an SM, each with so many loads of 4 bytes in flight.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

constexpr int kThreads = 128;          // of a block, in the second table
constexpr int kLineWords = 32;         // one link of the chain a line of 128 bytes
constexpr unsigned kHops = 4096;       // timed; twice as many are run to take the start away
constexpr int kReaderThreads = 512;    // of a block that reads beside the chain
constexpr int kReaderBlocksPerSm = 4;  // where all SMs read
constexpr int kLooks = 32;             // loads of a reader between two looks whether it may end

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

/// Links lines in an order that no prefetcher can guess, as one ring.
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

// The first thread follows the chain, the rest of its warp does nothing. All other warps, if there
// are any, read `array` until it has arrived.
__global__ void chase(const unsigned* next, unsigned hops, unsigned* place, long long* clocks,
                      const float4* array, long long vectors, volatile unsigned* arrived,
                      float* sink) {
  // Below 0 in the first warp, which reads nothing.
  const long long reader = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x - warpSize;
  if (reader == -warpSize) {
    unsigned at = *place;
    const long long start = clock64();
    for (unsigned hop = 0; hop < hops; ++hop) at = next[at];
    *place = at;  // which has to wait for the last load
    *clocks = clock64() - start;
    *arrived = 1;
  }
  if (reader < 0) return;
  float sum = 0;
  const long long readers = static_cast<long long>(gridDim.x) * blockDim.x - warpSize;
  long long i = reader;
  while (*arrived == 0) {
    for (int k = 0; k < kLooks; ++k) {
      const float4 value = array[i];
      sum += value.x + value.y + value.z + value.w;
      i += readers;
      if (i >= vectors) i = reader;
    }
  }
  if (sum == 0.5F) *sink = sum;  // never; keeps the loads
}

// Reads n floats. Every thread has kLoads of them in flight before it uses the first.
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

/// Who reads beside the chain, and how much.
struct Readers {
  int blocks;
  std::size_t bytes;
};

/// One line of the first table: a ring of this many bytes.
void chain_line(const char* where, std::size_t bytes, bool in_cache, Readers readers,
                const Arrays& arrays) {
  const std::vector<unsigned> links = ring(bytes / sizeof(unsigned));
  unsigned *d_links, *d_place, *d_arrived;
  long long* d_clocks;
  check(cudaMalloc(&d_links, bytes));
  check(cudaMalloc(&d_place, sizeof(unsigned)));
  check(cudaMalloc(&d_arrived, sizeof(unsigned)));
  check(cudaMalloc(&d_clocks, sizeof(long long)));
  check(cudaMemcpy(d_links, links.data(), bytes, cudaMemcpyHostToDevice));
  check(cudaMemset(d_place, 0, sizeof(unsigned)));
  const auto run = [&](unsigned hops, bool loaded) {
    check(cudaMemset(d_arrived, 0, sizeof(unsigned)));
    const int blocks = loaded ? readers.blocks : 1, threads = loaded ? kReaderThreads : 32;
    const float time = milliseconds([&] {
      chase<<<blocks, threads>>>(
          d_links, hops, d_place, d_clocks, reinterpret_cast<const float4*>(arrays.large),
          static_cast<long long>(readers.bytes / sizeof(float4)), d_arrived, arrays.sink);
    });
    long long clocks = 0;
    check(cudaMemcpy(&clocks, d_clocks, sizeof clocks, cudaMemcpyDeviceToHost));
    return std::pair(time, static_cast<double>(clocks));
  };
  // Once round, so that what fits a cache is there. What fits none meets new lines in every run.
  if (in_cache) run(static_cast<unsigned>(bytes / sizeof(unsigned) / kLineWords), false);
  const auto [once, once_clocks] = run(kHops, false);
  const auto [twice, twice_clocks] = run(2 * kHops, false);
  const double loaded_once = run(kHops, true).second, loaded_twice = run(2 * kHops, true).second;
  std::printf("%-28s %8.0f ns %8.0f cycles   loaded: %6.0f cycles\n", where,
              (twice - once) * 1e6 / kHops, (twice_clocks - once_clocks) / kHops,
              (loaded_twice - loaded_once) / kHops);
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
  arrays.large_bytes = static_cast<std::size_t>(mib < 16 ? 16 : mib) << 20;
  check(cudaMalloc(&arrays.large, arrays.large_bytes));
  check(cudaMalloc(&arrays.sink, sizeof(float)));
  check(cudaMemset(arrays.large, 0, arrays.large_bytes));

  std::printf("a load that waits for the one before it\n");
  const int everywhere = attribute(cudaDevAttrMultiProcessorCount) * kReaderBlocksPerSm;
  constexpr std::size_t kKib = 1024, kMib = 1024 * kKib;
  chain_line("16 KiB, in L1", 16 * kKib, true, {1, 16 * kKib}, arrays);
  chain_line("4 MiB, in L2", 4 * kMib, true, {everywhere, std::min(16 * kMib, arrays.large_bytes)},
             arrays);
  chain_line("DRAM (the large array's size)", arrays.large_bytes, false,
             {everywhere, arrays.large_bytes}, arrays);

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
