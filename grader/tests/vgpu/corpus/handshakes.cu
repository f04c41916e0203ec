// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Who tells whom that data is there: protocols of fences, flags, counters and barriers, each right
// and with one mistake.
#include <cuda/atomic>
#include <cuda/barrier>

#include "corpus.cuh"

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;
using Device = cuda::atomic_ref<int, cuda::thread_scope_device>;

// Block 0 fills, block 1 reads; one thread of each tells and waits.
template <typename Fill>
__device__ void fill_and_tell(int* out, int* data, Fill fill) {
  volatile int* const flag = data + kCount;
  if (blockIdx.x == 0) {
    fill();
    if (threadIdx.x == 0) *flag = 1;
    return;
  }
  if (threadIdx.x == 0)
    while (*flag == 0) {
    }
  __syncthreads();
  __threadfence();
  out[threadIdx.x] = data[63 - threadIdx.x];  // fence_before_the_write, barrier_without_a_fence
}
// Not its own fence orders what the flag's writer tells of, but those that all made before.
__global__ void each_fences_and_one_tells(int* out, int* data) {
  fill_and_tell(out, data, [&] {
    data[threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
  });
}
__global__ void one_fences_behind_the_barrier(int* out, int* data) {
  fill_and_tell(out, data, [&] {
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) __threadfence();
  });
}
__global__ void fence_before_the_write(int* out, int* data) {
  fill_and_tell(out, data, [&] {
    __threadfence();
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
  });
}
__global__ void barrier_without_a_fence(int* out, int* data) {
  fill_and_tell(out, data, [&] {
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
  });
}

// The same by way of cuda::barrier, which tells the block what one of its threads has learnt.
__global__ void learnt_by_one_for_all(int* out, int* data) {
  __shared__ BlockBarrier barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  volatile int* const flag = data + kCount;
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;
    __threadfence();
    barrier.arrive_and_wait();
    if (threadIdx.x == 0) *flag = 1;
  } else {
    if (threadIdx.x == 0)
      while (*flag == 0) {
      }
    barrier.arrive_and_wait();
    __threadfence();
    out[threadIdx.x] = data[63 - threadIdx.x];
  }
}

// One lane tells what its whole warp has done, and one waits for a whole warp: between two blocks
// in global memory, between two warps in shared memory. Each must have met the other lanes.
enum class Meets { kNot, kByBarrier, kByShuffle };
template <Meets meets>
__device__ void meet() {
  if (meets == Meets::kByBarrier) __syncwarp();
  if (meets == Meets::kByShuffle) __shfl_sync(~0u, threadIdx.x, 0);
}
template <Meets teller, Meets waiter>
__device__ void tell_for_a_warp(int* out, int* data, volatile int* flag, bool tells) {
  const int t = threadIdx.x % 32;
  if (tells) {
    data[t] = t;  // awaits_a_warp
    __threadfence();
    meet<teller>();
    if (t == 0) *flag = 1;
  } else {
    while (t == 0 && *flag == 0) {
    }
    meet<waiter>();
    __threadfence();
    out[t] = data[31 - t];  // tells_a_block, awaits_a_block, tells_a_warp, awaits_a_warp
  }
}
template <Meets teller, Meets waiter>
__global__ void between_blocks(int* out, int* data) {
  tell_for_a_warp<teller, waiter>(out, data, data + kCount, blockIdx.x == 0);
}
template <Meets teller, Meets waiter>
__global__ void between_warps(int* out) {
  __shared__ int data[32];
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  tell_for_a_warp<teller, waiter>(out, data, &flag, threadIdx.x < 32);
}

// A barrier of the grid out of a counter.
template <bool barrier>
__device__ void counts_blocks(int* out, int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  volatile int* const count = in + kCount;
  for (int round = 1; round < 4; ++round) {
    int *const from = round % 2 == 0 ? out : in, *const to = round % 2 == 0 ? in : out;
    to[i] = from[(i + 33) % n] + 1;  // counts_before_all_are_done
    __threadfence();
    if (barrier) __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(in + kCount, 1);
      while (*count < static_cast<int>(gridDim.x) * round) {
      }
    }
    __syncthreads();
  }
}
__global__ void counts_blocks_that_are_done(int* out, int* in) { counts_blocks<true>(out, in); }
__global__ void counts_before_all_are_done(int* out, int* in) { counts_blocks<false>(out, in); }

