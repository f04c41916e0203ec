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
  // TODO 1 (about 3 lines): this thread's lane and its warp's row. Which warps have none?

  // TODO 2 (about 16 lines): this lane's part of the sum. Vectors of four where every row begins at
  // a multiple of 16 bytes (when is that?), the rest of the row, and single floats elsewhere. How
  // many loads are in flight before the first multiply-add needs one?

  // TODO 3 (about 3 lines): the sum over all lanes (lab 04), and who writes it?
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

  // TODO 1 (about 25 lines): this thread's four sums, over the rows of its group, into `partial`.
  // With vectors its columns are neighbours. Without them, which four columns keep a warp's loads
  // coalesced? Which vectors may you load though they reach beyond column n - 1?

  // TODO 2 (about 8 lines): add up the groups' sums of a column. What must every thread wait for?
}

LAUNCH_SHAPE(gemv_columns, int m, int n, int k, int lda, int ldb, int ldc) {
  LaunchShape shape;
  // TODO 3 (about 2 lines): blocks of kColumns columns, kQuads threads for each of kGroups groups.
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
  // TODO 1 (about 3 lines): this thread's row and column, in a grid of two dimensions. Which of
  // them follows threadIdx.x? Which threads have no result?

  // TODO 2 (about 5 lines): its sum. Three matrices, three leading dimensions.
}

LAUNCH_SHAPE(gemm_naive, int m, int n, int k, int lda, int ldb, int ldc) {
  LaunchShape shape;
  // TODO 3 (about 2 lines): blocks in two dimensions: which of m and n is counted along x?
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

  // TODO 1 (about 13 lines): go through k in steps of kTile. In each, this thread loads one element
  // of each tile; what if there is none, at the end of k and at the edges? Then kTile
  // multiply-adds. Two barriers: what may every thread assume after each of them?

  // TODO 2 (about 1 line): write it. May a thread without a result return early, before the loop?
}

LAUNCH_SHAPE(gemm_shared, int m, int n, int k, int lda, int ldb, int ldc) {
  LaunchShape shape;
  // TODO 3 (about 2 lines): as in stage 3.
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
  // TODO 1 (about 1 line): by how many floats must a row of panel_a be longer than 128, so that 8
  // lanes that store one row of `a` and 4 such rows use 32 banks? A power of two is a trap.

  // TODO 2 (about 9 lines): panels, the block's first row and column, 64 sums that begin at 0.

  // TODO 3 (about 36 lines): go through k in steps of kPanel. Fill both panels: 256 threads, 4
  // elements of each a thread; zeros where there is no element. Which lanes are neighbours in `a`,
  // and which in `b`? Then for each p of the panel: 8 floats of `a`, 8 of `b`, 64 multiply-adds.
  // Two barriers.

  // TODO 4 (about 8 lines): write the results that are inside of `c`.
}

LAUNCH_SHAPE(gemm_registers, int m, int n, int k, int lda, int ldb, int ldc) {
  LaunchShape shape;
  // TODO 5 (about 2 lines): blocks of kThreads x kThreads threads, kWideTile x kWideTile results.
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
// TODO 1 (about 170 lines): start from your stage 5 and change one thing at a time: vectors from
// shared memory, vectors from global memory (which leading dimensions allow them?), two panels in
// turn, the floats of the next p loaded while those of this one are multiplied. Measure each.
__global__ void __launch_bounds__(256, 2)
    gemm_fast(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b,
              int m, int n, int k, int lda, int ldb, int ldc) {
  // TODO 2 (about 40 lines): the tile of this block, of this warp and of this thread; the loop; the
  // results, four at a time where they lie so.
}

LAUNCH_SHAPE(gemm_fast, int m, int n, int k, int lda, int ldb, int ldc) {
  LaunchShape shape;
  // TODO 3 (about 2 lines): the launch that goes with it.
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

int main(int argc, char** argv) {
  // TODO 1 (about 120 lines): all of it. What ends the program when a call fails? How many bytes
  // has each array, and each tile? Which of m and n is counted along x? What if m or n is 0?
}
#endif
