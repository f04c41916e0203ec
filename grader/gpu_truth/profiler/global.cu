// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loads and stores of global memory: every width, every pattern of lanes, cache operators, shifted
/// arrays, blocks of several shapes.
#include "grader/gpu_truth/profiler/profiler.cuh"

namespace {

using profiler::run;
using profiler::run_pattern;

template <typename T>
__global__ void load(const T* in, T* out, const int* index) {
  const int at = element_of(index);
  if (at >= 0) out[thread_number()] = in[at];
}

template <typename T>
__global__ void store(T* out, T value, const int* index) {
  const int at = element_of(index);
  if (at >= 0) out[at] = value;
}

template <typename T>
void all_patterns(const std::string& type) {
  T* in = profiler::counted<T>(1 << 16);
  T* out = profiler::counted<T>(1 << 16);
  for (const profiler::Pattern& pattern : profiler::patterns()) {
    run_pattern("load." + type, pattern, load<T>, in, out);
    run_pattern("store." + type, pattern, store<T>, out, T{});
  }
}

enum class Way { kReadOnly, kVolatile, kStreaming, kL2Only, kLastUse };

template <Way kWay>
__global__ void load_by(const float* in, float* out) {
  const int i = thread_number();
  float value = 0;
  if constexpr (kWay == Way::kReadOnly) value = __ldg(in + i);
  if constexpr (kWay == Way::kVolatile) value = *static_cast<const volatile float*>(in + i);
  if constexpr (kWay == Way::kStreaming) value = __ldcs(in + i);
  if constexpr (kWay == Way::kL2Only) value = __ldcg(in + i);
  if constexpr (kWay == Way::kLastUse) value = __ldlu(in + i);
  __stcs(out + i, value);
}

/// A structure of three words has no load of its own: three of one word.
struct Three {
  int x, y, z;
};
__global__ void three_words(const Three* in, Three* out) {
  out[thread_number()] = in[thread_number()];
}

/// Sixteen bytes that the compiler may only take to be aligned to four.
struct Loose {
  int x, y, z, w;
};
__global__ void loose_vector(const Loose* in, Loose* out) {
  out[thread_number()] = in[thread_number()];
}

__global__ void copy_shifted(const float* in, float* out, int shift) {
  out[thread_number()] = in[thread_number() + shift];
}

__global__ void copy_2d(const float* in, float* out, int width) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * width + x] = in[y * width + x];
}

__global__ void same_line_twice(const int* in, int* out) {
  const int i = thread_number();
  out[i] = in[i] + in[i ^ 31];
}

__global__ void bytes_of_one_word(const unsigned char* in, unsigned char* out) {
  out[thread_number() % 4] = in[thread_number() % 4];
}

}  // namespace

int main() {
  all_patterns<unsigned char>("1");
  all_patterns<short>("2");
  all_patterns<int>("4");
  all_patterns<double>("8");
  all_patterns<float4>("16");

  const float* in = profiler::counted<float>(1 << 20);
  float* out = profiler::counted<float>(1 << 20);
  run("by.read_only", 3, 96, load_by<Way::kReadOnly>, in, out);
  run("by.volatile", 3, 96, load_by<Way::kVolatile>, in, out);
  run("by.streaming", 3, 96, load_by<Way::kStreaming>, in, out);
  run("by.l2_only", 3, 96, load_by<Way::kL2Only>, in, out);
  run("by.last_use", 3, 96, load_by<Way::kLastUse>, in, out);
  run("three_words", 3, 96, three_words, reinterpret_cast<const Three*>(in),
      reinterpret_cast<Three*>(out));
  run("loose_vector", 3, 96, loose_vector, reinterpret_cast<const Loose*>(in),
      reinterpret_cast<Loose*>(out));
  for (const int shift : {0, 1, 3, 4, 7, 8, 16, 31})
    run("copy_shifted." + std::to_string(shift), 5, 128, copy_shifted, in, out, shift);
  run("block_45_threads", 5, 45, copy_shifted, in, out, 0);
  run("block_1000_threads", 2, 1000, copy_shifted, in, out, 0);
  run("block_8x8", dim3(4, 4), dim3(8, 8), copy_2d, in, out, 256);
  run("block_16x3", dim3(4, 4), dim3(16, 3), copy_2d, in, out, 256);
  run("block_5x7", dim3(4, 4), dim3(5, 7), copy_2d, in, out, 250);
  run("block_64x2", dim3(4, 4), dim3(64, 2), copy_2d, in, out, 257);
  run("same_line_twice", 4, 128, same_line_twice, reinterpret_cast<const int*>(in),
      reinterpret_cast<int*>(out));
  run("bytes_of_one_word", 1, 64, bytes_of_one_word, reinterpret_cast<const unsigned char*>(in),
      reinterpret_cast<unsigned char*>(out));
}
