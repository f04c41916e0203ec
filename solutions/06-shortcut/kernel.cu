// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 06: shortcuts (the min-plus product), six times            (handouts/06-shortcut/handout.md)
//
// Six kernels, one idea each; each is headed by what was wrong with the one before. A budget
// counts what one instruction of one warp (32 lanes) may cost: sectors are pieces of 32 bytes of
// global memory, wavefronts are passes through shared memory; and how many values a thread loads
// for its additions and minima. kernel.cuh has the data, the constants, at() and padded_size().
#include "kernel.cuh"

// Stage 1: One result per thread
//
// Before   The CPU walks three nested loops. No result needs another one.
// Task     Give every result to a thread of its own; the inner loop, over `via`, stays a loop.
// Budget   2 loads for 1 addition and 1 minimum. One of the two loads takes 16 sectors per request:
//          far too many, and that is fine for now.
//
//     d                      d                       r
//     from [ via ------> ]       [ via | ]       from [   .   ]
//          [             ]       [     | ]            [       ]
//          [             ]       [     v ]            [       ]
//                                   to                    to
__global__ void minplus_direct(float* r, const float* d, int n) {
  // Given: this thread's result. Blocks at the edges extend beyond the matrix; surplus threads
  // have nothing to do. (Is it wise to let threadIdx.x choose the row? That is for stage 2.)
  const int from = blockIdx.x * blockDim.x + threadIdx.x;
  const int to = blockIdx.y * blockDim.y + threadIdx.y;
  if (from >= n || to >= n) return;

  float best = kNoRoad;

  for (int via = 0; via < n; ++via) {
    best = fminf(best, d[at(from, via, n)] + d[at(via, to, n)]);
  }
  r[at(from, to, n)] = best;
}

// Given, as an example: a launch is a grid of blocks, and a block a number of threads.
LAUNCH_SHAPE(minplus_direct, int n) {
  LaunchShape shape;
  shape.block = dim3(kBlock, kBlock);
  shape.grid = dim3(ceil_div(n, kBlock), ceil_div(n, kBlock));
  return shape;
}

// Stage 2: Neighbours read neighbours
//
// Before   Lanes of a warp follow each other along x, and x chose the row: 16 lanes read from 16
//          different rows, with a stride of n * 4 bytes.
// Task     The same kernel, with a warp that lies along a row of the results.
// Budget   2 loads for 1 addition and 1 minimum. d[from][via]: 2 sectors per request (the same word
//          for 16 lanes); d[via][to]: 2 sectors (16 neighbours).
//
//     lanes      0  1  2 ... 15 |16 17 ... 31       a warp: two rows of a block of 16 x 16
//     row        3  3  3      3 | 4  4      4       which of these is threadIdx.x?
//     column     0  1  2     15 | 0  1     15
__global__ void minplus_coalesced(float* r, const float* d, int n) {
  const int from = blockIdx.y * blockDim.y + threadIdx.y;
  const int to = blockIdx.x * blockDim.x + threadIdx.x;

  if (from >= n || to >= n) return;
  float best = kNoRoad;
  for (int via = 0; via < n; ++via) {
    best = fminf(best, d[at(from, via, n)] + d[at(via, to, n)]);
  }
  r[at(from, to, n)] = best;
}

LAUNCH_SHAPE(minplus_coalesced, int n) {
  LaunchShape shape;
  shape.block = dim3(kBlock, kBlock);
  shape.grid = dim3(ceil_div(n, kBlock), ceil_div(n, kBlock));
  return shape;
}

// Stage 3: Many results per thread
//
// Before   Two loads for two operations. Caches answer most of them, but the load units take one
//          request at a time, and the arithmetic units wait.
// Task     8 x 8 results per thread, all in registers. For each `via` a thread loads 8 costs on the
//          way in and 8 on the way out, and combines every one with every other: 64 times 2
//          operations for 16 loads.
// Budget   16 loads for 64 additions and 64 minima. No local memory: every index into the 8 x 8
//          results must be known when the loops are unrolled.
//
//     a block of 8 x 8 threads has 64 x 64 results; thread (x, y) has those in column x and row y
//     of each 8 x 8 square:
//
//              +--------+--------+---          so the lanes of a warp (8 along x, 4 along y) always
//              |  x     |  x     |  x          need neighbours: 8 costs out, 4 costs in
//            y |  *     |  *     |  *
//              +--------+--------+---
//            y |  *     |  *     |  *
//
// Two things make the loop simple, and a first launch prepares both in `scratch`: a copy with room
// for whole squares (no guards inside), and the same copy transposed (rows to read instead of
// columns).

