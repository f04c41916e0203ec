// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The harness's own kernels: drawing inputs, poisoning outputs, emptying the L2 cache, comparing
/// outputs, and the ceilings that students' speeds are held against. All are grid-stride loops, so
/// that any launch is right.
#include "grader/base/values.cuh"

namespace {

using membound::base::Draw;
using Count = unsigned long long;

__device__ Count first_index() { return Count{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ Count index_stride() { return Count{gridDim.x} * blockDim.x; }

template <typename T>
__device__ void fill(T* out, Count count, const Draw& draw) {
  const unsigned long long share_seed = membound::base::second_seed(draw.seed);
  for (Count i = first_index(); i < count; i += index_stride())
    out[i] = membound::base::drawn_value<T>(draw, share_seed, i, static_cast<T>(INFINITY));
}

/// What a comparison found; device_kernels.hpp holds the same layout.
struct Difference {
  unsigned long long wrong;
  unsigned long long first;
};

__device__ bool equal(long long got, long long expected, double absolute, double relative) {
  if (got == expected) return true;
  const double difference = fabs(static_cast<double>(got) - static_cast<double>(expected));
  return absolute + relative > 0 &&
         difference <= absolute + relative * fabs(static_cast<double>(expected));
}

__device__ bool is_infinite(double value) { return fabs(value) > 0x1.fffffffffffffp1023; }

/// The rule of compare.hpp: a NaN equals only an expected NaN, an infinity only itself.
__device__ bool equal(double got, double expected, double absolute, double relative) {
  if (expected != expected) return got != got;
  if (got == expected) return true;
  if (got != got || is_infinite(got) || is_infinite(expected)) return false;
  return fabs(got - expected) <= absolute + relative * fabs(expected);
}

template <typename T, typename Wide>
__device__ void compare(const T* got, const T* expected, Count count, double absolute,
                        double relative, Difference* result) {
  for (Count i = first_index(); i < count; i += index_stride()) {
    if (equal(static_cast<Wide>(got[i]), static_cast<Wide>(expected[i]), absolute, relative))
      continue;
    atomicAdd(&result->wrong, 1ULL);
    atomicMin(&result->first, i);
  }
}

}  // namespace

// One named kernel per element type, so that the host can ask for them without mangling.
#define MEMBOUND_ELEMENT_KERNELS(name, T, Wide)                                                    \
  extern "C" __global__ void membound_fill_##name(T* out, Count count, Draw draw) {                \
    fill(out, count, draw);                                                                        \
  }                                                                                                \
  extern "C" __global__ void membound_compare_##name(const T* got, const T* expected, Count count, \
                                                     double absolute, double relative,             \
                                                     Difference* result) {                         \
    compare<T, Wide>(got, expected, count, absolute, relative, result);                            \
  }
MEMBOUND_ELEMENT_KERNELS(int32, int, long long)
MEMBOUND_ELEMENT_KERNELS(int64, long long, long long)
MEMBOUND_ELEMENT_KERNELS(float, float, double)
MEMBOUND_ELEMENT_KERNELS(double, double, double)
#undef MEMBOUND_ELEMENT_KERNELS

/// Writes `word` everywhere: poison, or 0.
extern "C" __global__ void membound_set_words(unsigned* out, Count count, unsigned word) {
  for (Count i = first_index(); i < count; i += index_stride()) out[i] = word;
}

/// Adds the fingerprint of `count` words to *sum; values.cuh says what it is worth. `in` is aligned
/// like an allocation: most words are read four at a time.
extern "C" __global__ void membound_fingerprint(const unsigned* in, Count count,
                                                unsigned long long key, unsigned long long* sum) {
  using membound::base::fingerprint_term;
  const Count vectors = count / 4;
  unsigned long long part = 0;
#pragma unroll 2
  for (Count i = first_index(); i < vectors; i += index_stride()) {
    const uint4 words = reinterpret_cast<const uint4*>(in)[i];
    part += fingerprint_term(key, 2 * i, words.x, words.y) +
            fingerprint_term(key, 2 * i + 1, words.z, words.w);
  }
  for (Count i = 2 * vectors + first_index(); 2 * i < count; i += index_stride())
    part += fingerprint_term(key, i, in[2 * i], 2 * i + 1 < count ? in[2 * i + 1] : 0);
  for (int distance = 16; distance > 0; distance /= 2)
    part += __shfl_xor_sync(0xFFFFFFFFU, part, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, part);
}

