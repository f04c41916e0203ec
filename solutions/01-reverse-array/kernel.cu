// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 01: reverse an array, three times           (handouts/01-reverse-array/handout.md)
//
// Three kernels, one idea each; each is headed by what was wrong with the one before. A budget
// counts what one instruction of one warp (32 lanes) may cost: sectors are pieces of 32 bytes of
// global memory, wavefronts are passes through shared memory. kernel.cuh has the data and
// the constants.
#include "kernel.cuh"

// Stage 1: Straight from in to out
//
// Before   The CPU walks through the array once. No step needs another one's result.
// Task     One thread per element: read it, write it to its mirrored place.
// Budget   Load 4 sectors per request, store 4 (5 if the 32 positions straddle a sector).
//
//     in    [ 0  1  2  3  4  5  6  7  8  9 ]      n = 10
//             |  |  lanes load in ascending order
//     out   [ 9  8  7  6  5  4  3  2  1  0 ]
//                  and store in descending order
__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;

  // The order of the lanes does not matter: 32 positions in descending order are the same 4 sectors
  // as in ascending order.
  if (i < n) out[n - 1 - i] = in[i];
}

// Given, as an example: a launch is a grid of blocks, and a block a number of threads.
LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}

// Stage 2: Staged through shared memory
//
// Before   On the first CUDA GPUs lane k had to touch word k of a segment, or every lane paid for a
//          transaction of its own. Writing downwards broke that rule.
// Task     Reverse the block's piece in shared memory, so that both the load and the store are in
//          ascending order. The last block's piece may be shorter.
// Budget   Load 4 sectors per request, store 4 (5 where straddling). Shared memory: 1 wavefront
//          each way. Neither is better than in stage 1; what does that say about today's GPUs?
//
//     in      ... [ a b c d ] ...          this block's piece: starts at `start`, `count` long
//                   X X X X                stored in descending order
//     piece       [ d c b a ]
//                   | | | |                loaded in ascending order
//     out     ... [ d c b a ] ...          where does this piece start?
__global__ void reverse_shared(int* out, const int* in, long long n) {
  // Given: room for one int per thread. How many bytes it has is part of the launch.
  extern __shared__ int piece[];

  const long long start = static_cast<long long>(blockIdx.x) * kThreads;
  const int count = static_cast<int>(n - start < kThreads ? n - start : kThreads);
  const int place = threadIdx.x;

  if (place < count) piece[count - 1 - place] = in[start + place];

  // From here on every thread may assume that the whole piece is in shared memory.
  __syncthreads();

  // After this piece `in` has n - start - count more elements; in `out` they come first.
  const long long out_start = n - start - count;
  if (place < count) out[out_start + place] = piece[place];
}

LAUNCH_SHAPE(reverse_shared, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  shape.shared_bytes = kThreads * sizeof(int);
  return shape;
}

// Stage 3: As fast as a copy
//
// Before   Two thirds of what a copy reaches, with every sector used. There are too few bytes in
//          flight: each thread loads 4 and then has nothing more to load.
// Task     Move 16 bytes per load and per store. An int4 must lie at a multiple of 16 bytes; n may
//          be any number, and then one of the two sides is misaligned.
// Budget   Load 16 sectors per request, store 16: four times the work per instruction.
//
//     n = 8     in  [ 0  1  2  3 | 4  5  6  7 ]          both sides aligned: reverse the
//               out [ 7  6  5  4 | 3  2  1  0 ]          vectors, and the 4 ints inside each
//
//     n = 10    in  [ 0  1 |2  3  4  5 |6  7  8  9 ]     the bars: vectors, counted from the
//               out [ 9  8  7  6 | 5  4  3  2 | 1  0 ]   start of `out`; in `in` they are 2 off

// The 4 ints that start `skip` ints into the pair of vectors (low, high), in the opposite order.
inline __device__ int4 reversed(int4 low, int4 high, int skip) {
  if (skip == 1) return {high.x, low.w, low.z, low.y};
  if (skip == 2) return {high.y, high.x, low.w, low.z};
  if (skip == 3) return {high.z, high.y, high.x, low.w};
  return {low.w, low.z, low.y, low.x};
}

__global__ void reverse_vector(int* out, const int* in, long long n) {
  const int4* const in_vectors = reinterpret_cast<const int4*>(in);
  int4* const out_vectors = reinterpret_cast<int4*>(out);
  const long long count = n / kVectorInts;             // whole vectors on each side
  const int tail = static_cast<int>(n % kVectorInts);  // ints past the last of them
  const long long vector = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;

  // Vector `vector` of `out` needs the ints that end `vector` vectors before the end of `in`. They
  // start tail ints into an aligned vector of `in`, so they lie in that one and in the next.
  // The next is the one that the neighbouring lane starts with: it comes from the L1 cache, and no
  // byte is loaded twice from memory. For vector 0 there is no whole next one: see below.
  const long long from = count - 1 - vector;
  if (vector < count && (vector > 0 || tail == 0)) {
    const int4 low = in_vectors[from];
    int4 high = low;
    if (tail != 0) high = in_vectors[from + 1];
    out_vectors[vector] = reversed(low, high, tail);
  }

  // What vectors cannot do when tail is not 0: the first 4 ints of `out` (their partners lie
  // after the last whole vector of `in`) and the last tail ones.
  if (vector == 0 && tail != 0) {
    for (long long i = 0; i < kVectorInts && i < n; ++i) out[i] = in[n - 1 - i];
    for (long long i = count * kVectorInts; i < n; ++i) out[i] = in[n - 1 - i];
  }
}

LAUNCH_SHAPE(reverse_vector, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads * kVectorInts);
  return shape;
}