// The two copies in scratch, each padded_size(n) rows and columns wide.
inline __device__ float* roads_in(void* scratch) {  // [via][from] = d[from][via]
  return static_cast<float*>(scratch);
}
inline __device__ float* roads_out(void* scratch, int n) {  // [via][to] = d[via][to]
  return static_cast<float*>(scratch) + at(padded_size(n), 0, padded_size(n));
}

// First launch: a thread per element of the padded matrix.
__global__ void minplus_prepare(float* r, const float* d, int n, void* scratch) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  float cost = kNoRoad;
  if (row < n && col < n) cost = d[at(row, col, n)];

  const int width = padded_size(n);
  roads_out(scratch, n)[at(row, col, width)] = cost;
  roads_in(scratch)[at(col, row, width)] = cost;
}

// Second launch: the product.
__global__ void minplus_registers_product(float* r, const float* d, int n, void* scratch) {
  const int first_from = blockIdx.y * kTile + threadIdx.y;
  const int first_to = blockIdx.x * kTile + threadIdx.x;
  float best[kEach][kEach];
  for (int a = 0; a < kEach; ++a) {
    for (int b = 0; b < kEach; ++b) {
      best[a][b] = kNoRoad;
    }
  }

  const int width = padded_size(n);
  const float* in = roads_in(scratch);
  const float* out = roads_out(scratch, n);
  for (int via = 0; via < n; ++via) {
    float cost_in[kEach];
    float cost_out[kEach];
    for (int a = 0; a < kEach; ++a) cost_in[a] = in[at(via, first_from + a * kThreads, width)];
    for (int b = 0; b < kEach; ++b) cost_out[b] = out[at(via, first_to + b * kThreads, width)];
    for (int a = 0; a < kEach; ++a) {
      for (int b = 0; b < kEach; ++b) {
        best[a][b] = fminf(best[a][b], cost_in[a] + cost_out[b]);
      }
    }
  }

  for (int a = 0; a < kEach; ++a) {
    for (int b = 0; b < kEach; ++b) {
      const int from = first_from + a * kThreads;
      const int to = first_to + b * kThreads;
      if (from < n && to < n) r[at(from, to, n)] = best[a][b];
    }
  }
}

// Given: the first launch, and the scratch for both copies.
inline __device__ LaunchPlan plan_with_copies(int n) {
  const long long width = padded_size(n);
  LaunchPlan plan = plan_with_scratch(2 * width * width * sizeof(float));
  plan.then(KERNEL(minplus_prepare), {dim3(width / 32, width / 8), dim3(32, 8)});
  return plan;
}

LAUNCH_PLAN(minplus_registers, int n) {
  LaunchPlan plan = plan_with_copies(n);
  const long long tiles = ceil_div(n, kTile);
  plan.then(KERNEL(minplus_registers_product), {dim3(tiles, tiles), dim3(kThreads, kThreads)});
  return plan;
}

