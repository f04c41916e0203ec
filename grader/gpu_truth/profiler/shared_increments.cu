// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Atomics on shared memory whose lanes want the same words: by how many each word is wanted,
/// with values that the compiler knows and with values that it does not.
#include "grader/gpu_truth/profiler/profiler.cuh"

namespace {

using profiler::lanes;
using profiler::run;
using profiler::run_pattern;

constexpr int kElements = 1024;

struct AddOne {
  static constexpr const char* kName = "one";
  template <typename T>
  static __device__ T perform(T* place, T) {
    return atomicAdd(place, T(1));
  }
};
struct TakeOne {
  static constexpr const char* kName = "minus_one";
  template <typename T>
  static __device__ T perform(T* place, T) {
    return atomicSub(place, T(1));
  }
};
struct AddLane {
  static constexpr const char* kName = "lane";
  template <typename T>
  static __device__ T perform(T* place, T) {
    return atomicAdd(place, T(threadIdx.x));
  }
};
struct Increment {
  static constexpr const char* kName = "increment";
  template <typename T>
  static __device__ T perform(T* place, T) {
    return atomicInc(place, 1000);
  }
};
struct Most {
  static constexpr const char* kName = "max";
  template <typename T>
  static __device__ T perform(T* place, T) {
    return atomicMax(place, T(threadIdx.x));
  }
};

template <typename Operation, typename T, bool kKeep>
__global__ void apply(T* out, T value, const int* index) {
  __shared__ T memory[kElements];
  for (unsigned i = threadIdx.x; i < kElements; i += blockDim.x)
    *const_cast<volatile T*>(memory + i) = T(0);
  __syncthreads();
  const int at = element_of(index);
  T old = value;
  if (at >= 0) {
    const T before = Operation::perform(memory + at, value);
    if constexpr (kKeep) old = before;
  }
  __syncthreads();
  out[thread_number()] = old + *const_cast<volatile T*>(memory + threadIdx.x);
}

std::vector<profiler::Pattern> shared_words() {
  std::vector<profiler::Pattern> all = {
      lanes("words_1", [](int) { return 7; }),
      lanes("words_2", [](int l) { return l % 2; }),
      lanes("words_2_skewed", [](int l) { return l < 5; }),
      lanes("words_3", [](int l) { return l % 3; }),
      lanes("words_4", [](int l) { return l / 8; }),
      lanes("words_8", [](int l) { return l % 8; }),
      lanes("words_16", [](int l) { return l / 2; }),
      lanes("words_32", [](int l) { return l; }),
      lanes("words_2_one_bank", [](int l) { return l % 2 * 32; }),
      lanes("words_4_one_bank", [](int l) { return l % 4 * 32; }),
      lanes("words_4_two_banks", [](int l) { return l % 4 / 2 * 32 + l % 2; }),
      lanes("words_8_one_bank", [](int l) { return l % 8 * 32; }),
      lanes("words_32_one_bank", [](int l) { return l * 32 % 1024; }),
      lanes("half_of_one", [](int l) { return l % 2 != 0 ? 3 : -1; }),
      lanes("five_of_one", [](int l) { return l < 5 ? 3 : -1; }),
      profiler::random_lanes("random_8", 8, 8, 100, 11),
      profiler::random_lanes("random_64", 8, 64, 100, 12),
      profiler::random_lanes("random_1024", 8, 1024, 100, 13),
      profiler::random_lanes("random_8_holes", 8, 8, 40, 14)};
  profiler::Random random(15);
  profiler::Pattern skewed{"skewed", std::vector<int>(256)};
  for (int& element : skewed.at) element = random.below(100) < 90 ? 5 : random.below(256);
  all.push_back(skewed);
  return all;
}

template <typename Operation, typename T>
void try_words(const std::string& type) {
  T* out = profiler::counted<T>(1 << 16);
  for (const profiler::Pattern& pattern : shared_words()) {
    run_pattern(std::string("forget.") + Operation::kName + "." + type, pattern,
                apply<Operation, T, false>, out, T(1));
    run_pattern(std::string("keep.") + Operation::kName + "." + type, pattern,
                apply<Operation, T, true>, out, T(1));
  }
}

/// Skewed: nearly all keys are one.
__global__ void histogram(const int* in, int* out, int n) {
  __shared__ int bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    const int key = in[i] % 97;
    atomicAdd(&bins[key < 90 ? 0 : key], 1);
  }
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

}  // namespace

int main() {
  try_words<AddOne, int>("int");
  try_words<AddOne, unsigned>("unsigned");
  try_words<TakeOne, int>("int");
  try_words<AddLane, int>("int");
  try_words<Increment, unsigned>("unsigned");
  try_words<Most, int>("int");
  const int* in = profiler::counted<int>(1 << 18);
  int* out = profiler::counted<int>(1 << 14);
  run("histogram", 4, 256, histogram, in, out, 1 << 14);
}
