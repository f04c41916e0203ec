// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 11: scan, count and sort, five kernels           (handouts/11-scan-and-sort/handout.md)
//
// Each kernel is a part of the next ones: the scan of a warp becomes the scan of a block, then of
// an array; counting digits and scanning the counts becomes one pass of a radix sort. A budget
// counts requests (one memory instruction of one warp), sectors (pieces of 32 bytes of global
// memory) and shuffles. kernel.cuh has the data, the constants, and the words that blocks tell each
// other.
#include "kernel.cuh"

// Stage 1: Warp scan
//
// Before   The CPU adds one number after the other, and every sum needs the one before it.
// Task     The sums of runs of 32 numbers. A warp takes a run, a lane an element, and all 32 sums
//          grow at once: after stride s each lane has the sum of its last 2s elements.
// Budget   One load, 5 steps, one store for each thread. Load 4 sectors a request, store 8.
//
//     lane          0    1    2    3    4    5   ...
//     value         3    1    4    1    5    9
//     stride 1      3    4    5    5    6   14         + lane - 1
//     stride 2      3    4    8    9   11   19         + lane - 2
//     stride 4      3    4    8    9   14   23         + lane - 4; then 8 and 16

// The sum of `value` over the lanes up to this one, itself included. All 32 lanes must call it.
inline __device__ long long warp_inclusive(long long value) {
  // TODO 1 (about 5 lines): five steps. __shfl_up_sync(kAllLanes, value, stride) gives the value of
  // lane - stride. The first lanes have no such neighbour: what must they not add?
  return value;
}

__global__ void warp_scan(long long* __restrict__ out, const int* __restrict__ in, int n, int k) {
  // TODO 2 (about 3 lines): this thread's element. A lane past the end takes part in the shuffles,
  // too: with which number?

  // TODO 3 (about 1 line): store its sum, with the element itself or without it.
}

// Given, as an example.
LAUNCH_SHAPE(warp_scan, int n, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}

// Stage 2: Block scan
//
// Before   Runs ended where a warp ends.
// Task     Runs of kRun numbers, a block each. A warp takes an eighth of them, kItems rounds of 32,
//          and carries its sum from round to round. Then each warp needs one more number: the sum
//          of all warps before it.
// Budget   All kItems loads of a thread in flight at once. One barrier. Load 4 sectors a request,
//          store 8.
//
//     warp 0                          warp 1                          ...
//     [round 0][round 1]...[15]       [round 0][round 1]...[15]
//       scan  ->  carry  ->  sum 0      scan  ->  carry  ->  sum 1    ...
//                                                     + sum 0              + sum 0 + sum 1
__global__ void __launch_bounds__(kThreads, 3)
    block_scan(long long* __restrict__ out, const int* __restrict__ in, int n, int k) {
  __shared__ long long warp_sum[kWarps];
  const int warp = threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  // Given: this thread's element of round 0; that of round r is r * kLanes further on.
  const int first = blockIdx.x * kRun + warp * (kRun / kWarps) + lane;

  // TODO 1 (about 6 lines): load kItems elements into an array of this thread, 0 past the end.

  // TODO 2 (about 7 lines): scan each round; the next round starts from the last lane's sum.

  // TODO 3 (about 4 lines): tell the other warps this warp's sum, and add up those of the warps
  // before this one. What stands between the two?

  // TODO 4 (about 5 lines): store.
}

LAUNCH_SHAPE(block_scan, int n, int k) {
  LaunchShape shape;
  // TODO 5 (about 2 lines): a block per run.
  return shape;
}

// Stage 3: The whole array, in one pass
//
// Before   A block knows nothing of the blocks before it. Scanning their sums in a second launch
//          works, but reads or writes the array twice.
// Task     One pass: a block loads its tile, adds it up, learns the sum of all tiles before it, and
//          scans last. It tells the sum of its own tile at once (A), and the sum up to its end (P)
//          once it knows it. It looks back: over tiles that say A, to the nearest that says P.
// Budget   4 bytes read and 8 written for each element; 8 bytes a tile for the words. Loads and
//          stores of 16 bytes a lane where the tile is whole.
//
//     tile      ...   5     6     7     8     9
//     status          P     A     A     P     X        tile 10 looks back: 9 says X, so it waits;
//     sum            17     4     2    26     ?        once 9 says A with 3: 26 + 3 = 29
//
// Blocks may start in any order, and one that waits keeps its place on the SM: a block that waits
// for one that has not started may wait for ever. So a block does not take tile blockIdx.x: it
// takes a ticket, and the tickets before its own belong to blocks that have started.
//
// Scratch:   ticket | state of tile 0 | state of tile 1 | ...       8 bytes each