// A scan that looks back: state 1 says that a block's sum is there, 2 that the sum up to it is.
template <cuda::memory_order order>
__device__ void look_back(int* out, int* states) {
  const int b = blockIdx.x, sum = b + 1;
  int *const sums = states + 16, *const sums_up_to = states + 32;
  if (threadIdx.x != 0) return;
  sums[b] = sum;
  Device(states[b]).store(1, order);
  int before = 0;
  for (int look = b - 1; look >= 0;) {
    const int state = Device(states[look]).load(cuda::memory_order_acquire);
    if (state == 2) {
      before += sums_up_to[look];  // looks_back_unreleased
      break;
    }
    if (state == 1) before += sums[look--];  // looks_back_unreleased
  }
  sums_up_to[b] = before + sum;
  Device(states[b]).store(2, order);
  out[b] = before;
}
__global__ void looks_back_at_two_states(int* out, int* states) {
  look_back<cuda::memory_order_release>(out, states);
}
__global__ void looks_back_unreleased(int* out, int* states) {
  look_back<cuda::memory_order_relaxed>(out, states);
}

// A ring of four places in shared memory: one warp fills, one empties.
template <bool waits_for_room>
__device__ void ring(int* out) {
  __shared__ int places[4][32];
  __shared__ volatile int filled, emptied;
  const int t = threadIdx.x % 32;
  if (threadIdx.x == 0) filled = emptied = 0;
  __syncthreads();
  for (int i = 0; i < 8; ++i) {
    if (threadIdx.x < 32) {
      while (waits_for_room && i - emptied >= 4) {
      }
      __threadfence_block();
      __syncwarp();
      places[i % 4][t] = i + t;  // ring_overtakes_itself
    } else {
      while (filled <= i) {
      }
      __threadfence_block();
      __syncwarp();
      out[i * 32 + t] = places[i % 4][31 - t];  // ring_overtakes_itself
    }
    __threadfence_block();
    __syncwarp();
    if (t == 0) (threadIdx.x < 32 ? filled : emptied) = i + 1;
  }
}
__global__ void ring_between_warps(int* out) { ring<true>(out); }
__global__ void ring_overtakes_itself(int* out) { ring<false>(out); }

// Rings in global memory: one block fills, the other empties.
template <bool waits_for_room>
__device__ void ring_of_blocks(int* out, int* places) {
  volatile int *const filled = places + kCount, *const emptied = filled + 1;
  const int t = threadIdx.x;
  for (int i = 0; i < 8; ++i) {
    int* const place = places + i % 4 * 64;
    if (blockIdx.x == 0) {
      while (t == 0 && waits_for_room && i - *emptied >= 4) {
      }
      __threadfence();
      __syncthreads();
      place[t] = i + t;  // ring_overtakes_a_block
    } else {
      while (t == 0 && *filled <= i) {
      }
      __threadfence();
      __syncthreads();
      out[i * 64 + t] = place[63 - t];  // ring_overtakes_a_block
    }
    __threadfence();
    __syncthreads();
    if (t == 0) *(blockIdx.x == 0 ? filled : emptied) = i + 1;
  }
}
__global__ void ring_between_blocks(int* out, int* in) { ring_of_blocks<true>(out, in); }
__global__ void ring_overtakes_a_block(int* out, int* in) { ring_of_blocks<false>(out, in); }

// The same with a flag for each place; whoever waits polls with an atomic that changes nothing.
enum class Frees { kWhenRead, kTooEarly };
template <Frees frees, bool waits_for_room>
__device__ void flagged_ring(int* out, int* places) {
  const int t = threadIdx.x;
  for (int i = 0; i < 8; ++i) {
    Device full(places[kCount + i % 2]);
    const bool fills = blockIdx.x == 1;
    while (t == 0 && (waits_for_room || !fills) && full.fetch_add(0) != !fills) {
    }
    __syncwarp();
    int* const place = places + i % 2 * 32;
    if (fills)
      place[t] = i + t;  // flagged_ring_overtakes, flag_freed_too_early
    else if (frees == Frees::kTooEarly && t == 0)
      full.store(0, cuda::memory_order_release);
    __syncwarp();
    if (!fills) out[i * 32 + t] = place[31 - t];  // flagged_ring_overtakes, flag_freed_too_early
    __syncwarp();
    if (t == 0 && (fills || frees == Frees::kWhenRead))
      full.store(fills, cuda::memory_order_release);
  }
}
__global__ void flagged_ring_between_blocks(int* out, int* in) {
  flagged_ring<Frees::kWhenRead, true>(out, in);
}
__global__ void flagged_ring_overtakes(int* out, int* in) {
  flagged_ring<Frees::kWhenRead, false>(out, in);
}
__global__ void flag_freed_too_early(int* out, int* in) {
  flagged_ring<Frees::kTooEarly, true>(out, in);
}

