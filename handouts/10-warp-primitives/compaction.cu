// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 10: three ways to give the kept numbers of an array their places, over the share that is
// kept. x is that share in numbers of a thousand. Which numbers are kept follows from their
// indices, so that the data does not matter; the counter goes on from launch to launch, and places
// wrap at n, a power of two.
//
//     ./membound experiment atomic-a-thread   # and -warp, and -block
#include "membound.cuh"

namespace {

__device__ unsigned places;

constexpr int kBlock = 256;   // threads of a block
constexpr int kOfBlock = 16;  // numbers of a thread, where it has several

/// About x of a thousand numbers, spread evenly.
template <int x>
__device__ bool is_kept(unsigned i) {
  return (i * 2654435761u >> 12) % 1000u < static_cast<unsigned>(x);
}

}  // namespace

#define POINT(kernel, x) template __global__ void kernel<x>(float*, const float*, int);
#define POINTS(kernel) \
  POINT(kernel, 1)     \
  POINT(kernel, 3)     \
  POINT(kernel, 10) POINT(kernel, 30) POINT(kernel, 100) POINT(kernel, 300) POINT(kernel, 1000)

/// Each kept number asks for its place. The compiler joins what the lanes of a warp ask of one word
/// into one operation, unless it cannot know that the word is one: `apart` is 0.
template <int x>
__global__ void atomic_a_thread(float* out, const float* in, int n) {
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  const float number = in[i];
  const int apart = static_cast<int>(threadIdx.x) & (n == 0 ? 1 : 0);
  if (is_kept<x>(i)) out[atomicAdd(&places + apart, 1) & (n - 1)] = number;
}

POINTS(atomic_a_thread)

LAUNCH_SHAPE(atomic_a_thread, int n, int x) {
  return {.grid = dim3(n / kBlock), .block = dim3(kBlock)};
}

/// The first lane that keeps its number asks for all lanes that do.
template <int x>
__global__ void atomic_a_warp(float* out, const float* in, int n) {
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  const float number = in[i];
  const bool kept = is_kept<x>(i);
  const unsigned votes = __ballot_sync(0xffffffffu, kept);
  if (votes == 0) return;
  const int lane = static_cast<int>(threadIdx.x % 32), first = __ffs(static_cast<int>(votes)) - 1;
  unsigned place = 0;
  if (lane == first) place = atomicAdd(&places, static_cast<unsigned>(__popc(votes)));
  place = __shfl_sync(0xffffffffu, place, first);
  if (kept) out[(place + __popc(votes & ((1u << lane) - 1))) & (n - 1)] = number;
}

POINTS(atomic_a_warp)

LAUNCH_SHAPE(atomic_a_warp, int n, int x) {
  return {.grid = dim3(n / kBlock), .block = dim3(kBlock)};
}

/// A counter in shared memory gives each kept number a place in the block, and one thread asks for
/// the block, which takes kOfBlock numbers for each of its threads.
template <int x>
__global__ void atomic_a_block(float* out, const float* in, int n) {
  __shared__ unsigned of_block, first_place;
  if (threadIdx.x == 0) of_block = 0;
  const unsigned begin = blockIdx.x * (kBlock * kOfBlock) + threadIdx.x;
  float number[kOfBlock];
#pragma unroll
  for (int e = 0; e < kOfBlock; ++e) number[e] = in[begin + e * kBlock];
  __syncthreads();
  unsigned place[kOfBlock];
#pragma unroll
  for (int e = 0; e < kOfBlock; ++e)
    place[e] = is_kept<x>(begin + e * kBlock) ? atomicAdd(&of_block, 1) : n;
  __syncthreads();
  if (threadIdx.x == 0) first_place = atomicAdd(&places, of_block);
  __syncthreads();
#pragma unroll
  for (int e = 0; e < kOfBlock; ++e)
    if (place[e] < n) out[(first_place + place[e]) & (n - 1)] = number[e];
}

POINTS(atomic_a_block)

LAUNCH_SHAPE(atomic_a_block, int n, int x) {
  return {.grid = dim3(n / (kBlock * kOfBlock)), .block = dim3(kBlock)};
}
