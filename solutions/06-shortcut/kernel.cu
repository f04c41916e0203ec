// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 06: shortcuts (the min-plus product), five times           (handouts/06-shortcut/handout.md)
//
// Five kernels, one idea each, every one headed by what was wrong with the one before. A budget
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
  // Given: this thread's result. Blocks at the edges stick out of the matrix; their surplus threads
  // have nothing to do. (Is it wise to let threadIdx.x choose the row? That is for stage 2.)
  const int from = blockIdx.x * blockDim.x + threadIdx.x;
  const int to = blockIdx.y * blockDim.y + threadIdx.y;
  if (from >= n || to >= n) return;

  // TODO 1 (about 1 line): with which number does a search for the least one begin?
  float best = kNoRoad;

  // TODO 2 (about 4 lines): try every place on the way, and keep the least cost: fminf(a, b).
  for (int via = 0; via < n; ++via) {
    best = fminf(best, d[at(from, via, n)] + d[at(via, to, n)]);
  }
  r[at(from, to, n)] = best;
}

// Given, as an example: a launch is a grid of blocks, and a block a number of threads.
LAUNCH_SHAPE(minplus_direct, int n) {
  LaunchShape shape;
  shape.block = {kBlock, kBlock};
  shape.grid = {ceil_div(n, kBlock), ceil_div(n, kBlock)};
  return shape;
}

// Stage 2: Neighbours read neighbours
//
// Before   Lanes of a warp follow each other along x, and x chose the row: 16 lanes read from 16
//          different rows, whose elements lie n * 4 bytes apart.
// Task     The same kernel, with a warp that lies along a row of the results.
// Budget   2 loads for 1 addition and 1 minimum. d[from][via]: 2 sectors per request (the same word
//          for 16 lanes); d[via][to]: 2 sectors (16 neighbours).
//
//     lanes      0  1  2 ... 15 |16 17 ... 31       a warp: two rows of a block of 16 x 16
//     row        3  3  3      3 | 4  4      4       which of these is threadIdx.x?
//     column     0  1  2     15 | 0  1     15
__global__ void minplus_coalesced(float* r, const float* d, int n) {
  // TODO 1 (about 2 lines): this thread's result. Which of its two numbers should follow
  // threadIdx.x?
  const int from = blockIdx.y * blockDim.y + threadIdx.y;
  const int to = blockIdx.x * blockDim.x + threadIdx.x;

  // TODO 2 (about 6 lines): the rest of your stage 1. Does anything else have to change?
  if (from >= n || to >= n) return;
  float best = kNoRoad;
  for (int via = 0; via < n; ++via) {
    best = fminf(best, d[at(from, via, n)] + d[at(via, to, n)]);
  }
  r[at(from, to, n)] = best;
}

LAUNCH_SHAPE(minplus_coalesced, int n) {
  LaunchShape shape;
  // TODO 3 (about 2 lines): as in stage 1.
  shape.block = {kBlock, kBlock};
  shape.grid = {ceil_div(n, kBlock), ceil_div(n, kBlock)};
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
//              |  x     |  x     |  x          want neighbours: 8 costs out, 4 costs in
//            y |  *     |  *     |  *
//              +--------+--------+---
//            y |  *     |  *     |  *
//
// Two things make the loop simple, and a first launch prepares both in `scratch`: a copy with room
// for whole squares (no guards inside), and the same copy transposed (rows to read in place of
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
  // TODO 1 (about 4 lines): this thread's column and row, and the cost in `d`. The padding adds
  // places where nobody lives: what must the roads there cost, so that no shortcut uses them?
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  float cost = kNoRoad;
  if (row < n && col < n) cost = d[at(row, col, n)];

  // TODO 2 (about 3 lines): write it into both copies.
  const int width = padded_size(n);
  roads_out(scratch, n)[at(row, col, width)] = cost;
  roads_in(scratch)[at(col, row, width)] = cost;
}

