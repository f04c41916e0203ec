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
  const int lane = threadIdx.x % kLanes;
#pragma unroll
  for (int stride = 1; stride < kLanes; stride *= 2) {
    const long long left = __shfl_up_sync(kAllLanes, value, stride);
    if (lane >= stride) value += left;
  }
  return value;
}

__global__ void warp_scan(long long* __restrict__ out, const int* __restrict__ in, int n, int k) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const long long value = i < n ? in[i] : 0;
  const long long sum = warp_inclusive(value);

  if (i < n) out[i] = k != 0 ? sum : sum - value;
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

  int value[kItems];
#pragma unroll
  for (int r = 0; r < kItems; ++r) {
    const int i = first + r * kLanes;
    value[r] = i < n ? in[i] : 0;
  }

  long long sum[kItems];
  long long carry = 0;
#pragma unroll
  for (int r = 0; r < kItems; ++r) {
    sum[r] = carry + warp_inclusive(value[r]);
    carry = __shfl_sync(kAllLanes, sum[r], kLanes - 1);
  }

  if (lane == 0) warp_sum[warp] = carry;
  // From here on every thread may assume that the sums of all warps are there.
  __syncthreads();
  long long before = 0;
  for (int w = 0; w < warp; ++w) {
    before += warp_sum[w];
  }

#pragma unroll
  for (int r = 0; r < kItems; ++r) {
    const int i = first + r * kLanes;
    if (i < n) out[i] = before + sum[r] - (k != 0 ? 0 : value[r]);
  }
}

LAUNCH_SHAPE(block_scan, int n, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kRun);
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
  const int i = blockIdx.x * kThreads + threadIdx.x;
  unsigned long long* const words = static_cast<unsigned long long*>(scratch);
  if (i < 1 + ceil_div(n, kScanTile)) words[i] = 0;
}

// The sum of `value` over all lanes, in all lanes.
inline __device__ long long warp_sum_of(long long value) {
#pragma unroll
  for (int stride = kLanes / 2; stride > 0; stride /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, stride);
  }
  return value;
}

// The sum of all tiles before `tile`, in all lanes. A whole warp calls it, and looks at 32 tiles at
// once: lane 0 at the nearest.
inline __device__ long long look_back(const unsigned long long* states, int tile) {
  long long sum = 0;
  const int lane = threadIdx.x % kLanes;
  for (int nearest = tile - 1; nearest >= 0; nearest -= kLanes) {
    const int other = nearest - lane;
    unsigned long long state;
    unsigned missing, prefixes, counted;
    do {
      // The status and the sum are one word, and we ask for no other word of that block: relaxed
      // is enough. In front of tile 0 the sum is 0.
      state = other >= 0 ? load_relaxed(states + other) : state_of(kPrefix, 0);
      missing = __ballot_sync(kAllLanes, status_of(state) == kNothing);
      prefixes = __ballot_sync(kAllLanes, status_of(state) == kPrefix);
      counted = prefixes ^ (prefixes - 1);  // up to the lowest 1; without one, all
    } while ((missing & counted) != 0);
    sum += warp_sum_of((counted >> lane & 1) != 0 ? sum_of(state) : 0);
    if (prefixes != 0) break;
  }
  return sum;
}

// The sum of a lane's four items of a round. Two ints may add up to more than an int holds.
inline __device__ long long sum_of_four(int4 item) {
  return (static_cast<long long>(item.x) + item.y) + (static_cast<long long>(item.z) + item.w);
}

// Four items a lane: 16 bytes a load.
inline constexpr int kVector = 4;
inline constexpr int kRounds = kScanItems / kVector;
inline constexpr int kRoundItems = kLanes * kVector;

