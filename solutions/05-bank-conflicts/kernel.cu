// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 05: bank conflicts, five times              (handouts/05-bank-conflicts/handout.md)
//
// Five kernels whose time goes into shared memory. Word w lies in bank w mod 32; in one wavefront
// each bank serves one word, to every lane that needs it. A budget counts the wavefronts that one
// instruction of one warp may cost. kernel.cuh has the data and the constants.
#include "kernel.cuh"

// Stage 1: Odd strides
//
// Before   Running sums of many short signals, one thread each. The threads of a warp go through
//          their signals together: in every step the lanes have a stride of one signal.
// Task     Choose the stride of the signals in shared memory, for any number of samples.
// Budget   No bank conflict in any load or store of shared memory, whatever k is.
//
//     k = 4, 8 banks     lane        0  1  2  3  4  5  6  7      bank of sample 0
//                        4 apart     0  4  0  4  0  4  0  4      4 lanes need bank 0
//                        5 apart     0  5  2  7  4  1  6  3      every lane another bank
__global__ void running_sums(int* out, const int* in, int n, int k) {
  // Given: room for kSignals signals. How many bytes it has is part of the launch.
  extern __shared__ int samples[];

  // Given: the stride of two signals in `samples`, in words, where they lie as close as they can.
  int stride = k;
  // Odd numbers have no factor in common with 32, so 32 multiples of one are 32 different banks.
  stride |= 1;

  // Given: load this block's signals. Each warp takes a signal, its lanes follow the samples, and
  // then the next signal. The last block has fewer.
  const long long first = static_cast<long long>(blockIdx.x) * kSignals;
  const int signals = static_cast<int>(n - first < kSignals ? n - first : kSignals);
  const int warp = threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  for (int s = warp; s < signals; s += kSignals / kLanes) {
    for (int i = lane; i < k; i += kLanes) samples[s * stride + i] = in[(first + s) * k + i];
  }

  // From here on every thread may assume that all samples are there.
  __syncthreads();
  if (threadIdx.x < signals) {
    int sum = 0;
    for (int i = 0; i < k; ++i) {
      sum += samples[threadIdx.x * stride + i];
      samples[threadIdx.x * stride + i] = sum;
    }
  }
  // From here on every thread may assume that all sums are there.
  __syncthreads();

  // Given: write them, as the samples were read.
  for (int s = warp; s < signals; s += kSignals / kLanes) {
    for (int i = lane; i < k; i += kLanes) out[(first + s) * k + i] = samples[s * stride + i];
  }
}

LAUNCH_SHAPE(running_sums, int n, int k) {
  LaunchShape shape;
  shape.block = kSignals;
  shape.grid = ceil_div(n, kSignals);
  shape.shared_bytes = kSignals * (k | 1) * static_cast<long long>(sizeof(int));
  return shape;
}

// Stage 2: Four bytes share a word
//
// Before   A toy cipher sends every byte of the data k times through a table of 256 bytes. Which
//          entry a lane needs depends on the data, so no stride helps. In
//          2009 the rule was: no chars in shared memory, four neighbours are in one bank.
// Task     Keep the table in shared memory. Does an entry take a byte or a word?
// Budget   As few wavefronts for a lookup as one of the two can promise, whatever the data are.
//
//     256 entries, a word each:  256 words, 8 in every bank      32 lanes hit 32 of them at random
//     256 entries, a byte each:   64 words, 2 in every bank      the same, but who shares?
__global__ void look_up(int* out, const int* in, int n, int k) {
  __shared__ unsigned char table[kTableBytes];

  table[threadIdx.x] = reinterpret_cast<const unsigned char*>(in)[threadIdx.x];
  // From here on every thread may assume that the whole table is there.
  __syncthreads();

  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  const unsigned word = in[kTableWords + i];

  const unsigned key = i & 255;
  unsigned byte[4];
  for (int b = 0; b < 4; ++b) byte[b] = word >> 8 * b & 255;
  for (int pass = 0; pass < k; ++pass) {
    for (int b = 0; b < 4; ++b) byte[b] = table[byte[b] ^ key];
  }
  out[i] = static_cast<int>(byte[0] | byte[1] << 8 | byte[2] << 16 | byte[3] << 24);
}

LAUNCH_SHAPE(look_up, int n, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}