// One place and two barriers: full, and free again.
template <bool reads_first>
__device__ void full_and_free(int* out) {
  __shared__ BlockBarrier full, free;
  __shared__ int place[32];
  const int t = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    init(&full, 64);
    init(&free, 64);
  }
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    if (threadIdx.x < 32) {
      if (i > 0) free.arrive_and_wait();
      place[t] = i + t;  // free_before_it_is_read
      static_cast<void>(full.arrive());
    } else {
      full.arrive_and_wait();
      if (!reads_first && i < 3) static_cast<void>(free.arrive());
      out[i * 32 + t] = place[31 - t];  // free_before_it_is_read
      if (reads_first && i < 3) static_cast<void>(free.arrive());
    }
  }
}
__global__ void free_when_it_is_read(int* out) { full_and_free<true>(out); }
__global__ void free_before_it_is_read(int* out) { full_and_free<false>(out); }

// Threads take work by number; the number itself is shared.
template <bool second_barrier>
__device__ void take_work(int* out, int* next) {
  __shared__ int number;
  for (int mine = 0; mine < 12;) {
    if (threadIdx.x == 0) number = atomicAdd(next, 1);  // number_taken_too_early
    __syncthreads();
    mine = number;  // number_taken_too_early
    if (second_barrier) __syncthreads();
    if (mine < 12 && threadIdx.x < 32) out[mine * 32 + threadIdx.x] = mine;
  }
}
__global__ void takes_work_by_number(int* out, int* next) { take_work<true>(out, next); }
__global__ void number_taken_too_early(int* out, int* next) { take_work<false>(out, next); }

// A network that sorts: pairs up to `within` apart are left to a warp barrier.
template <int within>
__device__ void sort_pairs(int* out) {
  __shared__ int v[128];
  const int t = threadIdx.x;
  v[t] = t * 37 % 128;
  __syncthreads();
  for (int size = 2; size <= 128; size *= 2)
    for (int by = size / 2; by > 0; by /= 2) {
      if (t < (t ^ by)) {
        const int a = v[t], b = v[t ^ by];  // pairs_of_two_warps
        const bool swap = (a > b) == ((t & size) == 0);
        v[t] = swap ? b : a;       // pairs_of_two_warps
        v[t ^ by] = swap ? a : b;  // pairs_of_two_warps
      }
      if (by > 1 && by <= within)
        __syncwarp();
      else
        __syncthreads();
    }
  out[t] = v[t];
}
__global__ void pairs_of_one_warp(int* out) { sort_pairs<16>(out); }
__global__ void pairs_of_two_warps(int* out) { sort_pairs<64>(out); }

// A compaction in place. What a block hands on is made of its whole tile, so that nobody writes
// there before it is read, although nothing is released.
template <bool reads_again>
__device__ void compact(int* data, unsigned long long* sums) {
  __shared__ int kept, before;
  const int b = blockIdx.x, i = b * blockDim.x + threadIdx.x;
  const int mine = data[i];
  if (threadIdx.x == 0) kept = 0;
  __syncthreads();
  const bool keeps = (mine + i) % 2 == 0;
  const int place = keeps ? atomicAdd(&kept, 1) : 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    volatile unsigned long long* const places = sums;
    unsigned long long sum = 0;
    while (b > 0 && (sum = places[b - 1]) == 0) {
    }
    before = static_cast<int>(sum);
    places[b] = 1ull << 32 | static_cast<unsigned int>(before + kept);
  }
  __syncthreads();
  const int value = (reads_again ? data[i] : mine) + i + 1;  // compacts_and_reads_again
  if (keeps) data[before + place] = value;                   // compacts_and_reads_again
}
__global__ void compacts_in_place(int* data, unsigned long long* sums) {
  compact<false>(data, sums);
}
__global__ void compacts_and_reads_again(int* data, unsigned long long* sums) {
  compact<true>(data, sums);
}

