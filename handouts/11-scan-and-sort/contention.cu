// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 11: a histogram of 256 bins counted in four ways, while a share of all values is the same
// one. x is 100 times the way (0: global bins, 1: bins of a block, 2: bins of a warp, 3: bins of a
// block, after the lanes of a warp with equal values have found each other) plus the share in
// percent.
//
//     ./membound experiment histogram-contention
#include "membound.cuh"

constexpr int kBlock = 512, kBlocksPerSm = 4, kValues = 256;
constexpr int kGlobal = 0, kOfWarp = 2, kMatched = 3;

// One of 256 values made of the bits of a random number: value 0 with this share.
template <int kPercent>
__device__ int value_of(float number) {
  const unsigned bits = __float_as_uint(number) * 2654435769u;
  return bits / 65536 % 100 < kPercent ? 0 : 1 + bits / 256 % 255;
}

// Adds 1 to the bin of each lane; lanes with equal bins add their number at once. All lanes of a
// warp call it together: n is a multiple of 32.
__device__ void add_matched(unsigned* bins, int value) {
  const unsigned group = __match_any_sync(0xffffffffu, value);
  const unsigned lane = threadIdx.x % 32;
  if (lane == __ffs(group) - 1) atomicAdd(bins + value, __popc(group));
}

template <int kPoint>
__global__ void histogram_contention(float* out, const float* in, int n) {
  constexpr int kWay = kPoint / 100, kPercent = kPoint % 100;
  constexpr int kSets = kWay == kOfWarp ? kBlock / 32 : 1;
  unsigned* const result = reinterpret_cast<unsigned*>(out);
  __shared__ unsigned sets[kSets * kValues];
  for (int i = threadIdx.x; i < kSets * kValues; i += kBlock) sets[i] = 0;
  __syncthreads();
  unsigned* const set = kWay == kGlobal ? result : sets + threadIdx.x / 32 % kSets * kValues;
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += gridDim.x * kBlock) {
    const int value = value_of<kPercent>(in[i]);
    if (kWay == kMatched)
      add_matched(set, value);
    else
      atomicAdd(set + value, 1u);
  }
  __syncthreads();
  if (kWay == kGlobal || threadIdx.x >= kValues) return;
  unsigned all = 0;
  for (int s = 0; s < kSets; ++s) all += sets[s * kValues + threadIdx.x];
  atomicAdd(result + threadIdx.x, all);
}

#define POINT(x) template __global__ void histogram_contention<x>(float*, const float*, int);
POINT(10)
POINT(40)
POINT(90)
POINT(110)
POINT(140)
POINT(190)
POINT(210)
POINT(240)
POINT(290)
POINT(310)
POINT(340)
POINT(390)

LAUNCH_SHAPE(histogram_contention, Gpu gpu, int, int) {
  return {.grid = dim3(gpu.sm_count * kBlocksPerSm), .block = dim3(kBlock)};
}