// Second launch: a tile of kScanTile numbers each block.
__global__ void __launch_bounds__(kThreads, 4)
    array_scan_tiles(long long* __restrict__ out, const int* __restrict__ in, int n, int k,
                     void* scratch) {
  unsigned long long* const states = static_cast<unsigned long long*>(scratch) + 1;
  __shared__ int block_tile;
  __shared__ long long warp_sum[kWarps];
  if (threadIdx.x == 0) {
    block_tile = static_cast<int>(atomicAdd(static_cast<unsigned*>(scratch), 1u));
  }
  // From here on every thread may assume that the tile is known.
  __syncthreads();
  const int tile = block_tile;

  const int warp = threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const int first = tile * kScanTile + warp * (kScanTile / kWarps) + lane * kVector;
  const bool whole = n - tile * kScanTile >= kScanTile;
  int4 item[kRounds];
  long long of_lane = 0;
  if (whole) {
    const int4* const vectors = reinterpret_cast<const int4*>(in + first);
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
      item[r] = vectors[r * kLanes];
      of_lane += sum_of_four(item[r]);
    }
  } else {
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
      const int i = first + r * kRoundItems;
      item[r].x = i < n ? in[i] : 0;
      item[r].y = i + 1 < n ? in[i + 1] : 0;
      item[r].z = i + 2 < n ? in[i + 2] : 0;
      item[r].w = i + 3 < n ? in[i + 3] : 0;
      of_lane += sum_of_four(item[r]);
    }
  }
  // The other blocks wait for the sum of the tile, nobody for its scan: a scan now would make them
  // wait longer, and its sums, 8 bytes each, would take registers all the time that we look back.
  const long long sum_of_warp = warp_sum_of(of_lane);
  if (lane == 0) warp_sum[warp] = sum_of_warp;
  // From here on every thread may assume that the sums of all warps are there.
  __syncthreads();

  if (warp == 0) {
    const long long of_warp = lane < kWarps ? warp_sum[lane] : 0;
    const long long inclusive = warp_inclusive(of_warp);
    const long long of_tile = __shfl_sync(kAllLanes, inclusive, kLanes - 1);
    if (lane == 0) {
      store_relaxed(states + tile, state_of(tile == 0 ? kPrefix : kAggregate, of_tile));
    }
    const long long sum = look_back(states, tile);
    if (lane == 0 && tile != 0) store_relaxed(states + tile, state_of(kPrefix, sum + of_tile));
    if (lane < kWarps) warp_sum[lane] = sum + inclusive - of_warp;
  }
  // From here on every thread may assume that warp_sum[] has all that stands before each warp.
  __syncthreads();

  long long carry = warp_sum[warp];
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    const long long own = sum_of_four(item[r]);
    const long long inclusive = carry + warp_inclusive(own);
    carry = __shfl_sync(kAllLanes, inclusive, kLanes - 1);
    const long long before = inclusive - own;
    const long long to_x = before + item[r].x;
    const long long to_y = to_x + item[r].y;
    const long long to_z = to_y + item[r].z;
    const long long sum0 = k != 0 ? to_x : before;
    const long long sum1 = k != 0 ? to_y : to_x;
    const long long sum2 = k != 0 ? to_z : to_y;
    const long long sum3 = k != 0 ? inclusive : to_z;
    const int i = first + r * kRoundItems;
    if (whole) {
      // A lane could store its own sums, and each store would fill one half of every sector. Here
      // two lanes exchange halves, so that they store the 32 bytes of one sector together.
      const bool odd = lane % 2 != 0;
      const long long x = __shfl_xor_sync(kAllLanes, odd ? sum0 : sum2, 1);
      const long long y = __shfl_xor_sync(kAllLanes, odd ? sum1 : sum3, 1);
      longlong2* const place = reinterpret_cast<longlong2*>(out + i) - (odd ? 1 : 0);
      place[0] = odd ? make_longlong2(x, y) : make_longlong2(sum0, sum1);
      place[2] = odd ? make_longlong2(sum2, sum3) : make_longlong2(x, y);
    } else {
      if (i < n) out[i] = sum0;
      if (i + 1 < n) out[i + 1] = sum1;
      if (i + 2 < n) out[i + 2] = sum2;
      if (i + 3 < n) out[i + 3] = sum3;
    }
  }
}

