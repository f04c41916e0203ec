// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Atomics and reductions on global memory: every operation and type, with and without the old
/// value, on one word, on many, from several blocks; addresses that the compiler can see to be one,
/// and others.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "grader/gpu_truth/profiler/profiler.cuh"

namespace {

using profiler::run;
using profiler::run_pattern;

struct Add {
  template <typename T>
  __device__ T operator()(T* place, T value) const {
    return atomicAdd(place, value);
  }
};
struct Smallest {
  template <typename T>
  __device__ T operator()(T* place, T value) const {
    return atomicMin(place, value);
  }
};
struct Or {
  template <typename T>
  __device__ T operator()(T* place, T value) const {
    return atomicOr(place, value);
  }
};
struct Exchange {
  template <typename T>
  __device__ T operator()(T* place, T value) const {
    return atomicExch(place, value);
  }
};
struct Wrap {
  template <typename T>
  __device__ T operator()(T* place, T value) const {
    return atomicInc(place, value);
  }
};
struct Swap {
  template <typename T>
  __device__ T operator()(T* place, T value) const {
    return atomicCAS(place, value, static_cast<T>(value + 1));
  }
};

/// Nobody reads the old value.
template <typename Operation, typename T>
__global__ void forget(T* memory, T value, const int* index) {
  const int at = element_of(index);
  if (at >= 0) Operation{}(memory + at, value);
}

/// The old value is stored.
template <typename Operation, typename T>
__global__ void keep(T* memory, T value, T* out, const int* index) {
  const int at = element_of(index);
  if (at >= 0) out[thread_number()] = Operation{}(memory + at, value);
}

/// Each lane adds a value of its own.
template <typename T>
__global__ void add_own(T* memory, const int* index) {
  const int at = element_of(index);
  if (at >= 0) atomicAdd(memory + at, static_cast<T>(threadIdx.x));
}

template <typename Operation, typename T>
void try_patterns(const std::string& what, T value,
                  const std::vector<profiler::Pattern>& patterns) {
  T* memory = profiler::counted<T>(1 << 16);
  T* out = profiler::counted<T>(1 << 16);
  for (const profiler::Pattern& pattern : patterns) {
    run_pattern("forget." + what, pattern, forget<Operation, T>, memory, value);
    run_pattern("keep." + what, pattern, keep<Operation, T>, memory, value, out);
  }
}

/// The compiler sees that all lanes mean one word.
template <typename Operation, typename T, bool kKeep>
__global__ void one_word(T* memory, T value, T* out) {
  const T old = Operation{}(memory + blockIdx.x % 2, value);
  if constexpr (kKeep) out[thread_number()] = old;
}
template <typename T, bool kKeep>
__global__ void one_word_own(T* memory, T* out) {
  const T old = atomicAdd(memory, static_cast<T>(threadIdx.x));
  if constexpr (kKeep) out[thread_number()] = old;
}
/// … and only some of them come by.
__global__ void one_word_some(int* memory, const int* in) {
  if (in[thread_number()] % 3 == 0) atomicAdd(memory, 1);
}
__global__ void one_word_from_memory(int* memory, const int* where) {
  atomicAdd(memory + where[blockIdx.x], 1);
}
__global__ void one_lane_a_block(float* memory, const float* in) {
  if (threadIdx.x == 0) atomicAdd(memory, in[blockIdx.x]);
}

/// A product by compare-and-swap; `sharers` lanes of a warp take turns at a word.
__global__ void swap_loop(int* memory, int sharers) {
  int* place = memory + thread_number() / sharers;
  int seen = *place, expected;
  do {
    expected = seen;
    seen = atomicCAS(place, expected, expected * 3);
  } while (seen != expected);
}

__global__ void histogram(const int* in, int* bins, int count) {
  for (int i = thread_number(); i < count; i += static_cast<int>(gridDim.x * blockDim.x))
    atomicAdd(bins + (in[i] * 7 & 255), 1);
}

__global__ void in_the_block(int* memory) { atomicAdd_block(memory + threadIdx.x % 8, 1); }
__global__ void in_the_system(int* memory) { atomicAdd_system(memory + threadIdx.x % 8, 1); }

template <typename T>
void try_one_word(const std::string& type) {
  T* memory = profiler::counted<T>(1 << 12);
  T* out = profiler::counted<T>(1 << 16);
  run("one_word.forget." + type, 3, 96, one_word<Add, T, false>, memory, T(1), out);
  run("one_word.keep." + type, 3, 96, one_word<Add, T, true>, memory, T(1), out);
  run("one_word.own.forget." + type, 3, 96, one_word_own<T, false>, memory, out);
  run("one_word.own.keep." + type, 3, 96, one_word_own<T, true>, memory, out);
}

}  // namespace

int main() {
  const auto all = profiler::patterns(), few = profiler::few_patterns();
  try_patterns<Add>("add.int", 1, all);
  try_patterns<Add>("add.float", 1.0f, all);
  try_patterns<Add>("add.u64", 1ull, few);
  try_patterns<Add>("add.double", 1.0, few);
  try_patterns<Add>("add.half", __half(1.0f), few);
  try_patterns<Add>("add.half2", __half2(1.0f, 1.0f), few);
  try_patterns<Add>("add.bfloat162", __nv_bfloat162(1.0f, 1.0f), few);
  try_patterns<Add>("add.float2", make_float2(1, 1), few);
  try_patterns<Add>("add.float4", make_float4(1, 1, 1, 1), few);
  try_patterns<Smallest>("min.int", 1, few);
  try_patterns<Smallest>("min.u64", 1ull, few);
  try_patterns<Or>("or.unsigned", 1u, few);
  try_patterns<Exchange>("exchange.int", 1, few);
  try_patterns<Exchange>("exchange.u64", 1ull, few);
  try_patterns<Wrap>("wrap.unsigned", 1000u, few);
  try_patterns<Swap>("swap.int", 1, few);
  try_patterns<Swap>("swap.u64", 1ull, few);

  int* memory = profiler::counted(1 << 16);
  for (const profiler::Pattern& pattern : few) {
    run_pattern("own.int", pattern, add_own<int>, memory);
    run_pattern("own.float", pattern, add_own<float>, reinterpret_cast<float*>(memory));
  }
  try_one_word<int>("int");
  try_one_word<float>("float");
  try_one_word<unsigned long long>("u64");
  const int* in = profiler::counted<int>(1 << 18);
  run("one_word.min.int", 3, 96, one_word<Smallest, int, false>, memory, 1, memory);
  run("one_word.or.unsigned", 3, 96, one_word<Or, unsigned, false>,
      reinterpret_cast<unsigned*>(memory), 1u, nullptr);
  run("one_word.exchange.int", 3, 96, one_word<Exchange, int, false>, memory, 1, memory);
  run("one_word.some", 3, 96, one_word_some, memory, in);
  run("one_word.from_memory", 3, 96, one_word_from_memory, memory, in);
  run("one_lane_a_block", 40, 64, one_lane_a_block, reinterpret_cast<float*>(memory),
      reinterpret_cast<const float*>(in));
  run("swap_loop.1", 2, 64, swap_loop, memory, 1);
  run("swap_loop.4", 2, 64, swap_loop, memory, 4);
  run("histogram", 8, 256, histogram, in, memory, 1 << 14);
  run("in_the_block", 2, 64, in_the_block, memory);
  run("in_the_system", 2, 64, in_the_system, memory);
}
