// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 14: arithmetic intensity             (handouts/14-arithmetic-intensity/handout.md)
//
// One contract, C = A * B, from two operations for each float that is loaded to as many as the
// device can do. Each stage is headed by what was wrong with the one before. A budget counts what
// one instruction of one warp (32 lanes) may cost, and how many multiply-adds a float that is
// loaded serves: a multiply-add is two operations and one instruction. kernel.cuh has the data, the
// constants and at().
#include "kernel.cuh"

// Stage 1: A matrix times a column, at the speed of the memory
//
// Before   On the CPU one core walks through the rows. Each element of `a` is used once, so no
//          cache can help: the memory's bandwidth is all there is.
// Task     n = 1: c[row] = sum of a[row][p] * b[p]. A warp takes a row, its lanes take neighbouring
//          vectors of four floats, and several loads are in flight.
// Budget   1 multiply-add for each float of `a`. 16 sectors a request where rows begin at multiples
//          of 16 bytes, and 4 lines.
//
//     a   row 0   [ lane 0 | lane 1 | ... | lane 31 | lane 0 | ... ]   warp 0
//         row 1   [ lane 0 | lane 1 | ... | lane 31 | lane 0 | ... ]   warp 1
//     b           [ the same places, for every row: from L1        ]
__global__ void gemv_rows(float* __restrict__ c, const float* __restrict__ a,
                          const float* __restrict__ b, int m, int n, int k, int lda, int ldb,
                          int ldc) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * kWarps + threadIdx.x / 32;
  if (row >= m) return;

  const float* const mine = a + at(row, 0, lda);
  float sum = 0;
  int done = 0;  // columns that the vectors took
  if (lda % 4 == 0) {
    const float4* const vectors = reinterpret_cast<const float4*>(mine);
    const float4* const b_vectors = reinterpret_cast<const float4*>(b);
#pragma unroll 4
    for (int v = lane; v < k / 4; v += 32) {
      const float4 x = vectors[v];
      const float4 y = b_vectors[v];
      sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    }
    done = k / 4 * 4;
  }
#pragma unroll 8
  for (int p = done + lane; p < k; p += 32) sum += mine[p] * b[p];

  for (int stride = 16; stride > 0; stride /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, stride);
  }
  if (lane == 0) c[row] = sum;
}

// Given, as an example: a launch is a grid of blocks, and a block a number of threads.
LAUNCH_SHAPE(gemv_rows, int m, int n, int k, int lda, int ldb, int ldc) {
  LaunchShape shape;
  shape.block = dim3(32 * kWarps);
  shape.grid = dim3(ceil_div(m, kWarps));
  return shape;
}

// Stage 2: A row times a matrix, at the same speed
//
// Before   c[col] = sum of a[p] * b[p][col] walks down the columns. A thread for each column is
//          fully coalesced and still ten times too slow: 16,384 columns are 128 threads on an SM,
//          each with one float in flight.
// Task     m = 1. A block takes kColumns columns, and kGroups groups of its threads share the rows:
//          group g has rows g, g + kGroups, ... The groups' sums meet in shared memory.
// Budget   1 multiply-add for each float of `b`; 16 sectors a request where rows begin at multiples
//          of 16 bytes.
//
//     b          64 columns                              threads 0-15 are group 0, 16-31 group 1
//     ...
//       row 0   [ group 0          ]
//       row 1   [ group 1          ]     partial[32][64]  --->  c[64]
//       ...     ...
//       row 32  [ group 0          ]     a warp reads two rows, 256 bytes of each
__global__ void __launch_bounds__(kQuads* kGroups)
    gemv_columns(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b,
                 int m, int n, int k, int lda, int ldb, int ldc) {
  // Given: the sums of the groups, a row of kColumns for each group.
  __shared__ __align__(16) float partial[kGroups][kColumns];
  const int first_col = blockIdx.x * kColumns;
  const int group = threadIdx.x / kQuads;
  const int quad = threadIdx.x % kQuads;

  float sums[4] = {};
  if (ldb % 4 == 0) {
    // The last vector of a row may reach into the gap, which can be read; its sums are not used.
    const int col = first_col + 4 * quad;
    if (col < n) {
#pragma unroll 8
      for (int p = group; p < k; p += kGroups) {
        const float4 four = *reinterpret_cast<const float4*>(b + at(p, col, ldb));
        const float x = a[p];
        sums[0] += x * four.x;
        sums[1] += x * four.y;
        sums[2] += x * four.z;
        sums[3] += x * four.w;
      }
    }
    for (int i = 0; i < 4; ++i) partial[group][4 * quad + i] = sums[i];
  } else {
    // Threads without a column read the last one, so that no guard stands beside a load.
    const float* from[4];
    for (int i = 0; i < 4; ++i) from[i] = b + min(first_col + quad + i * kQuads, n - 1);
#pragma unroll 4
    for (int p = group; p < k; p += kGroups) {
      const float x = a[p];
      for (int i = 0; i < 4; ++i) sums[i] += x * from[i][at(p, 0, ldb)];
    }
    for (int i = 0; i < 4; ++i) partial[group][quad + i * kQuads] = sums[i];
  }

  // From here on every thread may assume that the sums of all groups are there.
  __syncthreads();
  const int col = first_col + threadIdx.x;
  if (threadIdx.x < kColumns && col < n) {
    float sum = 0;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) sum += partial[g][threadIdx.x];
    c[col] = sum;
  }
}