// Stage 3: Structs of two and three words
//
// Before   A struct in shared memory is read member by member, so the lanes of a warp are a struct
//          32 words. For three words that is an odd stride; for two it is not.
// Task     Multiply each struct with the next kWindow ones, member by member, and add up. Read
//          pairs as pairs; read three words as they are.
// Budget   Two words: one load of 8 bytes. Three words: three loads. No more wavefronts than these
//          many bytes need.
//
//     lane l, member 0   word 2 l, bank 2 l mod 32    lanes 0 and 16 conflict: 2 wavefronts
//     lane l, both       8 bytes: half of the warp at a time, 16 lanes and 32 banks
//     lane l, member 0   word 3 l, bank 3 l mod 32    all different
__global__ void correlate(int* out, const int* in, int n, int k) {
  alignas(8) __shared__ int words[(kThreads + kWindow) * kMostWords];

  const long long first = static_cast<long long>(blockIdx.x) * kThreads;
  const long long left = (n - first) * k;
  for (int p = threadIdx.x; p < (kThreads + kWindow) * k; p += kThreads) {
    words[p] = p < left ? in[first * k + p] : 0;
  }
  // From here on every thread may assume that all structs are there.
  __syncthreads();

  int sum = 0;
  if (k == 2) {
    const int2* const pairs = reinterpret_cast<const int2*>(words);
    const int2 own = pairs[threadIdx.x];
    for (int j = 1; j <= kWindow; ++j) {
      const int2 other = pairs[threadIdx.x + j];
      sum += own.x * other.x + own.y * other.y;
    }
  }

  if (k == 3) {
    const int* const own = words + 3 * threadIdx.x;
    const int x = own[0], y = own[1], z = own[2];
    for (int j = 1; j <= kWindow; ++j) {
      sum += x * own[3 * j] + y * own[3 * j + 1] + z * own[3 * j + 2];
    }
  }

  if (first + threadIdx.x < n) out[first + threadIdx.x] = sum;
}

LAUNCH_SHAPE(correlate, int n, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}

// Stage 4: Two results for a thread
//
// Before   A thread that computes two results reads two words in each step. Which two? On a CPU
//          they would be neighbours.
// Task     Add k samples, kDelay apart, for each result; every thread has two results.
// Budget   No bank conflict in the two loads of each step.
//
//     8 banks, lane            0  1  2  3  4  5  6  7
//     blocked, 1st word        0  2  4  6  0  2  4  6      2 t: two lanes for every second bank
//     striped, 1st word        0  1  2  3  4  5  6  7      t, and t + kThreads for the second word
__global__ void echoes(int* out, const int* in, int n, int k) {
  // Given: the samples of this block, two for each thread, and those that their echoes reach. What
  // lies past the end of `in` is 0.
  __shared__ int samples[2 * kThreads + (kMostEchoes - 1) * kDelay];
  const long long first = static_cast<long long>(blockIdx.x) * 2 * kThreads;
  for (int p = threadIdx.x; p < 2 * kThreads + (k - 1) * kDelay; p += kThreads) {
    samples[p] = first + p < n ? in[first + p] : 0;
  }
  __syncthreads();

  const int a = threadIdx.x;
  const int b = threadIdx.x + kThreads;

  int sum_a = 0, sum_b = 0;
  for (int e = 0; e < k; ++e) {
    sum_a += samples[a + e * kDelay];
    sum_b += samples[b + e * kDelay];
  }

  if (first + a < n) out[first + a] = sum_a;
  if (first + b < n) out[first + b] = sum_b;
}

LAUNCH_SHAPE(echoes, int n, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, 2 * kThreads);
  return shape;
}

// Stage 5: Rows and columns of one tile
//
// Before   A tile is filled row by row; then one warp sums its rows and another one its columns, a
//          lane for each. Along columns the lanes are neighbours; along rows their stride is
//          32 words.
// Task     No conflict in any of the three accesses, with 32 x 32 words and not one more. Padding
//          would take 32 more; what else can you change?
// Budget   No bank conflict: not in the store, nor in the loads along columns and along rows.
//
//     bank of (row, col)     plain          padded by 1    another order
//     row 0                  0 1 2 3        0 1 2 3        0 1 2 3
//     row 1                  0 1 2 3        1 2 3 0        1 0 3 2
//     row 2                  0 1 2 3        2 3 0 1        2 3 0 1
//     row 3                  0 1 2 3        3 0 1 2        3 2 1 0
__global__ void tile_sums(int* out, const int* in, int n, int k) {
  // Given: the tile of this block, the lane, and whether this warp has rows or columns to sum.
  __shared__ int tile[kTile * kTile];
  const long long block = blockIdx.x;
  const int lane = threadIdx.x % kLanes;
  const int warp = threadIdx.x / kLanes;

  // In row r the columns are renamed to col ^ r: another order of the same 32 banks in each row,
  // and in each column.
  for (int row = warp; row < k; row += kTileThreads / kLanes) {
    if (lane < k) tile[row * kTile + (lane ^ row)] = in[(block * k + row) * k + lane];
  }
  // From here on every thread may assume that the whole tile is there.
  __syncthreads();

  if (lane >= k) return;
  int sum = 0;
  if (warp == 0) {
    for (int col = 0; col < k; ++col) sum += tile[lane * kTile + (col ^ lane)];
  } else {
    for (int row = 0; row < k; ++row) sum += tile[row * kTile + (lane ^ row)];
  }
  out[(block * 2 + warp) * k + lane] = sum;
}

LAUNCH_SHAPE(tile_sums, int n, int k) {
  LaunchShape shape;
  shape.block = kTileThreads;
  shape.grid = n;
  return shape;
}
