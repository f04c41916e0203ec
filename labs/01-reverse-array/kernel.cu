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
  // TODO 1 (about 1 line): the element of this thread, counted over all blocks. 64 bits wide.

  // TODO 2 (about 1 line): move it. Not every thread of the last block has one.
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

  // TODO 1 (about 3 lines): where this block's piece of `in` starts, how many elements it has (all
  // but the last block have kThreads), and this thread's place in it.

  // TODO 2 (about 1 line): load in ascending order, store in descending order in `count` places.

  // TODO 3 (about 1 line): this thread will write what another one has read. What must be true
  // first?

  // TODO 4 (about 2 lines): the piece's place in `out`, and the store. How many elements of `out`
  // lie before it? Try it by hand with n = 10 and blocks of 4.
}

LAUNCH_SHAPE(reverse_shared, long long n) {
  LaunchShape shape;
  // TODO 5 (about 3 lines): block and grid as in stage 1, and shape.shared_bytes.
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
__global__ void reverse_vector(int* out, const int* in, long long n) {
  // TODO 1 (about 20 lines): one thread per vector of `out`. Which elements of `in` go there? Do
  // they form a vector, too, or do they lie in two? And who writes the n % 4 elements that fill no
  // vector?
}

LAUNCH_SHAPE(reverse_vector, long long n) {
  LaunchShape shape;
  // TODO 2 (about 2 lines): a block now moves kThreads * kVectorInts elements.
  return shape;
}