void run_case(const char* wanted, Arrays d) {
  CASE(fence_before_the_write, "data race", fence_before_the_write<<<2, 64>>>(d.out, d.in));
  CASE(barrier_without_a_fence, "data race", barrier_without_a_fence<<<2, 64>>>(d.out, d.in));
  CASE(counts_before_all_are_done, "data race", counts_before_all_are_done<<<4, 64>>>(d.out, d.in));
  CASE(looks_back_unreleased, "data race", looks_back_unreleased<<<8, 32>>>(d.out, d.in));
  CASE(ring_overtakes_itself, "data race", ring_overtakes_itself<<<1, 64>>>(d.out));
  CASE(ring_overtakes_a_block, "data race", ring_overtakes_a_block<<<2, 64>>>(d.out, d.in));
  CASE(flagged_ring_overtakes, "data race", flagged_ring_overtakes<<<2, 32>>>(d.out, d.in));
  CASE(flag_freed_too_early, "data race", flag_freed_too_early<<<2, 32>>>(d.out, d.in));
  CASE(free_before_it_is_read, "data race", free_before_it_is_read<<<1, 64>>>(d.out));
  CASE(number_taken_too_early, "data race", number_taken_too_early<<<2, 64>>>(d.out, d.in));
  CASE(pairs_of_two_warps, "data race", pairs_of_two_warps<<<1, 128>>>(d.out));
  constexpr auto kNot = Meets::kNot, kMeets = Meets::kByBarrier, kShuffles = Meets::kByShuffle;
  CASE(tells_a_block, "data race", (between_blocks<kNot, kMeets><<<2, 32>>>(d.out, d.in)));
  CASE(awaits_a_block, "data race", (between_blocks<kMeets, kNot><<<2, 32>>>(d.out, d.in)));
  CASE(tells_a_warp, "data race", (between_warps<kNot, kMeets><<<1, 64>>>(d.out)));
  CASE(awaits_a_warp, "data race", (between_warps<kMeets, kNot><<<1, 64>>>(d.out)));
  const auto sums = reinterpret_cast<unsigned long long*>(d.out);
  CASE(compacts_and_reads_again, "data race", compacts_and_reads_again<<<8, 64>>>(d.in, sums));
  RIGHT(each_fences_and_one_tells, each_fences_and_one_tells<<<2, 64>>>(d.out, d.in));
  RIGHT(one_fences_behind_the_barrier, one_fences_behind_the_barrier<<<2, 64>>>(d.out, d.in));
  RIGHT(met_before_it_tells, (between_blocks<kMeets, kMeets><<<2, 32>>>(d.out, d.in)));
  RIGHT(met_by_shuffles, (between_blocks<kShuffles, kShuffles><<<2, 32>>>(d.out, d.in)));
  RIGHT(met_in_its_block, (between_warps<kMeets, kShuffles><<<1, 64>>>(d.out)));
  RIGHT(learnt_by_one_for_all, learnt_by_one_for_all<<<2, 64>>>(d.out, d.in));
  RIGHT(counts_blocks_that_are_done, counts_blocks_that_are_done<<<4, 64>>>(d.out, d.in));
  RIGHT(looks_back_at_two_states, looks_back_at_two_states<<<8, 32>>>(d.out, d.in));
  RIGHT(ring_between_warps, ring_between_warps<<<1, 64>>>(d.out));
  RIGHT(ring_between_blocks, ring_between_blocks<<<2, 64>>>(d.out, d.in));
  RIGHT(flagged_ring_between_blocks, flagged_ring_between_blocks<<<2, 32>>>(d.out, d.in));
  RIGHT(free_when_it_is_read, free_when_it_is_read<<<1, 64>>>(d.out));
  RIGHT(takes_work_by_number, takes_work_by_number<<<2, 64>>>(d.out, d.in));
  RIGHT(compacts_in_place, compacts_in_place<<<8, 64>>>(d.in, sums));
  RIGHT(pairs_of_one_warp, pairs_of_one_warp<<<1, 128>>>(d.out));
}
