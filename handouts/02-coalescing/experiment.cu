// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 02, "The granularity table": a copy whose lanes are 1, 2, 4, … words apart. An ordinary
// program, for a GPU or for the virtual one:
//
//     nvcc -O3 -std=c++20 -cudart shared -arch=sm_90 handouts/02-coalescing/experiment.cu -o
//     strides
//     ./strides             or: ./membound run --device vgpu:h200 -- ./strides 1048576
//
// Two columns. Ours: every launch copies n different words, each once, from an array of n * stride.
// The course's: thread i copies word (i * stride) % n of an array of n words. With n a power of two
// that is only one word of `stride`, each of them copied by `stride` threads.
#include <cstdio>
#include <cstdlib>

constexpr int kThreads = 256;

// Which word a thread copies: its number, lanes mixed inside each warp if `mixed`, times `stride`,
// modulo `words` (0: no modulus).
__global__ void copy_words(int* out, const int* in, long long stride, bool mixed, long long words) {
  const long long lane = mixed ? threadIdx.x * 7 % 32 : threadIdx.x % 32;
  long long word = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x / 32 * 32 + lane;
  word *= stride;
  if (words != 0) word %= words;
  out[word] = in[word];
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(3);
}

// Bytes read and written by n threads, in GB/s: the median of five runs behind one that warms up.
double gbs(int* d_out, const int* d_in, long long n, long long stride, bool mixed,
           long long words) {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  float times[5];
  for (int run = -1; run < 5; ++run) {
    check(cudaEventRecord(start));
    copy_words<<<static_cast<unsigned>(n / kThreads), kThreads>>>(d_out, d_in, stride, mixed,
                                                                  words);
    check(cudaEventRecord(stop));
    check(cudaEventSynchronize(stop));
    float time = 0;
    check(cudaEventElapsedTime(&time, start, stop));
    if (run < 0) continue;
    int place = run;
    for (; place > 0 && times[place - 1] > time; --place) times[place] = times[place - 1];
    times[place] = time;
  }
  check(cudaGetLastError());
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
  return 2.0 * sizeof(int) * static_cast<double>(n) / times[2] / 1e6;
}

struct Row {
  const char* name;
  int stride;
  bool mixed;
  int sectors;  // of one request
};
constexpr Row kRows[] = {{"in order", 1, false, 4}, {"mixed", 1, true, 4},
                         {"x 2", 2, false, 8},      {"x 4", 4, false, 16},
                         {"x 8", 8, false, 32},     {"x 16", 16, false, 32},
                         {"x 32", 32, false, 32},   {"x 121", 121, false, 32}};

int main(int argc, char** argv) {
  const long long n = argc > 1 ? std::atoll(argv[1]) : 1LL << 24;
  if (n < kThreads || n % kThreads != 0) {
    std::fprintf(stderr, "words: a multiple of %d, such as 16777216\n", kThreads);
    return 2;
  }
  const auto bytes = static_cast<size_t>(n) * 121 * sizeof(int);  // for the largest stride
  int *d_in = nullptr, *d_out = nullptr;
  check(cudaMalloc(&d_in, bytes));
  check(cudaMalloc(&d_out, bytes));
  check(cudaMemset(d_in, 1, bytes));
  std::printf("%lld words of 4 bytes       ours   the course's\n", n);
  std::printf("lanes      sectors/request  GB/s   GB/s\n");
  for (const Row& row : kRows) {
    std::printf("%-10s %15d %5.0f  %5.0f\n", row.name, row.sectors,
                gbs(d_out, d_in, n, row.stride, row.mixed, 0),
                gbs(d_out, d_in, n, row.stride, row.mixed, n));
  }
  check(cudaFree(d_in));
  check(cudaFree(d_out));
}