// Second launch: the product.
__global__ void minplus_registers_product(float* r, const float* d, int n, void* scratch) {
  // TODO 3 (about 8 lines): the first of this thread's rows and columns (the others follow kThreads
  // apart), and its 8 x 8 results, in registers.
  const int first_from = blockIdx.y * kTile + threadIdx.y;
  const int first_to = blockIdx.x * kTile + threadIdx.x;
  float best[kEach][kEach];
  for (int a = 0; a < kEach; ++a) {
    for (int b = 0; b < kEach; ++b) {
      best[a][b] = kNoRoad;
    }
  }

  // TODO 4 (about 16 lines): for each place on the way: 8 costs in, 8 costs out, 64 combinations.
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

  // TODO 5 (about 7 lines): write them. `r` has no padding: which results must stay here?
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
  plan.then("minplus_prepare", {{width / 32, width / 8}, {32, 8}});
  return plan;
}

LAUNCH_PLAN(minplus_registers, int n) {
  LaunchPlan plan = plan_with_copies(n);
  // TODO 6 (about 2 lines): the second launch. How many squares of kTile x kTile are there?
  const long long tiles = ceil_div(n, kTile);
  plan.then("minplus_registers_product", {{tiles, tiles}, {kThreads, kThreads}});
  return plan;
}

// Stage 4: Panels in shared memory
//
// Before   Each of the 64 threads loads its 16 costs itself, though the whole block needs only
//          64 + 64 for one `via`: every cost is fetched 8 times, and each time it is a long way.
// Task     The block fetches them once, into shared memory, for 4 places at a time: a cache that we
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
  // TODO 1 (about 10 lines): rows, columns and results as in stage 3, and two panels that the block
  // shares.
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

  // TODO 2 (about 25 lines): go through the places in steps of kPanel. In each step the block fills
  // both panels: 64 threads, rows of 64 elements. Then every thread works on them as in stage 3.
  // Two barriers: what may every thread assume after each of them?
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
    // From here on every thread may assume that nobody reads these panels any more.
    __syncthreads();
  }

  // TODO 3 (about 7 lines): write the results, as in stage 3.
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
  // TODO 4 (about 2 lines): as in stage 3.
  const long long tiles = ceil_div(n, kTile);
  plan.then("minplus_shared_product", {{tiles, tiles}, {kThreads, kThreads}});
  return plan;
}

// Stage 5: As close to the ceiling as you can
//
// Before   Three quarters of what additions and minima alone would reach. Every load from shared
//          memory takes a place in the queue of instructions that an addition could have had, and
//          twice per 4 places everybody waits at a barrier.
// Task     Close the gap. Everything is yours: squares, panels, threads, launches. Nothing but the
//          result and the time is looked at.
// Budget   At best 4 loads of 16 bytes for 64 additions and 64 minima. The ceiling is a loop of
//          additions and minima alone.
//
//     panel 0   [ fill ]
//     compute            [ panel 0 ] [ panel 1 ] [ panel 2 ] ...
//     fill               [ panel 1 ] [ panel 2 ] [ panel 3 ] ...    while the last one is used
//     barrier                      |           |           |        one per panel

// TODO 1 (about 150 lines): start from your stage 4 and change one thing at a time: larger squares
// per block, deeper panels, 16-byte loads from shared memory, two panels in turn. Measure each.

// A block has 128 x 128 results, a thread 8 x 8 of them: in two groups of 4 rows and two groups
// of 4 columns, 64 apart, so that every load is a vector of 16 bytes.
inline constexpr int kFastThreads = 256;  // 8 warps, 2 across and 4 down; 8 x 4 lanes each
inline constexpr int kFastTile = 128;     // results of a block, in each direction
inline constexpr int kFastHalf = kFastTile / 2;
inline constexpr int kFastWarps = kFastThreads / 32;
inline constexpr int kFastPanel = 16;   // places `via` in a panel; a warp fetches two of its rows
inline constexpr int kBlocksPerSm = 2;  // 128 registers a thread

inline __device__ int fast_width(int n) { return ceil_div(n, kFastTile) * kFastTile; }