LAUNCH_SHAPE(gemv_columns, int m, int n, int k, int lda, int ldb, int ldc) {
  LaunchShape shape;
  shape.block = dim3(kQuads * kGroups);
  shape.grid = dim3(ceil_div(n, kColumns));
  return shape;
}

// Stage 3: A matrix times a matrix, one result a thread
//
// Before   Half an operation for each byte, whatever the kernel does: there is nothing to use
//          twice. A product of two matrices has k multiply-adds for each result, and uses every
//          element of `a` n times and every element of `b` m times. Who keeps it until then?
// Task     A thread for each result, in blocks of kTile x kRows; a loop over p. Caches do the rest.
// Budget   2 loads for 1 multiply-add. a[row][p]: 1 sector a request (one word for all lanes);
//          b[p][col]: 4 sectors or 5 (32 neighbours).
//
//          b      | col
//                 | p
//                 v
//     a  p --->   c [row][col]
__global__ void gemm_naive(float* __restrict__ c, const float* __restrict__ a,
                           const float* __restrict__ b, int m, int n, int k, int lda, int ldb,
                           int ldc) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;

  float sum = 0;
  for (int p = 0; p < k; ++p) {
    sum += a[at(row, p, lda)] * b[at(p, col, ldb)];
  }
  c[at(row, col, ldc)] = sum;
}

LAUNCH_SHAPE(gemm_naive, int m, int n, int k, int lda, int ldb, int ldc) {
  LaunchShape shape;
  shape.block = dim3(kTile, kRows);
  shape.grid = dim3(ceil_div(n, kTile), ceil_div(m, kRows));
  return shape;
}

// Stage 4: Tiles in shared memory
//
// Before   A block of 32 x 8 results asks for 32 + 8 floats for 256 multiply-adds, and every thread
//          asks for its two itself.
// Task     A block of 32 x 32 results, and tiles of 32 x 32 of both matrices in shared memory: each
//          float that comes from global memory serves 32 multiply-adds of the block.
// Budget   Global memory: 2 loads a thread for 32 multiply-adds, 4 sectors or 5 a request. Shared
//          memory: 2 loads for 1 multiply-add, 1 wavefront each. 2 barriers a tile.
//
//     a  [ . . [tile] . . ]     b  [ . .  .   . . ]
//                                  [ . . [tile] . ]     both move on by 32, k / 32 times
__global__ void __launch_bounds__(kTile* kTile)
    gemm_shared(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b,
                int m, int n, int k, int lda, int ldb, int ldc) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;

  for (int first = 0; first < k; first += kTile) {
    const int a_col = first + threadIdx.x;
    const int b_row = first + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < m && a_col < k ? a[at(row, a_col, lda)] : 0;
    tile_b[threadIdx.y][threadIdx.x] = b_row < k && col < n ? b[at(b_row, col, ldb)] : 0;
    // From here on every thread may assume that both tiles are filled.
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kTile; ++p) sum += tile_a[threadIdx.y][p] * tile_b[p][threadIdx.x];
    // From here on every thread may assume that no thread reads these tiles any more.
    __syncthreads();
  }

  if (row < m && col < n) c[at(row, col, ldc)] = sum;
}