// Stage 4: Panels in shared memory
//
// Before   Each of the 64 threads loads its 16 costs itself, though the whole block needs only
//          64 + 64 for one `via`: every cost is loaded 8 times, each time from far away.
// Task     The block loads them once, into shared memory, for 4 places at a time: a cache that we
//          manage ourselves.
// Budget   Global memory: 2 loads per thread and `via`, 4 sectors per request. Shared memory: 16
//          loads for 64 additions and 64 minima, 1 wavefront each. 2 barriers per 4 places.
//
//     roads_in    [ . . [ 64 ] . . ]
//     4 rows      [ . . [ 64 ] . . ]  --->  panel_in  [4][64]
//     at a time   [ . . [ 64 ] . . ]                           --->  64 threads,
//                 [ . . [ 64 ] . . ]                                 8 x 8 results each
//     roads_out   the same            --->  panel_out [4][64]
__global__ void minplus_shared_product(float* r, const float* d, int n, void* scratch) {
  const int first_from = blockIdx.y * kTile + threadIdx.y;
  const int first_to = blockIdx.x * kTile + threadIdx.x;
  __shared__ float panel_in[kPanel][kTile];
  __shared__ float panel_out[kPanel][kTile];
  float best[kEach][kEach];
  for (int a = 0; a < kEach; ++a) {
    for (int b = 0; b < kEach; ++b) {
      best[a][b] = kNoRoad;
    }
  }

  const int width = padded_size(n);
  const float* in = roads_in(scratch);
  const float* out = roads_out(scratch, n);
  const int thread = threadIdx.y * kThreads + threadIdx.x;
  for (int first_via = 0; first_via < n; first_via += kPanel) {
    for (int p = 0; p < kPanel; ++p) {
      panel_in[p][thread] = in[at(first_via + p, blockIdx.y * kTile + thread, width)];
      panel_out[p][thread] = out[at(first_via + p, blockIdx.x * kTile + thread, width)];
    }
    // From here on every thread may assume that both panels are filled.
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kPanel; ++p) {
      float cost_in[kEach];
      float cost_out[kEach];
      for (int a = 0; a < kEach; ++a) cost_in[a] = panel_in[p][threadIdx.y + a * kThreads];
      for (int b = 0; b < kEach; ++b) cost_out[b] = panel_out[p][threadIdx.x + b * kThreads];
      for (int a = 0; a < kEach; ++a) {
        for (int b = 0; b < kEach; ++b) {
          best[a][b] = fminf(best[a][b], cost_in[a] + cost_out[b]);
        }
      }
    }
    // From here on every thread may assume that no thread reads these panels any more.
    __syncthreads();
  }

  for (int a = 0; a < kEach; ++a) {
    for (int b = 0; b < kEach; ++b) {
      const int from = first_from + a * kThreads;
      const int to = first_to + b * kThreads;
      if (from < n && to < n) r[at(from, to, n)] = best[a][b];
    }
  }
}

LAUNCH_PLAN(minplus_shared, int n) {
  LaunchPlan plan = plan_with_copies(n);
  const long long tiles = ceil_div(n, kTile);
  plan.then(KERNEL(minplus_shared_product), {dim3(tiles, tiles), dim3(kThreads, kThreads)});
  return plan;
}

// Stage 5: Sixteen bytes at a time
//
// Before   Two thirds of what additions and minima alone would reach. For one `via` a thread issues
//          16 loads from shared memory beside its 128 operations, and a block loads 64 + 64 costs
//          for 64 x 64 results.
// Task     Squares of 128 x 128 results, which need half as many costs a result, and loads of four
//          neighbours at a time, which are a quarter as many instructions.
// Budget   Global memory: 2 loads of 16 bytes per thread and 8 places, 16 sectors per request.
//          Shared memory: 4 loads of 16 bytes for 64 additions and 64 minima; 2 wavefronts for four
//          costs in, 4 for four costs out. 2 barriers per 8 places.
//
//     a block of 256 threads has 128 x 128 results; a thread has four times 4 x 4 of them:
//
//                 col     64 + col
//              +--------+--------+          wide_in   [ . . [ 128 ] . . ]   8 rows at a time:
//         row  |  ####  |  ####  |                    [ . . [ 128 ] . . ]   256 loads of four,
//              +--------+--------+                    . . .                 one for each thread
//     64 + row |  ####  |  ####  |
//              +--------+--------+          wide_out  the same

// Given: both copies once more, wide_size(n) rows and columns wide.
inline __device__ float* wide_in(void* scratch) {  // [via][from] = d[from][via]
  return static_cast<float*>(scratch);
}
inline __device__ float* wide_out(void* scratch, int n) {  // [via][to] = d[via][to]
  return wide_in(scratch) + at(wide_size(n), 0, wide_size(n));
}

// Given: four neighbours in one load. Both addresses have to be multiples of 16 bytes.
inline __device__ void load_four(float* to, const float* from) {
  *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

// Given: the first launch. A tile of 32 x 32 passes through shared memory, so that the transposed
// copy is written along its rows, too (lab 03).
__global__ void minplus_wide_prepare(float* r, const float* d, int n, void* scratch) {
  __shared__ float tile[32][33];
  const int width = wide_size(n);
  const int col = blockIdx.x * 32 + threadIdx.x;
  for (int y = threadIdx.y; y < 32; y += 8) {
    const int row = blockIdx.y * 32 + y;
    const float cost = row < n && col < n ? d[at(row, col, n)] : kNoRoad;
    wide_out(scratch, n)[at(row, col, width)] = cost;
    tile[y][threadIdx.x] = cost;
  }
  // From here on every thread may assume that the whole tile is filled.
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8) {
    wide_in(scratch)[at(blockIdx.x * 32 + y, blockIdx.y * 32 + threadIdx.x, width)] =
        tile[threadIdx.x][y];
  }
}
inline __device__ LaunchPlan plan_with_wide_copies(int n) {
  const long long width = wide_size(n);
  LaunchPlan plan = plan_with_scratch(2 * width * width * sizeof(float));
  plan.then(KERNEL(minplus_wide_prepare), {dim3(width / 32, width / 32), dim3(32, 8)});
  return plan;
}