// What is in scratch: both copies of stage 3, padded to whole tiles, and after them the results
// of the slices (see the plan at the end), a tile each.
inline __device__ float* fast_in(void* scratch) { return static_cast<float*>(scratch); }
inline __device__ float* fast_out(void* scratch, int n) {
  return fast_in(scratch) + at(fast_width(n), 0, fast_width(n));
}
inline __device__ float* fast_slices(void* scratch, int n) {
  return fast_out(scratch, n) + at(fast_width(n), 0, fast_width(n));
}

inline __device__ void load_vector(float* to, const float* from) {
  *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

// First launch: both copies at once. A tile of 32 x 32 passes through shared memory, so that the
// transposed copy is written along its rows, too (lab 03).
__global__ void minplus_fast_prepare(float* r, const float* d, int n, void* scratch) {
  __shared__ float tile[32][33];
  const int width = fast_width(n);
  const int col = blockIdx.x * 32 + threadIdx.x;
  for (int y = threadIdx.y; y < 32; y += 8) {
    const int row = blockIdx.y * 32 + y;
    const float cost = row < n && col < n ? d[at(row, col, n)] : kNoRoad;
    fast_out(scratch, n)[at(row, col, width)] = cost;
    tile[y][threadIdx.x] = cost;
  }
  // From here on every thread may assume that the whole tile is filled.
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8) {
    fast_in(scratch)[at(blockIdx.x * 32 + y, blockIdx.y * 32 + threadIdx.x, width)] =
        tile[threadIdx.x][y];
  }
}

// Second launch, grid (whole tiles, 1): a block per tile. Third launch, grid (tiles that are
// left, slices): block (t, s) takes slice s of the places `via` for the t-th of the last tiles.
__global__ void __launch_bounds__(kFastThreads, kBlocksPerSm)
    minplus_fast_product(float* r, const float* d, int n, void* scratch) {
  __shared__ __align__(16) float panels[2][2][kFastPanel][kFastTile];  // [now or next][in or out]

  // Which results, over which places?
  const int across = ceil_div(n, kFastTile);
  const int tile = gridDim.y == 1 ? blockIdx.x : across * across - gridDim.x + blockIdx.x;
  const int tile_row = tile / across * kFastTile;
  const int tile_col = tile % across * kFastTile;
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

  // A warp fetches one row of each panel at a time, each lane a vector. On its way from global to
  // shared memory a row waits in registers: half a panel's work lies between load and store.
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int width = fast_width(n);
  const long long step = at(kFastWarps, 0, width);
  const float* in = fast_in(scratch) + at(first_via + warp, tile_row + lane * 4, width);
  const float* out = fast_out(scratch, n) + at(first_via + warp, tile_col + lane * 4, width);
  for (int p = 0; p < kFastPanel; p += kFastWarps) {
    load_vector(&panels[0][0][p + warp][lane * 4], in);
    load_vector(&panels[0][1][p + warp][lane * 4], out);
    in += step;
    out += step;
  }
  float4 next_in = {};
  float4 next_out = {};
  // From here on every thread may assume that the first panels are filled.
  __syncthreads();

  // The costs for one `via`, twice: those in use, and those on their way from shared memory.
  const int row = warp / 2 * 16 + lane / 8 * 4;
  const int col = warp % 2 * 32 + lane % 8 * 4;
  const float* const my_in = &panels[0][0][0][row];
  const float* const my_out = &panels[0][1][0][col];
  constexpr int kPair = 2 * kFastPanel * kFastTile;
  float cost_in[2][8];
  float cost_out[2][8];
  load_vector(&cost_in[0][0], my_in);
  load_vector(&cost_in[0][4], my_in + kFastHalf);
  load_vector(&cost_out[0][0], my_out);
  load_vector(&cost_out[0][4], my_out + kFastHalf);

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
        // From here on every thread may assume that the next panels are filled, and that nobody
        // reads those before them any more: their last rows are in everybody's registers.
        __syncthreads();
      }
      const int soon = now * kPair + (p + 1) % kFastPanel * kFastTile;
      load_vector(&cost_in[(p + 1) % 2][0], my_in + soon);
      load_vector(&cost_in[(p + 1) % 2][4], my_in + soon + kFastHalf);
      load_vector(&cost_out[(p + 1) % 2][0], my_out + soon);
      load_vector(&cost_out[(p + 1) % 2][4], my_out + soon + kFastHalf);
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
      // alternate. Given a long piece of code, a compiler rather collects minima, as something to
      // do while loads are on their way; a possible exit ends the piece.
      if (p % 2 == 0 && left <= p + 1) break;
    }
  }

  if (gridDim.y == 1) {
#pragma unroll
    for (int a = 0; a < 8; ++a) {
      const int from = tile_row + row + a / 4 * kFastHalf + a % 4;
#pragma unroll
      for (int b = 0; b < 8; ++b) {
        const int to = tile_col + col + b / 4 * kFastHalf + b % 4;
        if (from < n && to < n) r[at(from, to, n)] = best[a][b];
      }
    }
  } else {
    // In a slice no tile is cut off, so a thread writes whole vectors.
    constexpr int kRow = kFastTile / 4;  // vectors of a row
    float* const slice =
        fast_slices(scratch, n) + at(blockIdx.y * gridDim.x + blockIdx.x, 0, kFastTile * kFastTile);
    float4* const mine = reinterpret_cast<float4*>(slice) + row * kRow + col / 4;
#pragma unroll
    for (int a = 0; a < 8; ++a) {
      float4* const to = mine + (a / 4 * kFastHalf + a % 4) * kRow;
      to[0] = make_float4(best[a][0], best[a][1], best[a][2], best[a][3]);
      to[kFastHalf / 4] = make_float4(best[a][4], best[a][5], best[a][6], best[a][7]);
    }
  }
}