LAUNCH_SHAPE(gemm_shared, int m, int n, int k, int lda, int ldb, int ldc) {
  LaunchShape shape;
  shape.block = dim3(kTile, kTile);
  shape.grid = dim3(ceil_div(n, kTile), ceil_div(m, kTile));
  return shape;
}

// Stage 5: Blocks of results in registers
//
// Before   Shared memory answers one request a cycle, and an SM could do four multiply-adds in it:
//          two loads for one multiply-add leave 7 of 8 idle.
// Task     8 x 8 results a thread. For one p a thread loads 8 floats of `a` and 8 of `b` and
//          multiplies each with each: 64 multiply-adds for 16 loads.
// Budget   Global memory: 8 loads a thread for 512 multiply-adds. Shared memory: 16 loads for 64
//          multiply-adds, 1 wavefront each; stores without a conflict. 2 barriers a panel of 8.
//
//     panel_a [8][128 + ?]   a turned: row p has column p of the block's 128 rows of `a`
//     panel_b [8][128]       8 rows of `b`, 128 columns
//
//     a thread (x, y) has the results in column x and row y of each 16 x 16 square:
//              +--------+--------+---
//            y |  *     |  *     |  *
//              +--------+--------+---
__global__ void __launch_bounds__(kThreads* kThreads, 2)
    gemm_registers(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b,
                   int m, int n, int k, int lda, int ldb, int ldc) {
  constexpr int kPadded = kWideTile + 4;  // bank 4 * p + row: 8 times 4 different ones

  __shared__ float panel_a[kPanel][kPadded];
  __shared__ float panel_b[kPanel][kWideTile];
  const int first_row = blockIdx.y * kWideTile;
  const int first_col = blockIdx.x * kWideTile;
  const int thread = threadIdx.y * kThreads + threadIdx.x;
  float sums[kEach][kEach] = {};

  for (int first = 0; first < k; first += kPanel) {
    const int a_col = thread % kPanel;
    const int b_col = thread % kWideTile;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = thread / kPanel + i * 32;
      const bool is_there = first_row + row < m && first + a_col < k;
      panel_a[a_col][row] = is_there ? a[at(first_row + row, first + a_col, lda)] : 0;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = thread / kWideTile + i * 2;
      const bool is_there = first + row < k && first_col + b_col < n;
      panel_b[row][b_col] = is_there ? b[at(first + row, first_col + b_col, ldb)] : 0;
    }
    // From here on every thread may assume that both panels are filled.
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kPanel; ++p) {
      float of_a[kEach];
      float of_b[kEach];
      for (int i = 0; i < kEach; ++i) of_a[i] = panel_a[p][threadIdx.y + i * kThreads];
      for (int j = 0; j < kEach; ++j) of_b[j] = panel_b[p][threadIdx.x + j * kThreads];
      for (int i = 0; i < kEach; ++i) {
        for (int j = 0; j < kEach; ++j) sums[i][j] += of_a[i] * of_b[j];
      }
    }
    // From here on every thread may assume that no thread reads these panels any more.
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int row = first_row + threadIdx.y + i * kThreads;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int col = first_col + threadIdx.x + j * kThreads;
      if (row < m && col < n) c[at(row, col, ldc)] = sums[i][j];
    }
  }
}

LAUNCH_SHAPE(gemm_registers, int m, int n, int k, int lda, int ldb, int ldc) {
  LaunchShape shape;
  shape.block = dim3(kThreads, kThreads);
  shape.grid = dim3(ceil_div(n, kWideTile), ceil_div(m, kWideTile));
  return shape;
}

