// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 02: why lanes 16 or 32 words apart are slower than lanes 8 words apart, though all three
/// touch 32 sectors a request. Loads and stores apart, with three sizes of what a miss fetches from
/// DRAM, and inside windows of memory that do or do not fit into L2. Needs a GPU with 3 GB to
/// spare.
///
///     nvcc -O3 -std=c++20 -arch=native handouts/02-coalescing/experiment_dram.cu -o bend && ./bend
///     ncu --metrics dram__bytes_read.sum,dram__bytes_write.sum ./bend once 64
///
/// `once G` runs each kernel once, for a profiler, with fetches of G bytes.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr unsigned kWords = 1u << 28;  // of each array: 1 GiB
constexpr unsigned kThreads = 256;
constexpr std::size_t kFlushBytes = 128u << 20;  // twice what L2 holds
constexpr std::array<unsigned, 6> kStrides = {1, 2, 4, 8, 16, 32};

void check_cuda(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(1);
}

/// The word of thread `i`: neighbours are `stride` words apart, and every word of a window is
/// touched once before the next window is.
__device__ unsigned word_of(unsigned i, unsigned stride, unsigned window) {
  const unsigned columns = window / stride;
  const unsigned in_window = i % window;
  return i - in_window + in_window % columns * stride + in_window / columns;
}

__global__ void load(int* out, const int* in, unsigned stride, unsigned window) {
  const int word = in[word_of(blockIdx.x * kThreads + threadIdx.x, stride, window)];
  if (word != 0) *out = word;  // all are 0: nothing is stored
}

__global__ void store(int* out, const int* /*in*/, unsigned stride, unsigned window) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  out[word_of(i, stride, window)] = static_cast<int>(i);
}

using Kernel = void (*)(int*, const int*, unsigned, unsigned);

struct Arrays {
  int *in = nullptr, *out = nullptr;
  void* flush = nullptr;
};

/// Picoseconds a word: the median of five runs.
double time_ps(Kernel kernel, const Arrays& arrays, unsigned stride, unsigned window) {
  cudaEvent_t before, after;
  check_cuda(cudaEventCreate(&before));
  check_cuda(cudaEventCreate(&after));
  std::array<float, 5> times_ms{};
  for (float& time_ms : times_ms) {
    check_cuda(cudaMemset(arrays.flush, 0, kFlushBytes));
    check_cuda(cudaEventRecord(before));
    kernel<<<kWords / kThreads, kThreads>>>(arrays.out, arrays.in, stride, window);
    check_cuda(cudaEventRecord(after));
    check_cuda(cudaEventSynchronize(after));
    check_cuda(cudaEventElapsedTime(&time_ms, before, after));
  }
  std::sort(times_ms.begin(), times_ms.end());
  return times_ms[2] * 1e9 / kWords;
}

void print_row(const Arrays& arrays, const char* label, Kernel kernel, unsigned window) {
  std::printf("%-28s", label);
  for (const unsigned stride : kStrides)
    std::printf(" %7.2f", time_ps(kernel, arrays, stride, window));
  std::printf("\n");
}

void set_fetch(std::size_t bytes) {
  check_cuda(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, bytes));
}

void print_tables(const Arrays& arrays) {
  std::printf("ps a word, lanes apart       ");
  for (const unsigned stride : kStrides) std::printf(" %7u", stride);
  std::printf("\n");
  char label[64];
  for (const unsigned bytes : {32u, 64u, 128u}) {
    set_fetch(bytes);
    std::snprintf(label, sizeof(label), "load, fetches of %u B", bytes);
    print_row(arrays, label, load, kWords);
  }
  set_fetch(64);
  print_row(arrays, "store", store, kWords);
  for (const unsigned mib : {1u, 16u, 64u, 1024u}) {
    std::snprintf(label, sizeof(label), "load, windows of %u MiB", mib);
    print_row(arrays, label, load, mib << 18);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arrays arrays;
  check_cuda(cudaMalloc(&arrays.in, kWords * sizeof(int)));
  check_cuda(cudaMalloc(&arrays.out, kWords * sizeof(int)));
  check_cuda(cudaMalloc(&arrays.flush, kFlushBytes));
  check_cuda(cudaMemset(arrays.in, 0, kWords * sizeof(int)));
  if (argc < 3) {
    print_tables(arrays);
    return 0;
  }
  set_fetch(std::strtoul(argv[2], nullptr, 10));
  for (const Kernel kernel : {load, store})
    for (const unsigned stride : kStrides)
      kernel<<<kWords / kThreads, kThreads>>>(arrays.out, arrays.in, stride, kWords);
  check_cuda(cudaDeviceSynchronize());
}
