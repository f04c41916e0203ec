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

  // A lookup of a warp takes one pass of L1 for each bank that is wanted twice, not one for each
  // word.
  __shared__ float curve[kLevels];
  for (int level = threadIdx.x; level < kLevels; level += kThreads) curve[level] = table[level];
  __syncthreads();  // from here on every thread may look up any level

  float v[kEach];
#pragma unroll
  for (int e = 0; e < kEach; ++e)
    if (first + e * kThreads < pixels) v[e] = in[first + e * kThreads];

  float sum[kEach];
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    if (first + e * kThreads < pixels) v[e] = curve[static_cast<int>(v[e])];
    sum[e] = 0;
  }
  // j is the same in every lane: one word of constant memory serves the warp, kEach times.
  for (int j = k - 1; j >= 0; --j) {
    const float c = constants[kLevels + j];
#pragma unroll
    for (int e = 0; e < kEach; ++e) sum[e] = sum[e] * v[e] + c;
  }
#pragma unroll
  for (int e = 0; e < kEach; ++e)
    if (first + e * kThreads < pixels) out[first + e * kThreads] = sum[e];
}

LAUNCH_SHAPE(develop, int width, int height, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(width * height, kEach * kThreads);
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

  const float* const column = in + min(max(x, 0), width - 1);
  const auto pixel = [&](int row) { return column[min(max(row, 0), height - 1) * width]; };

  float window[kTaps];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kTaps; ++i) window[i] = pixel(first - kRadius + i);
#pragma unroll
  for (int i = 0; i < kTaps; ++i) sum += window[i];

  for (int row = first; row < last; row += kTaps) {
    float next[kTaps];
#pragma unroll
    for (int i = 0; i < kTaps; ++i) next[i] = pixel(row + kRadius + 1 + i);

#pragma unroll
    for (int i = 0; i < kTaps; ++i) {
      if (row + i >= last) break;  // for all threads of the block, so that none waits alone
      float* const row_of_sums = sums[(row + i) % 2];
      row_of_sums[t] = sum;
      __syncthreads();  // all sums of this row are there, and nobody reads the row before any more
      if (has_result) {
        float box = 0;
#pragma unroll
        for (int tap = -kRadius; tap <= kRadius; ++tap) box += row_of_sums[t + tap];
        out[(row + i) * width + x] = box;
      }
      sum += next[i] - window[i];
      window[i] = next[i];
    }
  }
}

LAUNCH_SHAPE(box_filter, int width, int height, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = dim3(ceil_div(width, kColumns), ceil_div(height, kStripRows));
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
  const int y = blockIdx.x * kThreads + threadIdx.x;
  const int segment = blockIdx.y;
  if (y >= height) return;

  const int begin = segment * k, end = min(begin + k, width);
  int run = 0, longest = 0;
  for (int x = begin; x < end; x += kFetches) {
    float pixels[kFetches];
#pragma unroll
    for (int i = 0; i < kFetches; ++i) pixels[i] = tex2D<float>(picture, x + i + 0.5f, y + 0.5f);
#pragma unroll
    for (int i = 0; i < kFetches; ++i) {
      run = x + i < end && pixels[i] >= kBright ? run + 1 : 0;
      longest = max(longest, run);
    }
  }

  out[segment * height + y] = longest;
}

LAUNCH_SHAPE(bright_runs, int width, int height, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = dim3(ceil_div(height, kThreads), ceil_div(width, k));
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
  const int x = blockIdx.x * kTile + threadIdx.x;
  const int y = blockIdx.y * kTile + threadIdx.y;
  if (x >= width || y >= height) return;

  float sum = 0;
#pragma unroll
  for (int s = 0; s < kSamples; ++s) {
    const int2 place = sample_near(x, y, s, k);
    sum += tex2D<float>(picture, place.x + 0.5f, place.y + 0.5f);
  }
  out[y * width + x] = sum;
}

LAUNCH_SHAPE(sample_nearby, int width, int height, int k) {
  LaunchShape shape;
  shape.block = dim3(kTile, kTile);
  shape.grid = dim3(ceil_div(width, kTile), ceil_div(height, kTile));
  return shape;
}