// Stage 6: As fast as the device without tensor cores
//
// Before   16 loads of 4 bytes beside 64 multiply-adds, guards beside every load, and at each of
//          two barriers all warps wait, for a panel whose loads were issued only now.
// Task     Loads of 16 bytes from both memories, a warp that has a tile of its own, two panels in
//          turn: the next one is in flight while this one is used. Then everything is yours; only
//          the results and the time are graded.
// Budget   4 loads of 16 bytes for 64 multiply-adds, 2 wavefronts each. 1 barrier a panel of 16. No
//          guard inside the loop: rows and columns beyond the edge read some that exist, and their
//          results are not stored; what is left of k after the last whole panel comes afterwards.
//
//     a warp's 32 lanes over 4 x 8 groups of 4 x 4 results:   column group:  lane bits 0, 2, 3
//        lanes   0  1  4  5  8  9 12 13                       row group:     lane bits 1, 4
//                2  3  6  7 10 11 14 15                       n and n ^ 1 share the floats of `a`,
//               16 17 20 21 24 25 28 29                       n and n ^ 2 those of `b`:
//               18 19 22 23 26 27 30 31                       2 wavefronts a load

inline constexpr int kFastThreads = 256;  // 8 warps, 2 across and 4 down
inline constexpr int kFastTile = 128;     // a block has kFastTile x kFastTile results
inline constexpr int kHalf =
    kFastTile / 2;                 // from a thread's first four rows or columns to the others
inline constexpr int kDepth = 16;  // of a panel
inline constexpr int kStep = 8;    // of the half of a panel that is in flight at a time
inline constexpr int kTurned = kFastTile + 4;  // a row of the turned panel, with its padding

// Two panels of both matrices, in turn.
struct FastPanels {
  float a[2][kDepth][kTurned];  // turned: [p][row]
  float b[2][kDepth][kFastTile];
};

inline __device__ void load_four(float* to, const float* from) {
  *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

// What one thread loads of kStep columns of `a` and kStep rows of `b`: four floats of each. Rows
// and columns beyond the edge are others that exist: what becomes of them is never stored.
template <bool kVectors>
struct FastLoads {
  const float* from_a;  // both move on with k
  const float* from_b;
  long long step_b;
  int off_a[4], off_b[4];              // without vectors: of each of the four floats
  int depth_a, row_a, depth_b, col_b;  // where they belong in a panel

  __device__ FastLoads(const float* a, const float* b, int m, int n, int lda, int ldb) {
    const int t = threadIdx.x;
    const int row0 = blockIdx.y * kFastTile;
    const int col0 = blockIdx.x * kFastTile;
    // With vectors: two lanes for the eight columns of a row of `a`, a warp for a row of `b`.
    // Without: eight lanes for a row of `a`, and the four floats lie 32 rows or columns apart.
    depth_a = kVectors ? t % 2 * 4 : t % kStep;
    row_a = kVectors ? t / 2 : t / kStep;
    depth_b = t / 32;
    col_b = kVectors ? t % 32 * 4 : t % 32;
    from_a = a + at(row0, depth_a, lda);
    from_b = b + at(depth_b, col0, ldb);
    step_b = at(kStep, 0, ldb);
    const int last_row = m - 1 - row0;
    const int last_col = n - 1 - col0;
    for (int i = 0; i < 4; ++i) {
      off_a[i] = min(row_a + 32 * i, last_row) * lda;
      off_b[i] = min(col_b + 32 * i, last_col);
    }
    if (kVectors) {
      from_a += off_a[0];
      from_b += col_b <= last_col ? col_b : 0;
    }
  }

  // The floats of the next kStep columns and rows.
  __device__ void load(float (&next_a)[4], float (&next_b)[4]) {
    if (kVectors) {
      load_four(next_a, from_a);
      load_four(next_b, from_b);
    } else {
      for (int i = 0; i < 4; ++i) next_a[i] = from_a[off_a[i]];
      for (int i = 0; i < 4; ++i) next_b[i] = from_b[off_b[i]];
    }
    from_a += kStep;
    from_b += step_b;
  }

  // The same where only `left` columns of `a` and rows of `b` are left: zeros for the others.
  __device__ void load_last(int left, float (&next_a)[4], float (&next_b)[4]) {
    for (int i = 0; i < 4; ++i) {
      next_a[i] = depth_a + (kVectors ? i : 0) < left ? from_a[kVectors ? i : off_a[i]] : 0;
      next_b[i] = depth_b < left ? from_b[kVectors ? i : off_b[i]] : 0;
    }
    from_a += kStep;
    from_b += step_b;
  }

  // Into the panels of `turn`, from depth `step` on.
  __device__ void store(FastPanels& panels, int turn, int step, const float (&next_a)[4],
                        const float (&next_b)[4]) const {
    for (int i = 0; i < 4; ++i) {
      if (kVectors) {
        panels.a[turn][step + depth_a + i][row_a] = next_a[i];
      } else {
        panels.a[turn][step + depth_a][row_a + 32 * i] = next_a[i];
        panels.b[turn][step + depth_b][col_b + 32 * i] = next_b[i];
      }
    }
    if (kVectors) load_four(&panels.b[turn][step + depth_b][col_b], next_b);
  }
};

// 64 multiply-adds. To and fro: the last float of `b` is used again at once.
inline __device__ void multiply_add(float (&sums)[8][8], const float (&of_a)[8],
                                    const float (&of_b)[8]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int col = i % 2 == 0 ? j : 7 - j;
      sums[i][col] += of_a[i] * of_b[col];
    }
  }
}

