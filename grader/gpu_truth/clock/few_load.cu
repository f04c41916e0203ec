// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Few warps that load with 1 to 16 loads at once: one multiprocessor that draws all it can from
/// DRAM and from L2, and a few warps on one multiprocessor or on each.
///
/// A program whose rows tell what one multiprocessor loads by itself and what a round of loads
/// waits for.
#include "grader/vgpu/calibration/timed.cuh"

namespace {

template <typename T>
__device__ int folded(const T& value) {
  int all = 0;
#pragma unroll
  for (int i = 0; i < int(sizeof(T) / sizeof(int)); ++i)
    all ^= reinterpret_cast<const int*>(&value)[i];
  return all;
}

/// Each block walks `each` words from a place of its own, round and round through `ring` of them.
template <int kLoads, typename T>
__global__ void draw(const T* in, std::size_t apart, std::size_t each, std::size_t ring, int* out) {
  const std::size_t at = blockIdx.x * apart + threadIdx.x;
  int sum = 0;
  for (std::size_t i = 0; i < each; i += kLoads * blockDim.x) {
    T value[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) value[k] = in[(at + i + k * blockDim.x) & (ring - 1)];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sum ^= folded(value[k]);
  }
  if (sum == 0x7fffffff) *out = sum;
}

/// Each warp walks a part of its own.
template <int kLoads, typename T>
__global__ void walk(const T* in, std::size_t each, int* out) {
  const std::size_t warp = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) / 32;
  const T* at = in + warp * each + threadIdx.x % 32;
  int sum = 0;
#pragma unroll 1
  for (std::size_t i = 0; i < each; i += kLoads * 32) {
    T value[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) value[k] = at[i + k * 32];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sum ^= folded(value[k]);
  }
  if (sum == 0x7fffffff) *out = sum;
}

template <int kLoads, typename T>
void time_all(timed::Bench& bench, const void* in, int* out, const char* kind) {
  const T* from = static_cast<const T*>(in);
  const std::string loads = std::to_string(kLoads) + " " + kind;
  for (const int blocks : {1, 2, 16}) {
    const std::size_t each = (std::size_t{64} << 20) / blocks / sizeof(T);
    bench("draw from DRAM", std::to_string(blocks) + " blocks " + loads, [&] {
      draw<kLoads, T><<<blocks, 1024>>>(from, each, each, (std::size_t{1} << 31) / sizeof(T), out);
    });
    const std::size_t ring = (std::size_t{16} << 20) / sizeof(T);
    bench("draw from L2", std::to_string(blocks) + " blocks " + loads,
          [&] { draw<kLoads, T><<<blocks, 1024>>>(from, ring / blocks, 4 * ring, ring, out); });
  }
  for (const int warps : {1, 2, 4, 8, 16})
    for (const int blocks : {1, 132}) {
      constexpr std::size_t kRounds = 256;
      bench("256 rounds",
            std::to_string(warps) + " warps of " + std::to_string(blocks) + " blocks " + loads,
            [&] { walk<kLoads, T><<<blocks, warps * 32>>>(from, kRounds * 32 * kLoads, out); });
    }
}

}  // namespace

int main(int argc, char** argv) {
  timed::Bench bench(argc, argv);
  void* in = nullptr;
  int* out = nullptr;
  const std::size_t bytes = std::size_t{132} * 16 * 256 * 32 * 8 * sizeof(int4);
  timed::check(cudaMalloc(&in, bytes), "cudaMalloc");
  timed::check(cudaMalloc(&out, 256), "cudaMalloc");
  timed::check(cudaMemset(in, 0, bytes), "cudaMemset");
  time_all<1, int>(bench, in, out, "words");
  time_all<2, int>(bench, in, out, "words");
  time_all<4, int>(bench, in, out, "words");
  time_all<8, int>(bench, in, out, "words");
  time_all<16, int>(bench, in, out, "words");
  time_all<1, int4>(bench, in, out, "vectors");
  time_all<2, int4>(bench, in, out, "vectors");
  time_all<4, int4>(bench, in, out, "vectors");
  time_all<8, int4>(bench, in, out, "vectors");
  return 0;
}
