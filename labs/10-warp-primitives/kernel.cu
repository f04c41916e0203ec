// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 10: what the lanes of a warp can tell each other   (handouts/10-warp-primitives/handout.md)
//
// Five kernels. In the first three a warp decides together, in registers. In the last two threads
// wait for each other, inside a warp and across the whole grid. kernel.cuh has the data, the
// constants, lane(), warp() and lanes_before().
#include "kernel.cuh"

// Stage 1: Count with a vote
//
// Before   Lab 04 added 32 values of a warp with five shuffles. These values are only 0 or 1.
// Task     out[r]: how many numbers of row r are smaller than k. A warp takes kRows rows, one after
//          the other.
// Budget   One vote a row. Load 4 sectors a request.
//
//     lane       0   1   2   3   4  ...  31
//     in[i]      7   2   9   1   4        3        k = 5
//     votes      0   1   0   1   1        1        __ballot_sync: one bit a lane, and every lane
//                                                  receives all 32
__global__ void count_kept(int* __restrict__ out, const int* __restrict__ in, long long n, int k) {
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    const long long i = first_number(kRows) + row * kThreads;  // given

    // TODO 1 (about 2 lines): is this lane's number kept, and what do all lanes of the warp say? In
    // the last row some lanes have no number: how do they vote, and do they have to?

    // TODO 2 (about 1 line): store the number of votes, once a row. __popc() counts bits.
  }
}

// Given, as an example.
LAUNCH_SHAPE(count_kept, long long n, int k) {
  return {.grid = dim3(ceil_div(n, kRows * kThreads)), .block = dim3(kThreads)};
}

// Stage 2: Group equal values
//
// Before   A vote says who agrees with one question. Now each lane asks its own: who holds the same
//          number as I do?
// Task     out[i]: how many numbers before number i in its row equal it, if it is kept. Else -1.
// Budget   One __match_any_sync a row, no loop.
//
//     lane                 0   1   2   3   4   5
//     in[i]                3   1   3   9   1   3       k = 5
//     lanes that match     .   .   .   -   .   .       lane 0, 2, 5: 100101b   lane 1, 4: 010010b
//     out[i]               0   0   1  -1   1   2
__global__ void rank_equal(int* __restrict__ out, const int* __restrict__ in, long long n, int k) {
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
    const long long i = first_number(kRows) + row * kThreads;  // given

    // TODO 1 (about 2 lines): is this lane's number kept? A lane past the end has none.

    // TODO 2 (about 1 line): only lanes whose number is kept ask for their equals. A mask has to
    // name exactly the lanes that come: which are they, and where must the mask be made?

    // TODO 3 (about 5 lines): find the equal ones. How many of them come before this lane?

    // TODO 4 (about 1 line): store.
  }
}

LAUNCH_SHAPE(rank_equal, long long n, int k) {
  LaunchShape shape;
  // TODO 5 (about 2 lines): as in stage 1.
  return shape;
}

// Stage 3: Keep some, close the gaps
//
// Before   atomicAdd(&out[0], 1) gives each kept number a place of its own: one atomic operation a
//          thread, and all of them on one word. A warp can ask once for all its lanes, a block once
//          for all its warps.
// Task     The kept numbers, without gaps, in any order; how many there are in out[0].
// Budget   One atomic operation a block, which takes kEach numbers for each of its threads.
//
//     votes of a warp    0 1 0 1 1 0 ...          place of a kept number =
//     kept before me     . 0 . 1 2 . ...              the block's first place    (one atomicAdd)
//                                                   + kept in the warps before  (shared memory)
//                                                   + kept before in this warp  (votes)
__global__ void compact(int* __restrict__ out, const int* __restrict__ in, long long n, int k) {
  // Given: load e of a warp is a row of its own, so that loads are coalesced.
  int number[kEach];
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const long long i = first_number(kEach) + e * kThreads;
    number[e] = i < n ? in[i] : k;  // k itself is not kept
  }

  // TODO 1 (about 4 lines): how many numbers does this warp keep, in all kEach rows?

  // TODO 2 (about 4 lines): tell the block. How many do the warps before this one keep?

  // TODO 3 (about 5 lines): one thread asks for the places of the whole block, with one atomicAdd
  // on out[0]. When may it, and when may the others use what it was told?

  // TODO 4 (about 7 lines): store the kept numbers of this warp, row by row: the votes say at which
  // place.
}