// Given: this thread's first row and column in the square, multiples of 4. A warp lies 8 lanes
// across and 4 down, as in stages 3 and 4.
inline __device__ int wide_row() { return threadIdx.x / 64 * 16 + threadIdx.x % 32 / 8 * 4; }
inline __device__ int wide_col() { return threadIdx.x / 32 % 2 * 32 + threadIdx.x % 8 * 4; }

// Second launch. The bounds promise two blocks on a multiprocessor: 128 registers a thread.
__global__ void __launch_bounds__(kWideThreads, 2)
    minplus_wide_product(float* r, const float* d, int n, void* scratch) {
  const int first_from = blockIdx.y * kWideTile;
  const int first_to = blockIdx.x * kWideTile;
  __shared__ __align__(16) float panel_in[kWidePanel][kWideTile];
  __shared__ __align__(16) float panel_out[kWidePanel][kWideTile];
  float best[kEach][kEach];
  for (int a = 0; a < kEach; ++a) {
    for (int b = 0; b < kEach; ++b) {
      best[a][b] = kNoRoad;
    }
  }

  const int width = wide_size(n);
  const int row = threadIdx.x / 32;       // a warp loads a row of each panel,
  const int four = threadIdx.x % 32 * 4;  // and each lane these four neighbours
  const float* in = wide_in(scratch) + at(row, first_from + four, width);
  const float* out = wide_out(scratch, n) + at(row, first_to + four, width);
  const int my_row = wide_row();
  const int my_col = wide_col();
  for (int first_via = 0; first_via < n; first_via += kWidePanel) {
    load_four(&panel_in[row][four], in + at(first_via, 0, width));
    load_four(&panel_out[row][four], out + at(first_via, 0, width));
    // From here on every thread may assume that both panels are filled.
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kWidePanel; ++p) {
      float cost_in[kEach];
      float cost_out[kEach];
      load_four(&cost_in[0], &panel_in[p][my_row]);
      load_four(&cost_in[4], &panel_in[p][kWideHalf + my_row]);
      load_four(&cost_out[0], &panel_out[p][my_col]);
      load_four(&cost_out[4], &panel_out[p][kWideHalf + my_col]);
      for (int a = 0; a < kEach; ++a) {
        for (int b = 0; b < kEach; ++b) {
          best[a][b] = fminf(best[a][b], cost_in[a] + cost_out[b]);
        }
      }
    }
    // From here on every thread may assume that no thread reads these panels any more.
    __syncthreads();
  }

  for (int a = 0; a < kEach; ++a) {
    for (int b = 0; b < kEach; ++b) {
      const int from = first_from + a / 4 * kWideHalf + my_row + a % 4;
      const int to = first_to + b / 4 * kWideHalf + my_col + b % 4;
      if (from < n && to < n) r[at(from, to, n)] = best[a][b];
    }
  }
}

LAUNCH_PLAN(minplus_wide, int n) {
  LaunchPlan plan = plan_with_wide_copies(n);
  const long long tiles = ceil_div(n, kWideTile);
  plan.then(KERNEL(minplus_wide_product), {dim3(tiles, tiles), kWideThreads});
  return plan;
}

// Stage 6: As close to the ceiling as you can
//
// Before   96 of 100 instructions are additions and minima, and over a quarter of the time is lost:
//          at each of two barriers all warps wait for the last one, and between the two for a
//          panel whose loads were issued only now.
// Task     Two panels in turn: the next one is loaded while this one is used, and one barrier is
//          enough. Then everything is yours: panels, threads, order, launches. Only the
//          result and the time are graded.
// Budget   The loads of stage 5, and one barrier per panel. The ceiling is a loop of additions and
//          minima alone.
//
//     compute            [ panel 0 ] [ panel 1 ] [ panel 2 ] ...
//     load     [ panel 0 ] [ panel 1 ] [ panel 2 ] [ panel 3 ] ...  while the last one is used
//     barrier            |           |           |           |     one per panel