// This thread's eight floats of each matrix for one p.
inline __device__ void load_eight(float (&of_a)[8], float (&of_b)[8], const float* in_a,
                                  const float* in_b) {
  load_four(&of_a[0], in_a);
  load_four(&of_a[4], in_a + kHalf);
  load_four(&of_b[0], in_b);
  load_four(&of_b[4], in_b + kHalf);
}

template <bool kVectors>
__device__ void fast_sums(float (&sums)[8][8], FastPanels& panels, const float* a, const float* b,
                          int m, int n, int k, int lda, int ldb, int row, int col) {
  FastLoads<kVectors> loads(a, b, m, n, lda, ldb);
  float next_a[4];
  float next_b[4];
  const int whole = k / kDepth * kDepth;  // of k, in whole panels
  int now = 0;
  if (whole > 0) {
#pragma unroll
    for (int step = 0; step < kDepth; step += kStep) {
      loads.load(next_a, next_b);
      loads.store(panels, 0, step, next_a, next_b);
    }
    // From here on every thread may assume that the first panels are filled.
    __syncthreads();
    float of_a[2][8];
    float of_b[2][8];
    load_eight(of_a[0], of_b[0], &panels.a[0][0][row], &panels.b[0][0][col]);
    for (int first = kDepth; first <= whole; first += kDepth) {
      const bool more = first < whole;
#pragma unroll
      for (int p = 0; p < kDepth; ++p) {
        if (more && p % kStep == 0) loads.load(next_a, next_b);
        if (more && p % kStep == kStep - 1)
          loads.store(panels, 1 - now, p / kStep * kStep, next_a, next_b);
        if (p == kDepth - 1) {
          now = 1 - now;
          // From here on every thread may assume that the next panels are filled, and that no
          // thread reads those before them any more: their last floats are in registers.
          __syncthreads();
        }
        const int soon = (p + 1) % kDepth;
        if (soon != 0 || more) {
          load_eight(of_a[(p + 1) % 2], of_b[(p + 1) % 2], &panels.a[now][soon][row],
                     &panels.b[now][soon][col]);
        }
        multiply_add(sums, of_a[p % 2], of_b[p % 2]);
      }
    }
  }
  // What is left of k, at most one panel, into the panels that no thread reads.
  if (whole == k) return;
  for (int step = 0; step < kDepth; step += kStep) {
    loads.load_last(k - whole - step, next_a, next_b);
    loads.store(panels, 1 - now, step, next_a, next_b);
  }
  // From here on every thread may assume that the last panels are filled.
  __syncthreads();
  for (int p = 0; p < k - whole; ++p) {
    float of_a[8];
    float of_b[8];
    load_eight(of_a, of_b, &panels.a[1 - now][p][row], &panels.b[1 - now][p][col]);
    multiply_add(sums, of_a, of_b);
  }
}