// Fourth launch, with the grid of the third: the blocks of a tile share its results, and take the
// least over all slices.
__global__ void minplus_fast_combine(float* r, const float* d, int n, void* scratch) {
  const int tiles_across = ceil_div(n, kFastTile);
  const int tile = tiles_across * tiles_across - gridDim.x + blockIdx.x;
  constexpr int kResults = kFastTile * kFastTile;
  for (int i = blockIdx.y * kFastThreads + threadIdx.x; i < kResults;
       i += gridDim.y * kFastThreads) {
    float best = kNoRoad;
    for (int s = 0; s < gridDim.y; ++s) {
      best = fminf(best, fast_slices(scratch, n)[at(s * gridDim.x + blockIdx.x, i, kResults)]);
    }
    const int from = tile / tiles_across * kFastTile + i / kFastTile;
    const int to = tile % tiles_across * kFastTile + i % kFastTile;
    if (from < n && to < n) r[at(from, to, n)] = best;
  }
}

LAUNCH_PLAN(minplus_fast, int n) {
  LaunchPlan plan = plan_with_scratch(0);
  // TODO 2 (about 20 lines): the launches that go with it, and the scratch they need.
  // The GPU works on `at_once` tiles at a time. What is left after the last full round would keep
  // a few SMs busy and let the others wait: 6272 x 6272 are 2,401 tiles, 9 rounds of 264 and 25
  // tiles more. So those tiles are cut into slices, along `via`, that make up (nearly) one more
  // round of short blocks.
  const long long across = ceil_div(n, kFastTile);
  const long long at_once = gpu.sm_count * kBlocksPerSm;
  const long long panels = ceil_div(n, kFastPanel);
  long long cut = across * across % at_once;  // tiles that are cut
  long long slices = cut == 0 ? 0 : at_once / cut;
  if (slices > panels) slices = panels;
  if (slices < 2) cut = slices = 0;
  const long long whole = across * across - cut;

  const long long width = fast_width(n);
  const long long in_slices = cut * slices * kFastTile * kFastTile;
  plan.scratch_bytes = (2 * width * width + in_slices) * sizeof(float);
  plan.then("minplus_fast_prepare", {{width / 32, width / 32}, {32, 8}});
  if (whole > 0) plan.then("minplus_fast_product", {whole, kFastThreads});
  if (cut > 0) {
    plan.then("minplus_fast_product", {{cut, slices}, kFastThreads});
    plan.then("minplus_fast_combine", {{cut, slices}, kFastThreads});
  }
  return plan;
}