// Squares, warps and results as in stage 5.
inline constexpr int kFastThreads = 256;  // 8 warps, 2 across and 4 down; 8 x 4 lanes each
inline constexpr int kFastWarps = kFastThreads / 32;
inline constexpr int kFastPanel = 16;   // places `via` in a panel; a warp loads two of its rows
inline constexpr int kBlocksPerSm = 2;  // 128 registers a thread

// What is in scratch: both copies of stage 5, and after them the results of the slices (see the
// plan at the end), a tile each.
inline __device__ float* fast_slices(void* scratch, int n) {
  return wide_out(scratch, n) + at(wide_size(n), 0, wide_size(n));
}

// Second launch, grid (whole tiles, 1): a block per tile. Third launch, grid (tiles that are
// left, slices): block (t, s) takes slice s of the places `via` for the t-th of the last tiles.
__global__ void __launch_bounds__(kFastThreads, kBlocksPerSm)
    minplus_fast_product(float* r, const float* d, int n, void* scratch) {
  __shared__ __align__(16) float panels[2][2][kFastPanel][kWideTile];  // [now or next][in or out]

  // Which results, over which places?
  const int across = ceil_div(n, kWideTile);
  const int tile = gridDim.y == 1 ? blockIdx.x : across * across - gridDim.x + blockIdx.x;
  const int tile_row = tile / across * kWideTile;
  const int tile_col = tile % across * kWideTile;
  const int panel_count = ceil_div(n, kFastPanel);
  const int first_via = panel_count * blockIdx.y / gridDim.y * kFastPanel;
  const int end_via =
      min(n, static_cast<int>(panel_count * (blockIdx.y + 1) / gridDim.y * kFastPanel));

  float best[8][8];
#pragma unroll
  for (int a = 0; a < 8; ++a) {
#pragma unroll
    for (int b = 0; b < 8; ++b) best[a][b] = kNoRoad;
  }

  // A warp loads one row of each panel at a time, each lane a vector. Between global and shared
  // memory a row waits in registers: half a panel's work lies between load and store.
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int width = wide_size(n);
  const long long step = at(kFastWarps, 0, width);
  const float* in = wide_in(scratch) + at(first_via + warp, tile_row + lane * 4, width);
  const float* out = wide_out(scratch, n) + at(first_via + warp, tile_col + lane * 4, width);
  for (int p = 0; p < kFastPanel; p += kFastWarps) {
    load_four(&panels[0][0][p + warp][lane * 4], in);
    load_four(&panels[0][1][p + warp][lane * 4], out);
    in += step;
    out += step;
  }
  float4 next_in = {};
  float4 next_out = {};
  // From here on every thread may assume that the first panels are filled.
  __syncthreads();

  // The costs for one `via`, twice: those in use, and those in flight from shared memory.
  const int row = warp / 2 * 16 + lane / 8 * 4;
  const int col = warp % 2 * 32 + lane % 8 * 4;
  const float* const my_in = &panels[0][0][0][row];
  const float* const my_out = &panels[0][1][0][col];
  constexpr int kPair = 2 * kFastPanel * kWideTile;
  float cost_in[2][8];
  float cost_out[2][8];
  load_four(&cost_in[0][0], my_in);
  load_four(&cost_in[0][4], my_in + kWideHalf);
  load_four(&cost_out[0][0], my_out);
  load_four(&cost_out[0][4], my_out + kWideHalf);

  int now = 0;
  for (int left = end_via - first_via; left > 0; left -= kFastPanel) {
    const bool more = left > kFastPanel;
#pragma unroll
    for (int p = 0; p < kFastPanel; ++p) {
      if (more && p % kFastWarps == 0) {
        next_in = *reinterpret_cast<const float4*>(in);
        next_out = *reinterpret_cast<const float4*>(out);
        in += step;
        out += step;
      }
      if (more && p % kFastWarps == kFastWarps - 1) {
        const int half = p / kFastWarps * kFastWarps;
        *reinterpret_cast<float4*>(&panels[1 - now][0][half + warp][lane * 4]) = next_in;
        *reinterpret_cast<float4*>(&panels[1 - now][1][half + warp][lane * 4]) = next_out;
      }
      if (p == kFastPanel - 1) {
        now = 1 - now;
        // From here on every thread may assume that the next panels are filled, and that no thread
        // reads those before them any more: their last rows are in registers.
        __syncthreads();
      }
      const int soon = now * kPair + (p + 1) % kFastPanel * kWideTile;
      load_four(&cost_in[(p + 1) % 2][0], my_in + soon);
      load_four(&cost_in[(p + 1) % 2][4], my_in + soon + kWideHalf);
      load_four(&cost_out[(p + 1) % 2][0], my_out + soon);
      load_four(&cost_out[(p + 1) % 2][4], my_out + soon + kWideHalf);
#pragma unroll
      for (int a = 0; a < 8; ++a) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const int b = a % 2 == 0 ? i : 7 - i;  // to and fro: the last cost is used again at once
          best[a][b] = fminf(best[a][b], cost_in[p % 2][a] + cost_out[p % 2][b]);
        }
      }
      // No result depends on this line (the padding is full of kNoRoad), but the time does. The
      // unit for minima takes an instruction every other cycle, so additions and minima have to
      // alternate. Given a long piece of code, a compiler groups the minima, as something to
      // do while loads are in flight; a possible exit ends the piece.
      if (p % 2 == 0 && left <= p + 1) break;
    }
  }

  if (gridDim.y == 1) {
#pragma unroll
    for (int a = 0; a < 8; ++a) {
      const int from = tile_row + row + a / 4 * kWideHalf + a % 4;
#pragma unroll
      for (int b = 0; b < 8; ++b) {
        const int to = tile_col + col + b / 4 * kWideHalf + b % 4;
        if (from < n && to < n) r[at(from, to, n)] = best[a][b];
      }
    }
  } else {
    // In a slice no tile is cut off, so a thread writes whole vectors.
    constexpr int kRow = kWideTile / 4;  // vectors of a row
    float* const slice =
        fast_slices(scratch, n) + at(blockIdx.y * gridDim.x + blockIdx.x, 0, kWideTile * kWideTile);
    float4* const mine = reinterpret_cast<float4*>(slice) + row * kRow + col / 4;
#pragma unroll
    for (int a = 0; a < 8; ++a) {
      float4* const to = mine + (a / 4 * kWideHalf + a % 4) * kRow;
      to[0] = make_float4(best[a][0], best[a][1], best[a][2], best[a][3]);
      to[kWideHalf / 4] = make_float4(best[a][4], best[a][5], best[a][6], best[a][7]);
    }
  }
}