LAUNCH_PLAN(array_scan, int n, int k) {
  LaunchPlan plan = plan_with_scratch(0);
  const long long tiles = ceil_div(n, kScanTile);
  plan.scratch_bytes = (1 + tiles) * static_cast<long long>(sizeof(unsigned long long));
  plan.then(KERNEL(array_scan_clear), {ceil_div(1 + tiles, kThreads), kThreads});
  plan.then(KERNEL(array_scan_tiles), {tiles, kThreads});
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

inline constexpr int kInFlight = 4;  // vectors of a thread that are loaded together

// One block for each multiprocessor: each more would add its bins to `counts`, too, all at the end.
// 1,024 threads with 64 bytes in flight each are enough.
inline __device__ long long count_blocks(Gpu gpu, int n) {
  const long long blocks = ceil_div(n, kInFlight * 4 * kCountThreads);
  return blocks < gpu.sm_count ? blocks : gpu.sm_count;
}

// Adds the digits of all keys to counts[0] to counts[kBins - 1]. All threads of the grid call it.
inline __device__ void count_digits(unsigned* __restrict__ counts, const unsigned* __restrict__ in,
                                    int n, int k) {
  __shared__ unsigned bins[kCountWarps][kBins];
  for (int b = threadIdx.x; b < kCountWarps * kBins; b += kCountThreads) {
    bins[b / kBins][b % kBins] = 0;
  }
  // From here on every thread may assume that all bins are 0.
  __syncthreads();
  unsigned* const own = bins[threadIdx.x / kLanes];

  const int thread = blockIdx.x * kCountThreads + threadIdx.x;
  const int threads = gridDim.x * kCountThreads;
  const uint4* const vectors = reinterpret_cast<const uint4*>(in);
  const int count = n / 4;
  const auto add = [own, k](uint4 keys) {
    atomicAdd(&own[digit_of(keys.x, k)], 1u);
    atomicAdd(&own[digit_of(keys.y, k)], 1u);
    atomicAdd(&own[digit_of(keys.z, k)], 1u);
    atomicAdd(&own[digit_of(keys.w, k)], 1u);
  };
  int v = thread;
  for (; v + (kInFlight - 1) * threads < count; v += kInFlight * threads) {
    uint4 keys[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) keys[i] = vectors[v + i * threads];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) add(keys[i]);
  }
  for (; v < count; v += threads) add(vectors[v]);
  if (count * 4 + thread < n) atomicAdd(&own[digit_of(in[count * 4 + thread], k)], 1u);

  // From here on every thread may assume that all warps have counted.
  __syncthreads();
  if (threadIdx.x < kBins) {
    unsigned sum = 0;
#pragma unroll
    for (int w = 0; w < kCountWarps; ++w) sum += bins[w][threadIdx.x];
    if (sum != 0) atomicAdd(&counts[threadIdx.x], sum);
  }
}

__global__ void __launch_bounds__(kCountThreads)
    histogram(unsigned* __restrict__ out, const unsigned* __restrict__ in, int n, int k) {
  count_digits(out, in, n, k);
}

LAUNCH_SHAPE(histogram, Gpu gpu, int n, int k) {
  LaunchShape shape;
  shape.block = kCountThreads;
  shape.grid = count_blocks(gpu, n);
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
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int words = kFirstState + kBins * static_cast<int>(ceil_div(n, kSortTile));
  if (i < words) static_cast<unsigned*>(scratch)[i] = 0;
}

// Second launch.
__global__ void __launch_bounds__(kCountThreads)
    radix_pass_count(unsigned* __restrict__ out, const unsigned* __restrict__ in, int n, int k,
                     void* scratch) {
  count_digits(static_cast<unsigned*>(scratch), in, n, k);
}

// The lanes of this warp whose digit is this lane's, this one included.
inline __device__ unsigned same_digit(unsigned digit) {
  unsigned same = kAllLanes;
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) {
    same &= lanes_that_agree(digit, 1u << bit);
  }
  return same;
}

// The number of keys with this digit in all tiles before `tile`. Threads 0 to kBins - 1 have a
// digit each and look back alone: a warp's 32 states are neighbours.
inline __device__ unsigned look_back_for_digit(const unsigned* states, int tile, int digit) {
  unsigned sum = 0;
  constexpr int kAtOnce = 4;
  for (int nearest = tile - 1; nearest >= 0; nearest -= kAtOnce) {
    const unsigned* const of_digit = states + nearest * kBins + digit;
    unsigned state[kAtOnce];
#pragma unroll
    for (int t = 0; t < kAtOnce; ++t) {
      // In front of tile 0 the count is 0.
      state[t] = t <= nearest ? load_relaxed(of_digit - t * kBins) : digit_state_of(kPrefix, 0);
    }
#pragma unroll
    for (int t = 0; t < kAtOnce; ++t) {
      while (digit_status_of(state[t]) == kNothing) {
        state[t] = load_relaxed(of_digit - t * kBins);
      }
      sum += count_of(state[t]);
      if (digit_status_of(state[t]) == kPrefix) return sum;
    }
  }
  return sum;
}

