// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 07: four ways to read a picture               (handouts/07-read-paths/handout.md)
//
// A load can go through constant memory, through L1, or through a texture unit, whose array lies in
// small tiles instead of rows. Each way suits one pattern. A budget counts what one request of a
// warp costs on its way. kernel.cuh has the data and the constants.
#include "kernel.cuh"

// Stage 1: Constant memory
//
// Before   Every pixel is developed in two steps: its level is looked up in a curve, then a
//          polynomial is evaluated. Both tables lie in global memory and in constant memory.
// Task     Read each of the two tables from where it costs least.
// Budget   Constant memory serves one word a pass, to all lanes that want it.
//
//     coefficient j      lane  0 1 2 3 ... 31   want  c[j] c[j] c[j] c[j] ... c[j]
//     curve[level]       lane  0 1 2 3 ... 31   want   17  201    4   17  ...  90
__global__ void develop(float* out, const float* in, const float* table,
                        cudaTextureObject_t picture, int width, int height, int k) {
  // Given: the pixels as one row. This thread has kEach of them, kThreads apart.
  const int pixels = width * height;
  const int first = blockIdx.x * (kEach * kThreads) + threadIdx.x;

  // TODO 1 (about 3 lines): one of the tables is wanted at another place by every lane. Bring it
  // where lanes can look up different words at once. Who has to wait for whom?

  // TODO 2 (about 4 lines): load this thread's levels into an array, with the guard, before the
  // first of them is used. `#pragma unroll` keeps the array in registers.

  // TODO 3 (about 12 lines): look them up, then evaluate the polynomials, all kEach of them in one
  // loop over the coefficients: sum = sum * v + c[j] from the last coefficient to the first. Which
  // index do the lanes of a warp have in common? Then store.
}

LAUNCH_SHAPE(develop, int width, int height, int k) {
  LaunchShape shape;
  // TODO 4 (about 2 lines): blocks of kThreads, and enough of them.
  return shape;
}

// Stage 2: A box filter
//
// Before   Each result is a sum of kTaps x kTaps pixels: 121 loads, most of which a neighbour
//          makes as well. For years such filters went through textures, whose cache kept what
//          neighbours share. Today plain loads have that cache too, and registers are better still.
// Task     A block walks down a strip of kThreads columns. A thread keeps the last kTaps pixels of
//          its column and their sum; the sum of kTaps neighbouring columns is a result.
// Budget   1 load, 1 store and kTaps words of shared memory for a result.
//
//     columns of a block    c c c c c [ r r r r ... r r r r ] c c c c c     r: has a result, too
//     thread t              sum of its last 11 rows -> sums[t];  result = sums[t - 5 .. t + 5]
__global__ void box_filter(float* out, const float* in, const float* table,
                           cudaTextureObject_t picture, int width, int height, int k) {
  // Given: two rows of sums, so that one barrier a row is enough: nobody writes into the row that
  // others still read.
  __shared__ float sums[2][kThreads];
  const int t = threadIdx.x;
  const int x = blockIdx.x * kColumns + t - kRadius;  // perhaps outside the picture
  const int first = blockIdx.y * kStripRows;
  const int last = min(first + kStripRows, height);
  const bool has_result = t >= kRadius && t < kRadius + kColumns && x < width;

  // TODO 1 (about 2 lines): the column of `in` that this thread reads: x, moved into the picture.

  // TODO 2 (about 7 lines): the kTaps pixels around row `first`, each row moved into the picture,
  // into an array, and their sum.

  for (int row = first; row < last; row += kTaps) {
    // TODO 3 (about 4 lines): load the next kTaps rows into an array: row + kRadius + 1 and so on.
    // All are under way together. Which pixel counts for one below the picture?

    // TODO 4 (about 11 lines): kTaps times, unrolled, while row + i < last: the column's sum goes
    // into sums[(row + i) % 2], a barrier, the result of kTaps sums. Then slide: the pixel after
    // the window comes in, the oldest goes out. Why may a `break` stand before the barrier here?
  }
}

LAUNCH_SHAPE(box_filter, int width, int height, int k) {
  LaunchShape shape;
  // TODO 5 (about 2 lines): blockIdx.x counts columns, blockIdx.y strips.
  return shape;
}

// Stage 3: Walks along rows, side by side
//
// Before   A run of bright pixels is found in order, so one thread takes a whole segment of a row.
//          Lanes are in neighbouring rows: each of their loads is a walk down a column, and in
//          `in` neighbours in a column are a whole row apart.
// Task     Read the pixels where neighbours in a column are neighbours in memory, too.
// Budget   16 sectors a request: 16 bytes of two rows share a sector.
//
//     in, rows:        [x x+1 x+2 x+3 x+4 x+5 x+6 x+7]        a sector: 8 pixels of one row
//     picture, tiles:  [x x+1 x+2 x+3] of row y
//                      [x x+1 x+2 x+3] of row y + 1           a sector: 4 pixels of two rows
__global__ void bright_runs(float* out, const float* in, const float* table,
                            cudaTextureObject_t picture, int width, int height, int k) {
  // TODO 1 (about 3 lines): this thread's row, and its segment. Lanes are in neighbouring rows.

  // TODO 2 (about 11 lines): walk along the segment, kFetches pixels a step: fetch them into an
  // array, so that all are under way, and only then look at them. The last segment may be shorter:
  // does a fetch need a guard?

  // TODO 3 (about 1 line): store the longest run. What is next to it in `out`?
}

LAUNCH_SHAPE(bright_runs, int width, int height, int k) {
  LaunchShape shape;
  // TODO 4 (about 2 lines): blockIdx.x counts rows, kThreads a block; blockIdx.y segments.
  return shape;
}

// Stage 4: Samples in a neighbourhood
//
// Before   Each pixel adds up kSamples pixels near it, at places that look random: no order of the
//          lanes makes their loads coalesce. What is left is that neighbours want the same
//          neighbourhood, and that a cache keeps it.
// Task     Choose which pixels a block takes, and which way it reads, so that most of its samples
//          are found in L1.
// Budget   Sectors from L2: no more than the neighbourhood of a tile has.
//
//     256 pixels of a row, k = 2       . . . . . . . . . .        16 x 16 pixels      . . . . . .
//                                      . o o o o o o o o .                            . o o o o .
//                                      . . . . . . . . . .                            . . . . . .
__global__ void sample_nearby(float* out, const float* in, const float* table,
                              cudaTextureObject_t picture, int width, int height, int k) {
  // TODO 1 (about 3 lines): this thread's pixel, in a tile of kTile x kTile. Does every thread of
  // the tiles at the edges have one?

  // TODO 2 (about 6 lines): add up kSamples pixels at sample_near(x, y, s, k). Who moves places
  // outside into the picture, your code or the texture unit? Unrolled, they are all under way.
}

LAUNCH_SHAPE(sample_nearby, int width, int height, int k) {
  LaunchShape shape;
  // TODO 3 (about 2 lines): a block in two dimensions; dim3 takes up to three.
  return shape;
}