// Fourth launch, with the grid of the third: the blocks of a tile share its results, and take the
// least over all slices.
__global__ void minplus_fast_combine(float* r, const float* d, int n, void* scratch) {
  const int tiles_across = ceil_div(n, kWideTile);
  const int tile = tiles_across * tiles_across - gridDim.x + blockIdx.x;
  constexpr int kResults = kWideTile * kWideTile;
  for (int i = blockIdx.y * kFastThreads + threadIdx.x; i < kResults;
       i += gridDim.y * kFastThreads) {
    float best = kNoRoad;
    for (int s = 0; s < gridDim.y; ++s) {
      best = fminf(best, fast_slices(scratch, n)[at(s * gridDim.x + blockIdx.x, i, kResults)]);
    }
    const int from = tile / tiles_across * kWideTile + i / kWideTile;
    const int to = tile % tiles_across * kWideTile + i % kWideTile;
    if (from < n && to < n) r[at(from, to, n)] = best;
  }
}

LAUNCH_PLAN(minplus_fast, Gpu gpu, int n) {
  LaunchPlan plan = plan_with_wide_copies(n);
  // The GPU works on `at_once` tiles at a time. The tail after the last full wave would keep
  // a few SMs busy and let the others wait: 6272 x 6272 are 2,401 tiles, 9 waves of 264 and 25
  // tiles more. So those tiles are cut into slices, along `via`, that make up (nearly) one more
  // wave of short blocks.
  const long long across = ceil_div(n, kWideTile);
  const long long at_once = gpu.sm_count * kBlocksPerSm;
  const long long panels = ceil_div(n, kFastPanel);
  long long cut = across * across % at_once;  // tiles that are cut
  long long slices = cut == 0 ? 0 : at_once / cut;
  if (slices > panels) slices = panels;
  if (slices < 2) cut = slices = 0;
  const long long whole = across * across - cut;

  plan.scratch_bytes += cut * slices * kWideTile * kWideTile * sizeof(float);
  if (whole > 0) plan.then(KERNEL(minplus_fast_product), {whole, kFastThreads});
  if (cut > 0) {
    plan.then(KERNEL(minplus_fast_product), {dim3(cut, slices), kFastThreads});
    plan.then(KERNEL(minplus_fast_combine), {dim3(cut, slices), kFastThreads});
  }
  return plan;
}