// The bounds promise two blocks on a multiprocessor: 128 registers a thread.
__global__ void __launch_bounds__(256, 2)
    gemm_fast(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b,
              int m, int n, int k, int lda, int ldb, int ldc) {
  __shared__ __align__(16) FastPanels panels;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  // Column group from lane bits 0, 2 and 3, row group from bits 1 and 4.
  const int row = warp / 2 * 16 + (lane / 16 * 2 + lane / 2 % 2) * 4;
  const int col = warp % 2 * 32 + (lane / 4 % 4 * 2 + lane % 2) * 4;
  float sums[8][8] = {};
  if (lda % 4 == 0 && ldb % 4 == 0) {
    fast_sums<true>(sums, panels, a, b, m, n, k, lda, ldb, row, col);
  } else {
    fast_sums<false>(sums, panels, a, b, m, n, k, lda, ldb, row, col);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int my_row = blockIdx.y * kFastTile + row + i / 4 * kHalf + i % 4;
    if (my_row >= m) continue;
#pragma unroll
    for (int j = 0; j < 8; j += 4) {
      const int my_col = blockIdx.x * kFastTile + col + j / 4 * kHalf;
      float* const to = c + at(my_row, my_col, ldc);
      if (ldc % 4 == 0 && my_col + 3 < n) {
        *reinterpret_cast<float4*>(to) =
            make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
      } else {
#pragma unroll
        for (int f = 0; f < 4; ++f) {
          if (my_col + f < n) to[f] = sums[i][j + f];
        }
      }
    }
  }
}

LAUNCH_SHAPE(gemm_fast, int m, int n, int k, int lda, int ldb, int ldc) {
  LaunchShape shape;
  shape.block = dim3(kFastThreads);
  shape.grid = dim3(ceil_div(n, kFastTile), ceil_div(m, kFastTile));
  return shape;
}

// Stage 7: A whole program, from an empty file
//
// Before   Somebody else has launched your kernels: the grid, shared memory, checks and clock were
//          given.
// Task     Everything below is yours: a kernel `multiply` of your own (stage 4's idea is enough)
//          whose tiles are in dynamic shared memory, and the program around it. It reads "a", "b"
//          and "sizes", multiplies on the device, compares with a product that the CPU computes,
//          and writes "c".
// Demands  A launch in two dimensions with dynamic shared memory. Every call is checked, and the
//          launch. The time is taken by events around the launch, and printed with the rate that
//          follows, in ms and GB/s. A result that differs from the CPU's ends the program with 1.
//          All memory is freed.
//
//     host      a, b ---.                            .---> c   <-- compared --> product of the CPU
//                       | cudaMemcpy      cudaMemcpy |
//     device            '--> d_a, d_b --> d_c -------'
//                              multiply<<<dim3 grid, dim3 block, bytes>>>
#ifdef MEMBOUND_PROGRAM
#include "program.hpp"

// Given: the name and the parameters of your kernel.
__global__ void multiply(float* c, const float* a, const float* b, int m, int n, int k);

#include <cmath>
#include <cstdio>
#include <cstdlib>

// Ends the program after a failed call, and says which one and where.
#define CHECK_CUDA(call)                                                                    \
  do {                                                                                      \
    const cudaError_t code = (call);                                                        \
    if (code != cudaSuccess) {                                                              \
      std::fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(code)); \
      std::exit(1);                                                                         \
    }                                                                                       \
  } while (false)

// Tiles of blockDim.x x blockDim.x, both in the dynamic shared memory of the launch.
__global__ void multiply(float* c, const float* a, const float* b, int m, int n, int k) {
  extern __shared__ float tiles[];
  const int side = blockDim.x;
  float* const tile_a = tiles;
  float* const tile_b = tiles + side * side;
  const int row = blockIdx.y * side + threadIdx.y;
  const int col = blockIdx.x * side + threadIdx.x;
  const int place = threadIdx.y * side + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < k; first += side) {
    const int a_col = first + threadIdx.x;
    const int b_row = first + threadIdx.y;
    tile_a[place] = row < m && a_col < k ? a[at(row, a_col, k)] : 0;
    tile_b[place] = b_row < k && col < n ? b[at(b_row, col, n)] : 0;
    // From here on every thread may assume that both tiles are filled.
    __syncthreads();
    for (int p = 0; p < side; ++p)
      sum += tile_a[threadIdx.y * side + p] * tile_b[p * side + threadIdx.x];
    // From here on every thread may assume that no thread reads these tiles any more.
    __syncthreads();
  }
  if (row < m && col < n) c[at(row, col, n)] = sum;
}

