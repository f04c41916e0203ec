// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the profiler programs share: launches that have a name, fixed data, patterns of lanes.
/// Each program launches its cases in a fixed order and prints a line for each; the profiler
/// (make_truth.sh) and the virtual GPU (profiler_test.cpp) count what they do. Left out: what is
/// computed; grader/gpu_truth/conformance looks at that.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace profiler {

inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorName(code));
  std::exit(1);
}

/// One launch, and its name on stdout: the n-th line names the n-th launch.
template <typename... P, typename... A>
void run(const std::string& name, dim3 grid, dim3 block, void (*kernel)(P...), A... arguments) {
  kernel<<<grid, block>>>(static_cast<P>(arguments)...);
  check(cudaGetLastError(), name.c_str());
  check(cudaDeviceSynchronize(), name.c_str());
  std::printf("%s\n", name.c_str());
  std::fflush(stdout);
}

/// Device memory that holds 0, 1, 2, … in 4-byte words.
template <typename T = int>
T* counted(std::size_t bytes) {
  std::vector<std::uint32_t> words((bytes + 3) / 4);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(i);
  void* d_words = nullptr;
  check(cudaMalloc(&d_words, words.size() * 4), "cudaMalloc");
  check(cudaMemcpy(d_words, words.data(), words.size() * 4, cudaMemcpyHostToDevice), "cudaMemcpy");
  return static_cast<T*>(d_words);
}

/// Device memory that holds these numbers.
inline int* numbers(const std::vector<int>& values) {
  void* d_values = nullptr;
  check(cudaMalloc(&d_values, values.size() * sizeof(int)), "cudaMalloc");
  check(cudaMemcpy(d_values, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice),
        "cudaMemcpy");
  return static_cast<int*>(d_values);
}

/// The same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2654435761u + 1) {}
  int below(int limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(limit));
  }

 private:
  std::uint64_t state_;
};

/// Which element each thread of a launch takes; -1: the thread takes none.
struct Pattern {
  std::string name;
  std::vector<int> at;
  [[nodiscard]] unsigned threads() const { return static_cast<unsigned>(at.size()); }
};

template <typename Function>
Pattern lanes(const char* name, Function element) {
  Pattern pattern{name, std::vector<int>(32)};
  for (int lane = 0; lane < 32; ++lane) pattern.at[static_cast<std::size_t>(lane)] = element(lane);
  return pattern;
}

/// `warps` warps of random elements below `limit`; each lane takes part with `percent` %.
inline Pattern random_lanes(const char* name, int warps, int limit, int percent, unsigned seed) {
  Random random(seed);
  Pattern pattern{name, std::vector<int>(static_cast<std::size_t>(warps) * 32)};
  for (int& element : pattern.at) {
    const int where = random.below(limit);
    element = random.below(100) < percent ? where : -1;
  }
  return pattern;
}

/// What every kind of access is tried with. No element is beyond 1024.
inline std::vector<Pattern> patterns() {
  return {lanes("neighbours", [](int l) { return l; }),
          lanes("shifted", [](int l) { return l + 1; }),
          lanes("backwards", [](int l) { return 31 - l; }),
          lanes("every_third", [](int l) { return 3 * l; }),
          lanes("every_32nd", [](int l) { return 32 * l; }),
          lanes("one_for_all", [](int) { return 5; }),
          lanes("pairs", [](int l) { return l / 2; }),
          lanes("quads_far_apart", [](int l) { return l / 4 * 40; }),
          lanes("odd_lanes", [](int l) { return l % 2 != 0 ? l : -1; }),
          lanes("first_five", [](int l) { return l < 5 ? l : -1; }),
          random_lanes("random_32", 8, 32, 100, 1),
          random_lanes("random_1024", 8, 1024, 100, 2),
          random_lanes("random_holes", 8, 64, 50, 3)};
}

/// The same, fewer.
inline std::vector<Pattern> few_patterns() {
  return {lanes("neighbours", [](int l) { return l; }), lanes("one_for_all", [](int) { return 5; }),
          lanes("pairs", [](int l) { return l / 2; }), random_lanes("random_32", 8, 32, 100, 1),
          random_lanes("random_holes", 8, 64, 50, 3)};
}

/// A launch of `kernel(arguments…, index)` for a pattern; blocks of at most 128 threads.
template <typename Kernel, typename... A>
void run_pattern(const std::string& what, const Pattern& pattern, Kernel kernel, A... arguments) {
  const unsigned threads = pattern.threads() < 128 ? pattern.threads() : 128;
  int* d_index = numbers(pattern.at);
  run(what + "." + pattern.name, pattern.threads() / threads, threads, kernel, arguments...,
      d_index);
  check(cudaFree(d_index), "cudaFree");
}

}  // namespace profiler

/// This thread's element of a pattern, read from memory.
__device__ inline int element_of(const int* index) {
  return index[blockIdx.x * blockDim.x + threadIdx.x];
}
__device__ inline int thread_number() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}
