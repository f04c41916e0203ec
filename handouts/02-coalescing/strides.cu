// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 02, "The granularity table": copies whose lanes are 1, 2, 4, … words apart, or begin 1, 2, 4,
// … words after a line. n is a power of two.
//
//     ./membound experiment strides
//     ./membound experiment strides-wrapped
//     ./membound experiment offsets
#include "membound.cuh"

constexpr int kThreads = 256, kMixed = 7;

/// The word that thread i of the grid takes: its own number times kStride. kMixed only changes the
/// order of the lanes inside each warp.
template <int kStride>
__device__ long long word_of_thread() {
  const long long first = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x / 32 * 32;
  const int lane = threadIdx.x % 32;
  if (kStride == kMixed) return first + lane * kMixed % 32;
  return (first + lane) * kStride;
}

/// Every launch copies n different words, each once, from an array of n * kStride. 121 is odd:
/// modulo n its multiples are all words of an array of n.
template <int kStride>
__global__ void strides(float* out, const float* in, int n) {
  const long long word = word_of_thread<kStride>() % (kStride == 121 ? n : 1LL << 62);
  out[word] = in[word];
}

/// As in the document: an array of n words whatever the stride. At 32 only every 32nd word is
/// copied, by 32 threads each.
template <int kStride>
__global__ void strides_wrapped(float* out, const float* in, int n) {
  const long long word = word_of_thread<kStride>() % n;
  out[word] = in[word];
}

/// n words in order, from kOffset words after the start of a line. The arrays are longer.
template <int kOffset>
__global__ void offsets(float* out, const float* in, int n) {
  const long long word = word_of_thread<1>() + kOffset;
  out[word] = in[word];
}

#define POINT(x)                                                  \
  template __global__ void strides<x>(float*, const float*, int); \
  template __global__ void strides_wrapped<x>(float*, const float*, int);
POINT(1)
POINT(kMixed)
POINT(2)
POINT(4)
POINT(8)
POINT(16)
POINT(32)
POINT(121)

#define OFFSET(x) template __global__ void offsets<x>(float*, const float*, int);
OFFSET(0)
OFFSET(1)
OFFSET(2)
OFFSET(4)
OFFSET(8)
OFFSET(16)
OFFSET(31)

LAUNCH_SHAPE(strides, int n, int) { return {.grid = dim3(n / kThreads), .block = dim3(kThreads)}; }
LAUNCH_SHAPE(strides_wrapped, int n, int) {
  return {.grid = dim3(n / kThreads), .block = dim3(kThreads)};
}
LAUNCH_SHAPE(offsets, int n, int) { return {.grid = dim3(n / kThreads), .block = dim3(kThreads)}; }