// How many results differ from the product that the CPU computes, by more than rounding can
// explain: each of k products and k sums is rounded to 24 bits.
long long count_wrong(const std::vector<float>& c, const std::vector<float>& a,
                      const std::vector<float>& b, int m, int n, int k) {
  long long wrong = 0;
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      double on_cpu = 0;
      double magnitudes = 0;
      for (int p = 0; p < k; ++p) {
        const double term = static_cast<double>(a[at(row, p, k)]) * b[at(p, col, n)];
        on_cpu += term;
        magnitudes += std::fabs(term);
      }
      const double allowed = magnitudes * (k + 1) / (1 << 24);
      // Not "> allowed": a NaN is neither.
      if (!(std::fabs(c[at(row, col, n)] - on_cpu) <= allowed)) ++wrong;
    }
  }
  return wrong;
}

int main(int argc, char** argv) {
  const membound::Program program(argc, argv);
  const std::vector<float> a = program.read<float>("a");
  const std::vector<float> b = program.read<float>("b");
  const std::vector<int> sizes = program.read<int>("sizes");
  const int m = sizes[0];
  const int n = sizes[1];
  const int k = sizes[2];
  std::vector<float> c(at(m, 0, n));
  const std::size_t a_bytes = a.size() * sizeof(float);
  const std::size_t b_bytes = b.size() * sizeof(float);
  const std::size_t c_bytes = c.size() * sizeof(float);

  float *d_a, *d_b, *d_c;
  CHECK_CUDA(cudaMalloc(&d_a, a_bytes));
  CHECK_CUDA(cudaMalloc(&d_b, b_bytes));
  CHECK_CUDA(cudaMalloc(&d_c, c_bytes));
  CHECK_CUDA(cudaMemcpy(d_a, a.data(), a_bytes, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(d_b, b.data(), b_bytes, cudaMemcpyHostToDevice));
  cudaEvent_t before, after;
  CHECK_CUDA(cudaEventCreate(&before));
  CHECK_CUDA(cudaEventCreate(&after));

  constexpr int kSide = 16;
  const dim3 block(kSide, kSide);
  const dim3 grid((n + kSide - 1) / kSide, (m + kSide - 1) / kSide);
  constexpr std::size_t kTileBytes = kSide * kSide * sizeof(float);
  CHECK_CUDA(cudaEventRecord(before));
  if (m > 0 && n > 0) {
    multiply<<<grid, block, 2 * kTileBytes>>>(d_c, d_a, d_b, m, n, k);
    CHECK_CUDA(cudaGetLastError());
  }
  CHECK_CUDA(cudaEventRecord(after));
  CHECK_CUDA(cudaEventSynchronize(after));
  float milliseconds = 0;
  CHECK_CUDA(cudaEventElapsedTime(&milliseconds, before, after));
  CHECK_CUDA(cudaMemcpy(c.data(), d_c, c_bytes, cudaMemcpyDeviceToHost));

  const std::size_t bytes = a_bytes + b_bytes + c_bytes;
  std::printf("m = %d, n = %d, k = %d in %.4f ms, %.1f GB/s\n", m, n, k, milliseconds,
              1e-6 * static_cast<double>(bytes) / milliseconds);
  const long long wrong = count_wrong(c, a, b, m, n, k);
  std::printf("%lld results differ from the CPU's\n", wrong);
  program.write("c", c);

  CHECK_CUDA(cudaEventDestroy(before));
  CHECK_CUDA(cudaEventDestroy(after));
  CHECK_CUDA(cudaFree(d_a));
  CHECK_CUDA(cudaFree(d_b));
  CHECK_CUDA(cudaFree(d_c));
  return wrong == 0 ? 0 : 1;
}
#endif