// First launch: scratch is uninitialised.
__global__ void array_scan_clear(long long* __restrict__ out, const int* __restrict__ in, int n,
                                 int k, void* scratch) {
  // TODO 1 (about 3 lines): clear ticket and states.
}

// The sum of `value` over all lanes, in all lanes.
inline __device__ long long warp_sum_of(long long value) {
  // TODO 2 (about 4 lines): five steps; __shfl_xor_sync exchanges two lanes' values.
  return value;
}

// The sum of all tiles before `tile`, in all lanes. A whole warp calls it, and looks at 32 tiles at
// once: lane 0 at the nearest.
inline __device__ long long look_back(const unsigned long long* states, int tile) {
  long long sum = 0;
  // TODO 3 (about 18 lines): load the states of 32 tiles, until all that count say A or P. Those
  // count that are not beyond the nearest P. Add them up; go on with the next 32 if none said P.
  return sum;
}

// Second launch: a tile of kScanTile numbers each block.
__global__ void __launch_bounds__(kThreads, 4)
    array_scan_tiles(long long* __restrict__ out, const int* __restrict__ in, int n, int k,
                     void* scratch) {
  // TODO 4 (about 8 lines): one thread takes the block's ticket and tells the others.

  // TODO 5 (about 27 lines): load the tile in vectors, 4 neighbours a lane in each round, and add
  // it up: the sum of each warp. What need not be known yet? The last tile may be shorter.

  // TODO 6 (about 12 lines): one warp scans the sums of the warps, says A, looks back, and says P.
  // Tile 0 has nothing before it. Then every warp learns the sum of all before its own items.

  // TODO 7 (about 24 lines): scan the rounds as in stage 2, from there on, and store, 16 bytes a
  // store where the tile is whole. How many stores is that for the 4 sums of a lane?
}

LAUNCH_PLAN(array_scan, int n, int k) {
  LaunchPlan plan = plan_with_scratch(0);
  // TODO 8 (about 6 lines): scratch for the ticket and the states, and both launches, each
  // .then(KERNEL(name), shape), in order.
  return plan;
}

// Stage 4: Histogram
//
// Before   With one set of bins in global memory all threads of the GPU queue for 256 words, and
//          each addition goes to the L2 cache.
// Task     Count the digits. Each warp has bins of its own in shared memory (they are privatised),
//          and counts there; at the end a block adds its bins to `out`, one atomic a bin.
// Budget   4 bytes read for each key, 16 sectors a request. One shared atomic for each key, at most
//          kBins global ones for each block, and one block for each multiprocessor.
//
//     in      [key][key][key] ...
//                |    |    |                  digit_of(key, k)
//     shared  [bins of warp 0] ... [bins of warp 31]     atomicAdd: lanes of a warp may meet
//                |                      |
//     global  [        out: 256 counts         ]         atomicAdd: blocks may meet

// Adds the digits of all keys to counts[0] to counts[kBins - 1]. All threads of the grid call it.
inline __device__ void count_digits(unsigned* __restrict__ counts, const unsigned* __restrict__ in,
                                    int n, int k) {
  // TODO 1 (about 4 lines): bins of each warp, all 0 before anybody counts.

  // TODO 2 (about 20 lines): count, from vectors of 4 keys, several of them in flight. Why must the
  // addition be atomic, if the bins are this warp's alone? The last n % 4 keys fill no vector.

  // TODO 3 (about 6 lines): a thread a bin: add up what the warps have counted, and add it to
  // counts[], unless it is 0.
}

__global__ void __launch_bounds__(kCountThreads)
    histogram(unsigned* __restrict__ out, const unsigned* __restrict__ in, int n, int k) {
  count_digits(out, in, n, k);
}