/// Reads `count` vectors, so that the L2 cache holds nothing but them. Reading and not writing: the
/// lines stay clean, and the next kernel does not pay for writing them back.
extern "C" __global__ void membound_read(const float4* in, Count count, float* never) {
  float sum = 0;
  for (Count i = first_index(); i < count; i += index_stride()) {
    const float4 v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 0.123456F) *never = sum;  // keeps the loads alive; the sum is never this
}

/// Ceiling of kernels that read and write: one 16-byte vector per thread, as many threads as
/// vectors. Of the variants tried on an H200 (1 to 8 vectors per thread, cache hints, persistent
/// blocks) none was faster.
extern "C" __global__ void membound_copy(float4* __restrict__ out, const float4* __restrict__ in,
                                         Count count) {
  const Count i = first_index();
  if (i < count) out[i] = in[i];
}

/// Ceiling of kernels that almost only read: four independent 16-byte loads in flight per thread.
/// Each block reads a tile of 4 * blockDim.x vectors.
extern "C" __global__ void membound_read_ceiling(const float4* __restrict__ in, Count count,
                                                 float* never) {
  constexpr int kLoads = 4;
  const Count first = Count{blockIdx.x} * blockDim.x * kLoads + threadIdx.x;
  float4 values[kLoads] = {};
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    const Count i = first + Count{blockDim.x} * k;
    if (i < count) values[k] = in[i];
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kLoads; ++k) sum += values[k].x + values[k].y + values[k].z + values[k].w;
  if (sum == 0.123456F) *never = sum;
}

/// Ceiling of kernels bound by additions and minima: `iterations` times 256 additions and 256
/// minima per thread, in 8 pairs of chains. A minimum takes the sum of the step before, so that
/// neither waits for the other; sums only grow by additions, which no compiler may reorder.
extern "C" __global__ void membound_add_min(const float* addends, float* never, int iterations) {
  constexpr int kChains = 8;
  constexpr int kSteps = 32;  // unrolled, so that the loop's own instructions do not count
  float best[kChains];
  float sum[kChains];
  const float addend = addends[0];
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    sum[c] = addends[c] + static_cast<float>(threadIdx.x);
    best[c] = sum[c] * 2;
  }
#pragma unroll 1
  for (int iteration = 0; iteration < iterations; ++iteration) {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) {
        best[c] = fminf(best[c], sum[c]);
        sum[c] += addend;
      }
    }
  }
  float smallest = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) smallest = fminf(smallest, best[c] + sum[c]);
  if (smallest == 0.123456F) *never = smallest;
}

/// Ceiling of kernels bound by multiply-adds: `iterations` times 256 of them per thread, in 8
/// chains, which is twice as many as a scheduler needs of 4 warps to have one ready in every cycle.
extern "C" __global__ void membound_multiply_add(const float* addends, float* never,
                                                 int iterations) {
  constexpr int kChains = 8;
  constexpr int kSteps = 32;  // unrolled, so that the loop's own instructions do not count
  float sum[kChains];
  const float factor = addends[0];
#pragma unroll
  for (int c = 0; c < kChains; ++c) sum[c] = addends[c] + static_cast<float>(threadIdx.x);
#pragma unroll 1
  for (int iteration = 0; iteration < iterations; ++iteration) {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) sum[c] = fmaf(sum[c], factor, factor);
    }
  }
  float all = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) all += sum[c];
  if (all == 0.123456F) *never = all;
}
