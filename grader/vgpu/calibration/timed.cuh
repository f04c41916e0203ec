// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How the clock's kernels are timed: as a graded run is (docs/performance.md), one launch between
/// two events with nothing of its data in L2; the median of several. Each program prints one line a
/// kernel, `group,name,µs`, on a GPU and on the virtual one alike.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace timed {

inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
  std::exit(1);
}

/// Reads a buffer, so that L2 holds nothing but its clean lines.
static __global__ void read_all(const int4* words, std::size_t count, int* out) {
  int sum = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    sum += words[i].x ^ words[i].y ^ words[i].z ^ words[i].w;
  if (sum == 0x12345678) *out = sum;
}

/// Device memory that holds pseudo-random words, each below `limit`.
template <typename T>
T* drawn(std::size_t count, unsigned limit = 1u << 16) {
  std::vector<T> values(count);
  std::uint64_t state = 88172645463325252u;
  for (T& value : values) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    value = static_cast<T>(static_cast<unsigned>(state >> 33) % limit);
  }
  T* d_values = nullptr;
  check(cudaMalloc(&d_values, count * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(d_values, values.data(), count * sizeof(T), cudaMemcpyHostToDevice), "copy in");
  return d_values;
}

class Bench {
 public:
  /// `--once`: each kernel once, as the virtual GPU gives the same time always. `--only TEXT`:
  /// those whose name has it.
  Bench(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      if (argv[i] == std::string("--once")) runs_ = 1;
      if (argv[i] == std::string("--only") && i + 1 < argc) only_ = argv[i + 1];
    }
    check(cudaEventCreate(&begin_), "event");
    check(cudaEventCreate(&end_), "event");
    if (runs_ > 1) flush_ = drawn<int4_words>(kFlushBytes / sizeof(int4_words));
    check(cudaMalloc(&d_sink_, 256), "cudaMalloc");
  }

  template <typename Launch>
  void operator()(const char* group, const std::string& name, Launch&& launch) {
    if (name.find(only_) == std::string::npos) return;
    std::vector<float> times;
    for (int i = 0; i < runs_ + (runs_ > 1 ? 1 : 0); ++i) {
      if (flush_ != nullptr)
        read_all<<<528, 512>>>(reinterpret_cast<const int4*>(flush_), kFlushBytes / 16, d_sink_);
      else  // nor is the stream idle here, so that what the host takes to launch does not count
        check(cudaMemsetAsync(d_sink_, 0, 256), "cudaMemsetAsync");
      check(cudaEventRecord(begin_), "record");
      launch();
      check(cudaGetLastError(), name.c_str());
      check(cudaEventRecord(end_), "record");
      check(cudaEventSynchronize(end_), name.c_str());
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin_, end_), "elapsed");
      if (i > 0 || runs_ == 1) times.push_back(ms);  // the first run loads code
    }
    std::sort(times.begin(), times.end());
    std::printf("%s,%s,%.3f\n", group, name.c_str(), 1000.0 * times[times.size() / 2]);
    std::fflush(stdout);
  }
  [[nodiscard]] bool once() const { return runs_ == 1; }

 private:
  using int4_words = unsigned;
  static constexpr std::size_t kFlushBytes = std::size_t{128} << 20;
  int runs_ = 9;
  std::string only_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  unsigned* flush_ = nullptr;
  int* d_sink_ = nullptr;
};

}  // namespace timed