LAUNCH_SHAPE(histogram, Gpu gpu, int n, int k) {
  LaunchShape shape;
  shape.block = kCountThreads;
  // TODO 4 (about 1 line): one block for each multiprocessor, or fewer where there are few keys.
  return shape;
}

// Stage 5: One pass of a radix sort
//
// Before   A key's place is known once three numbers are: how many keys have a lower digit (stage 4
//          and a scan), how many keys of the same digit are in earlier tiles (stage 3's look-back,
//          256 of them at once), and how many are earlier in its own tile.
// Task     Move each key to its place. The third number is its rank, and it must be stable: keys
//          with equal digits keep their order. A warp ranks its keys round by round: lanes with
//          equal digits find each other (a match), and the number of them in lower lanes is a rank.
// Budget   4 bytes read and 4 written for each key, and 4 read to count. Keys go to their places
//          in the tile first, in shared memory, so that neighbours store to neighbouring places.
//
//     tile       7a 31 7b 05 32 7c        digit: the high one
//     rank        0  0  1  0  1  2        in its digit
//     shared     05 31 32 7a 7b 7c        by digit, in order: runs of equal digits
//     out       ..05..   ..31 32..    ..7a 7b 7c..      each run goes to its own place
//
// Scratch:   count of each digit | ticket | for each tile: a state for each digit     4 bytes each
inline constexpr int kTicket = kBins;
inline constexpr int kFirstState = kTicket + 1;

// First launch.
__global__ void radix_pass_clear(unsigned* __restrict__ out, const unsigned* __restrict__ in, int n,
                                 int k, void* scratch) {
  // TODO 1 (about 4 lines): clear all of scratch.
}

// Second launch.
__global__ void __launch_bounds__(kCountThreads)
    radix_pass_count(unsigned* __restrict__ out, const unsigned* __restrict__ in, int n, int k,
                     void* scratch) {
  // TODO 2 (about 1 line): stage 4, into scratch.
}

// The lanes of this warp whose digit is this lane's, this one included.
inline __device__ unsigned same_digit(unsigned digit) {
  unsigned same = kAllLanes;
  // TODO 3 (about 4 lines): one vote for each bit of the digit (lanes_that_agree). __match_any_sync
  // does it in one instruction, which a GPU takes many clocks for.
  return same;
}

// The number of keys with this digit in all tiles before `tile`. Threads 0 to kBins - 1 have a
// digit each and look back alone: a warp's 32 states are neighbours.
inline __device__ unsigned look_back_for_digit(const unsigned* states, int tile, int digit) {
  unsigned sum = 0;
  // TODO 4 (about 20 lines): tile by tile, until one says P. One load that waits for the one before
  // is right, and slow: load the states of four tiles at once, and wait for each when its turn
  // comes.
  return sum;
}

// Third launch: kSortTile keys each block. A warp has kSortItems rounds of 32 neighbours.
__global__ void __launch_bounds__(kSortThreads, 3)
    radix_pass_scatter(unsigned* __restrict__ out, const unsigned* __restrict__ in, int n, int k,
                       void* scratch) {
  // TODO 5 (about 10 lines): the ticket, and shared memory: a counter for each digit and warp, and
  // room for the tile.

  // TODO 6 (about 16 lines): load the keys and count their digits for each warp. What stands past
  // the end must come last in the tile, whatever k is. A tile that is whole needs no guards.

  // TODO 7 (about 30 lines): a thread a digit: add up the warps, and tell the tile's count (A).
  // Then two scans over the digits, which fit into one of 64 bits: where the digit starts in the
  // tile, and where in all keys. Each counter becomes the place of its warp's first such key.

  // TODO 8 (about 12 lines): rank, round by round, and move each key to its place in the tile.
  // Which lane of equal digits moves the counter on, and how do the others learn its old value?

  // TODO 9 (about 8 lines): a thread a digit: look back, say P, and work out how far a key of
  // this digit moves from its place in the tile to its place in `out`.

  // TODO 10 (about 13 lines): store the tile in order.
}

LAUNCH_PLAN(radix_pass, Gpu gpu, int n, int k) {
  LaunchPlan plan = plan_with_scratch(0);
  // TODO 11 (about 10 lines): scratch and three launches.
  return plan;
}