LAUNCH_SHAPE(compact, long long n, int k) {
  LaunchShape shape;
  // TODO 5 (about 2 lines): a block takes kEach * kThreads numbers.
  return shape;
}

// Stage 4: Two halves that wait for each other
//
// Before   Lanes of one warp take different branches and come together again. Here each branch
//          waits for the other one, in the middle of both.
// Task     Numbers l and l + 16 of a row are a pair, and the two halves of a warp hold one each.
//          k times: first += second; second += first. They meet in shared memory.
// Budget   No __syncthreads(): the halves are in different branches, and a barrier of the block
//          belongs to all of its threads. A turn that each half waits for is enough.
//
//     lower half    += box | store, turn = 1 |    wait       | += box | ...
//     upper half        wait                 | += box | store, turn = 2 |   wait ...
__global__ void trade_halves(int* __restrict__ out, const int* __restrict__ in, long long n,
                             int k) {
  // Given: a box for each number, and the warp's turn: even, the lower half's; odd, the upper's.
  const long long i = first_number(1);
  __shared__ int box[kThreads];
  __shared__ int turns[kWarps];
  volatile int* turn = &turns[warp()];  // volatile: a loop that waits has to load it each time
  int mine = i < n ? in[i] : 0;
  box[threadIdx.x] = mine;
  if (lane() == 0) *turn = 0;
  // From here on every lane of the warp may assume that box and turn are written.
  __syncwarp();

  if (lane() < kHalf) {
    // TODO 1 (about 9 lines): k times: wait for the turn, add the partner's number, store the new
    // one, pass the turn on. All 16 numbers must be there before the other half sees its turn:
    // __syncwarp(kLowerHalf) waits for these lanes, __threadfence_block() keeps stores in order.
  } else {
    // TODO 2 (about 9 lines): the same for the upper half. Which turns are its own?
  }
  if (i < n) out[i] = mine;
}

LAUNCH_SHAPE(trade_halves, long long n, int k) {
  LaunchShape shape;
  // TODO 3 (about 2 lines): as in stage 1.
  return shape;
}

// Stage 5: A grid that waits for itself
//
// Before   What needs all blocks took a second launch: lab 04, stage 5. Blocks may wait for each
//          other only if all of them run: a block that waits for one in the queue keeps it there.
// Task     out[i] = k * in[i] - total, in one launch: add up, wait for the grid, write.
// Budget   As many blocks as the GPU runs at the same time, whatever n is: a cooperative launch.
//
//     block 0    add up | arrive   wait ......... | total | write
//     block 1    add up ......... | arrive (last) | total | write
//     block 2    add up  | arrive   wait ........ | total | write

__device__ int sums[kMostBlocks];    // given: what each block has added up
__device__ unsigned arrived;         // given: blocks that have arrived; 0 when the module is loaded
__device__ volatile unsigned phase;  // given: how often the grid has met

// The sum of `value` over the block, in all of its threads.
__device__ int block_sum(int value) {
  // TODO 1 (about 10 lines): shuffles in each warp, then the kWarps sums of the warps (lab 04). The
  // function is called twice: what must be true before shared memory is written again?
  return value;
}

// Returns when all blocks of the grid have called it.
__device__ void wait_for_grid() {
  // TODO 2 (about 14 lines): thread 0 arrives for its block; the other threads wait for thread 0.
  // The last block to arrive opens the barrier and leaves `arrived` as the next launch wants to
  // find it. What a block has stored must be visible before it counts as arrived: __threadfence().
}

__global__ void center(int* __restrict__ out, const int* __restrict__ in, long long n, int k) {
  // TODO 3 (about 5 lines): add up this block's share, and leave it in sums[].

  // TODO 4 (about 4 lines): wait for the grid, and add up the sums of all blocks. __ldcg() loads
  // from L2, past a copy that L1 may hold.

  // TODO 5 (about 1 line): write the results.
}

LAUNCH_SHAPE(center, Gpu gpu, long long n, int k) {
  LaunchShape shape;
  // TODO 6 (about 4 lines): a cooperative launch of kThreads a block, and of four blocks for each
  // multiprocessor. How many registers may a thread use, so that four run at the same time?
  return shape;
}
