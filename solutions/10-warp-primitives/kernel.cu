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

    // Lanes without a number vote no, but they vote: the mask names all 32 lanes, and each of them
    // has to come.
    const bool kept = i < n && in[i] < k;
    const unsigned votes = __ballot_sync(kAllLanes, kept);

    if (lane() == 0 && i < n) out[i / kWarpLanes] = __popc(votes);
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

    const int number = i < n ? in[i] : k;
    const bool kept = number < k;

    // The mask names the lanes that will take the branch. It is made before, where all lanes come.
    const unsigned members = __ballot_sync(kAllLanes, kept);

    int rank = -1;
    if (kept) {
      const unsigned equal = __match_any_sync(members, number);
      rank = __popc(equal & lanes_before());
    }

    if (i < n) out[i] = rank;
  }
}

LAUNCH_SHAPE(rank_equal, long long n, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kRows * kThreads);
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

  int of_warp = 0;
#pragma unroll
  for (int e = 0; e < kEach; ++e) of_warp += __popc(__ballot_sync(kAllLanes, number[e] < k));

  __shared__ int kept_by[kWarps];
  if (lane() == 0) kept_by[warp()] = of_warp;
  // From here on every thread may assume that all warps have said how many they keep.
  __syncthreads();
  int before = 0;
  for (int w = 0; w < warp(); ++w) before += kept_by[w];

  // The last warp knows how many the whole block keeps.
  __shared__ int place_of_block;
  if (threadIdx.x == kThreads - 1) place_of_block = atomicAdd(&out[0], before + of_warp);
  // From here on every thread may assume that the block's places are known.
  __syncthreads();

  long long place = static_cast<long long>(kHead) + place_of_block + before;
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const bool kept = number[e] < k;
    const unsigned votes = __ballot_sync(kAllLanes, kept);
    if (kept) out[place + __popc(votes & lanes_before())] = number[e];
    place += __popc(votes);
  }
}

LAUNCH_SHAPE(compact, long long n, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kEach * kThreads);
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
    for (int round = 0; round < k; ++round) {
      while (*turn != 2 * round) {
      }
      __threadfence_block();
      mine += box[threadIdx.x + kHalf];
      box[threadIdx.x] = mine;
      // From here on every lane of this half may assume that all 16 numbers are stored.
      __syncwarp(kLowerHalf);
      __threadfence_block();
      if (lane() == 0) *turn = 2 * round + 1;
    }
  } else {
    for (int round = 0; round < k; ++round) {
      while (*turn != 2 * round + 1) {
      }
      __threadfence_block();
      mine += box[threadIdx.x - kHalf];
      box[threadIdx.x] = mine;
      // From here on every lane of this half may assume that all 16 numbers are stored.
      __syncwarp(kUpperHalf);
      __threadfence_block();
      if (lane() == kHalf) *turn = 2 * round + 2;
    }
  }
  if (i < n) out[i] = mine;
}

LAUNCH_SHAPE(trade_halves, long long n, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
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
  __shared__ int of_warp[kWarps];
#pragma unroll
  for (int distance = kWarpLanes / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, distance);
  }
  // From here on every thread may assume that nobody reads the sums of an earlier call.
  __syncthreads();
  if (lane() == 0) of_warp[warp()] = value;
  // From here on every thread may assume that all warps have stored their sum.
  __syncthreads();
  value = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) value += of_warp[w];
  return value;
}

// Returns when all blocks of the grid have called it.
__device__ void wait_for_grid() {
  // From here on thread 0 may assume that the whole block has come.
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const unsigned before = phase;
    if (atomicAdd(&arrived, 1) == gridDim.x - 1) {
      arrived = 0;  // nobody else touches it before the phase is another one
      __threadfence();
      phase = before + 1;
    } else {
      while (phase == before) {
      }
    }
    __threadfence();
  }
  // From here on every thread may assume that all blocks have arrived.
  __syncthreads();
}

__global__ void center(int* __restrict__ out, const int* __restrict__ in, long long n, int k) {
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  int value = 0;
#pragma unroll 4
  for (long long i = first_number(1); i < n; i += threads) value += in[i];
  value = block_sum(value);
  if (threadIdx.x == 0) sums[blockIdx.x] = value;

  wait_for_grid();
  int total = 0;
  for (int b = threadIdx.x; b < gridDim.x; b += kThreads) total += __ldcg(&sums[b]);
  total = block_sum(total);

#pragma unroll 4
  for (long long i = first_number(1); i < n; i += threads) out[i] = k * in[i] - total;
}

LAUNCH_SHAPE(center, Gpu gpu, long long n, int k) {
  LaunchShape shape;
  // Four blocks need no more than 64 registers a thread, and 1,024 threads of an SM.
  shape.block = kThreads;
  shape.grid = 4 * gpu.sm_count;
  shape.cooperative = true;
  return shape;
}