// Third launch: kSortTile keys each block. A warp has kSortItems rounds of 32 neighbours.
__global__ void __launch_bounds__(kSortThreads, 3)
    radix_pass_scatter(unsigned* __restrict__ out, const unsigned* __restrict__ in, int n, int k,
                       void* scratch) {
  unsigned* const words = static_cast<unsigned*>(scratch);
  unsigned* const states = words + kFirstState;
  __shared__ unsigned next[kSortWarps][kBins];
  __shared__ unsigned sorted[kSortTile];
  __shared__ int place_of_digit[kBins];
  __shared__ long long warp_sum[kBins / kLanes];
  __shared__ int block_tile;
  if (threadIdx.x == 0) block_tile = static_cast<int>(atomicAdd(words + kTicket, 1u));
  for (int b = threadIdx.x; b < kSortWarps * kBins; b += kSortThreads) {
    next[b / kBins][b % kBins] = 0;
  }
  // From here on every thread may assume that the tile is known and that the counters are 0.
  __syncthreads();
  const int tile = block_tile;
  const int warp = threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const int left = n - tile * kSortTile;

  unsigned key[kSortItems];
  const int first = warp * (kSortTile / kSortWarps) + lane;
  const bool whole = left >= kSortTile;
  if (whole) {
#pragma unroll
    for (int r = 0; r < kSortItems; ++r) key[r] = in[tile * kSortTile + first + r * kLanes];
  } else {
#pragma unroll
    for (int r = 0; r < kSortItems; ++r) {
      const int i = first + r * kLanes;
      key[r] = i < left ? in[tile * kSortTile + i] : ~0u;
    }
  }
#pragma unroll
  for (int r = 0; r < kSortItems; ++r) atomicAdd(&next[warp][digit_of(key[r], k)], 1u);
  // From here on every thread may assume that all keys of the tile are counted.
  __syncthreads();

  const int digit = threadIdx.x;
  unsigned in_tile = 0;
  long long both = 0, inclusive = 0;
  if (digit < kBins) {
#pragma unroll
    for (int w = 0; w < kSortWarps; ++w) in_tile += next[w][digit];
    store_relaxed(states + tile * kBins + digit,
                  digit_state_of(tile == 0 ? kPrefix : kAggregate, in_tile));
    both = static_cast<long long>(in_tile) << 32 | words[digit];
    inclusive = warp_inclusive(both);
    if (lane == kLanes - 1) warp_sum[warp] = inclusive;
  }
  // From here on every thread may assume that the sums of all warps are there.
  __syncthreads();
  int start_in_tile = 0, start = 0;
  if (digit < kBins) {
    long long exclusive = inclusive - both;
    for (int w = 0; w < warp; ++w) exclusive += warp_sum[w];
    start_in_tile = static_cast<int>(exclusive >> 32);
    start = static_cast<int>(exclusive & 0xffffffff);
    unsigned place = start_in_tile;
#pragma unroll
    for (int w = 0; w < kSortWarps; ++w) {
      const unsigned of_warp = next[w][digit];
      next[w][digit] = place;
      place += of_warp;
    }
  }
  // From here on every thread may assume that each warp's counters are places in the tile.
  __syncthreads();

  const unsigned lower_lanes = (1u << lane) - 1;
#pragma unroll
  for (int r = 0; r < kSortItems; ++r) {
    const unsigned d = digit_of(key[r], k);
    const unsigned same = same_digit(d);
    const int rank = __popc(same & lower_lanes);
    // The highest of these lanes has counted all others. Its atomic addition gives the old value.
    const int highest = kLanes - 1 - __clz(same);
    unsigned place = 0;
    if (lane == highest) place = atomicAdd(&next[warp][d], rank + 1);
    place = __shfl_sync(kAllLanes, place, highest);
    sorted[place + rank] = key[r];
  }

  if (digit < kBins) {
    const unsigned before = look_back_for_digit(states, tile, digit);
    if (tile != 0) {
      store_relaxed(states + tile * kBins + digit, digit_state_of(kPrefix, before + in_tile));
    }
    place_of_digit[digit] = start + static_cast<int>(before) - start_in_tile;
  }
  // From here on every thread may assume that the tile is sorted and that all places are known.
  __syncthreads();

  if (whole) {
#pragma unroll
    for (int r = 0; r < kSortItems; ++r) {
      const int i = r * kSortThreads + threadIdx.x;
      const unsigned moved = sorted[i];
      out[place_of_digit[digit_of(moved, k)] + i] = moved;
    }
  } else {
    for (int i = threadIdx.x; i < left; i += kSortThreads) {
      const unsigned moved = sorted[i];
      out[place_of_digit[digit_of(moved, k)] + i] = moved;
    }
  }
}

LAUNCH_PLAN(radix_pass, Gpu gpu, int n, int k) {
  LaunchPlan plan = plan_with_scratch(0);
  const long long tiles = ceil_div(n, kSortTile);
  const long long words = kFirstState + kBins * tiles;
  plan.scratch_bytes = words * static_cast<long long>(sizeof(unsigned));
  plan.then(KERNEL(radix_pass_clear), {ceil_div(words, kThreads), kThreads});
  plan.then(KERNEL(radix_pass_count), {count_blocks(gpu, n), kCountThreads});
  plan.then(KERNEL(radix_pass_scatter), {tiles, kSortThreads});
  return plan;
}
