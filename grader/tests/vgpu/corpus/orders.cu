// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Volatile words and relaxed atomics, which order nothing but themselves: the mistakes of races.cu
// once more with `volatile`, words handed over without a fence, and the ways in which such words
// are used rightly.
#include "corpus.cuh"

__global__ void volatile_exchange(int* out) {
  __shared__ volatile int tile[kCount];
  tile[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = tile[kCount - 1 - threadIdx.x];  // volatile_exchange
}

__global__ void volatile_tile_of_the_next_round(int* out, const int* in) {
  __shared__ volatile int tile[kCount];
  for (int round = 0; round < 2; ++round) {
    tile[threadIdx.x] = in[threadIdx.x] + round + threadIdx.x;  // volatile_tile_of_the_next_round
    __syncthreads();
    out[round * kCount + threadIdx.x] = tile[kCount - 1 - threadIdx.x];
  }
}

__global__ void volatile_plain_sum(int* out) {
  __shared__ volatile int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) sum = sum + threadIdx.x + 1;  // volatile_plain_sum
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}

__global__ void volatile_histogram(int* out) {
  __shared__ volatile int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x % 32 < 8)
    bins[threadIdx.x % 8] = bins[threadIdx.x % 8] + 1;  // volatile_histogram
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}

__global__ void last_warp_adds_up_too_early(int* out) {
  __shared__ volatile int of_warp[kCount / 32];
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = threadIdx.x;
  if (threadIdx.x != kCount - 32) return;
  int sum = 0;
  for (int w = 0; w < kCount / 32; ++w) sum += of_warp[w];  // last_warp_adds_up_too_early
  *out = sum;
}

__global__ void volatile_stencil_in_place(int* out) {
  __shared__ volatile int tile[kCount];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  if (t % 32 == 0 && t > 0) tile[t] = tile[t - 32] + 1 + t;  // volatile_stencil_in_place
  __syncthreads();
  out[t] = tile[t];
}

__global__ void volatile_array_reversed_in_place(int* out) {
  volatile int* const words = out;
  const int i = threadIdx.x;
  words[i] = words[kCount - 1 - i] + i;  // volatile_array_reversed_in_place
}

__global__ void volatile_barrier_of_too_few(int* out) {
  __shared__ volatile int tile[128];
  tile[threadIdx.x] = threadIdx.x;
  asm volatile("bar.sync %0, 64;" ::"r"(threadIdx.x / 64 + 1u) : "memory");
  out[threadIdx.x] = tile[127 - threadIdx.x];  // volatile_barrier_of_too_few
}

__global__ void volatile_word_of_many(int* out) {
  volatile int* const words = out;
  if (threadIdx.x % 64 == 0) words[0] = threadIdx.x + 1;  // volatile_word_of_many
}

__global__ void fence_for_a_barrier(int* out) {
  __shared__ volatile int tile[kCount];
  tile[threadIdx.x] = threadIdx.x;
  __threadfence_block();
  out[threadIdx.x] = tile[kCount - 1 - threadIdx.x];  // fence_for_a_barrier
}

__global__ void plain_fence_for_a_barrier(int* out) {
  __shared__ int tile[kCount];
  tile[threadIdx.x] = threadIdx.x;
  __threadfence_block();
  out[threadIdx.x] = tile[kCount - 1 - threadIdx.x];  // plain_fence_for_a_barrier
}

__global__ void volatile_flag_without_a_fence(int* out) {
  volatile int *const flag = out, *const words = out + 1;
  if (blockIdx.x == 0) {
    *words = 42;
    *flag = 1;
  } else {
    while (*flag == 0) continue;
    out[2] = *words;  // volatile_flag_without_a_fence
  }
}

__global__ void volatile_flag_of_a_warp_without_a_fence(int* out) {
  __shared__ volatile int flag, word;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    word = 42;
    flag = 1;
  } else if (threadIdx.x == 32) {
    while (flag == 0) continue;
    *out = word;  // volatile_flag_of_a_warp_without_a_fence
  }
}

__global__ void atomic_flag_without_a_fence(int* out, const int* in) {
  __shared__ int flag, word;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    word = in[0] + 42;
    atomicExch(&flag, 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd(&flag, 0) == 0) continue;
    *out = word;  // atomic_flag_without_a_fence
  }
}

__global__ void counted_without_a_fence(int* out) {
  __shared__ int arrived, words[4];
  if (threadIdx.x == 0) arrived = 0;
  __syncthreads();
  if (threadIdx.x % 32 != 0) return;
  words[threadIdx.x / 32] = threadIdx.x + 1;
  if (atomicAdd(&arrived, 1) == 3)
    *out = words[0] + words[1] + words[2] + words[3];  // counted_without_a_fence
}

__global__ void lock_given_back_by_a_store(int* out) {
  volatile int* const lock = out + 1;
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(out + 1, 0, 1) != 0) continue;
  *out += 1;  // lock_given_back_by_a_store
  *lock = 0;
}

__global__ void waits_with_fences(int* out) {
  volatile int *const flag = out, *const words = out + 1;
  if (blockIdx.x == 0) {
    *words = 42;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) continue;
    __threadfence();
    out[2] = *words;
  }
}

__global__ void warp_waits_with_fences(int* out) {
  __shared__ volatile int flag, word;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    word = 42;
    __threadfence_block();
    flag = 1;
  } else if (threadIdx.x == 32) {
    while (flag == 0) continue;
    __threadfence_block();
    *out = word;
  }
}

// Two warps take turns at one word.
__global__ void warps_take_turns(int* out) {
  __shared__ volatile int turn, word;
  if (threadIdx.x == 0) turn = word = 0;
  __syncthreads();
  if (threadIdx.x % 32 != 0) return;
  const int mine = threadIdx.x / 32;
  for (int round = 0; round < 4; ++round) {
    while (turn != mine) continue;
    __threadfence_block();
    word = word + 1;
    __threadfence_block();
    turn = 1 - mine;
  }
  if (mine == 1) *out = word;
}

__device__ unsigned int ended_blocks = 0;
__global__ void last_block_reads_volatile_words(int* out) {
  volatile int* const of_block = out + 1;
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    of_block[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    is_last = atomicInc(&ended_blocks, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned int i = 0; i < gridDim.x; ++i) sum += of_block[i];
  *out = sum;
}

// Whoever finds the word says so; others look now and then, and need not know it at once.
__global__ void stops_when_it_is_found(int* out, const int* in) {
  __shared__ volatile int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < 2 * kCount; i += blockDim.x) {
    if (found != 0) break;
    if (in[i] == 0) found = 1;
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = found;
}

__global__ void last_warp_adds_up_behind_a_barrier(int* out) {
  __shared__ volatile int of_warp[kCount / 32];
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x != kCount - 32) return;
  int sum = 0;
  for (int w = 0; w < kCount / 32; ++w) sum += of_warp[w];
  *out = sum;
}

__global__ void lock_with_volatile_words(int* out) {
  volatile int* const word = out;
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(out + 1, 0, 1) != 0) continue;
  __threadfence();
  *word = *word + 1;
  __threadfence();
  atomicExch(out + 1, 0);
}

// Values and states of a look-back in words of their own.
__global__ void looks_back_at_volatile_words(int* out) {
  volatile int *const states = out, *const values = out + 64;
  if (threadIdx.x != 0) return;
  const int b = blockIdx.x;
  values[b] = b + 1;
  __threadfence();
  states[b] = 1;
  int sum = b + 1;
  for (int at = b - 1; at >= 0; --at) {
    while (states[at] == 0) continue;
    __threadfence();
    sum += values[at];
  }
  out[128 + b] = sum;
}

// The halves of a warp take turns. One lane passes the turn on, and its fence orders what it did
// itself: only a warp barrier adds what the other lanes of its half did.
template <bool meets, typename Word>
__device__ void take_turns(int* out) {
  __shared__ Word box[32];
  __shared__ volatile int turn;
  const int t = threadIdx.x, half = t / 16;
  box[t] = t;
  if (t == 0) turn = 0;
  __syncwarp();
  for (int round = half; round < 4; round += 2) {
    while (turn != round) continue;
    __threadfence_block();
    box[t] = box[t] + box[t ^ 16];  // halves_take_turns_unmet, volatile_halves_take_turns_unmet
    if (meets) __syncwarp(half == 0 ? 0xffffu : 0xffff0000u);
    __threadfence_block();
    if (t % 16 == 0) turn = round + 1;
  }
  out[t] = box[t];
}
__global__ void halves_take_turns(int* out) { take_turns<true, int>(out); }
__global__ void volatile_halves_take_turns(int* out) { take_turns<true, volatile int>(out); }
__global__ void halves_take_turns_unmet(int* out) { take_turns<false, int>(out); }
__global__ void volatile_halves_take_turns_unmet(int* out) { take_turns<false, volatile int>(out); }

void run_case(const char* wanted, Arrays d) {
  CASE(volatile_exchange, "data race", volatile_exchange<<<1, kCount>>>(d.out));
  CASE(volatile_tile_of_the_next_round, "data race",
       volatile_tile_of_the_next_round<<<1, kCount>>>(d.out, d.in));
  CASE(volatile_plain_sum, "data race", volatile_plain_sum<<<1, 64>>>(d.out));
  CASE(volatile_histogram, "data race", volatile_histogram<<<1, 64>>>(d.out));
  CASE(last_warp_adds_up_too_early, "data race", last_warp_adds_up_too_early<<<1, kCount>>>(d.out));
  CASE(volatile_stencil_in_place, "data race", volatile_stencil_in_place<<<1, kCount>>>(d.out));
  CASE(volatile_array_reversed_in_place, "data race",
       volatile_array_reversed_in_place<<<1, kCount>>>(d.out));
  CASE(volatile_barrier_of_too_few, "data race", volatile_barrier_of_too_few<<<1, 128>>>(d.out));
  CASE(volatile_word_of_many, "data race", volatile_word_of_many<<<1, kCount>>>(d.out));
  CASE(fence_for_a_barrier, "data race", fence_for_a_barrier<<<1, kCount>>>(d.out));
  CASE(plain_fence_for_a_barrier, "data race", plain_fence_for_a_barrier<<<1, kCount>>>(d.out));
  CASE(volatile_flag_without_a_fence, "data race", volatile_flag_without_a_fence<<<2, 1>>>(d.out));
  CASE(volatile_flag_of_a_warp_without_a_fence, "data race",
       volatile_flag_of_a_warp_without_a_fence<<<1, 64>>>(d.out));
  CASE(atomic_flag_without_a_fence, "data race",
       atomic_flag_without_a_fence<<<1, 64>>>(d.out, d.in));
  CASE(counted_without_a_fence, "data race", counted_without_a_fence<<<1, 128>>>(d.out));
  CASE(lock_given_back_by_a_store, "data race", lock_given_back_by_a_store<<<1, 64>>>(d.out));
  CASE(halves_take_turns_unmet, "data race", halves_take_turns_unmet<<<1, 32>>>(d.out));
  CASE(volatile_halves_take_turns_unmet, "data race",
       volatile_halves_take_turns_unmet<<<1, 32>>>(d.out));
  RIGHT(halves_take_turns, halves_take_turns<<<1, 32>>>(d.out));
  RIGHT(volatile_halves_take_turns, volatile_halves_take_turns<<<1, 32>>>(d.out));
  RIGHT(waits_with_fences, waits_with_fences<<<2, 1>>>(d.out));
  RIGHT(warp_waits_with_fences, warp_waits_with_fences<<<1, 64>>>(d.out));
  RIGHT(warps_take_turns, warps_take_turns<<<1, 64>>>(d.out));
  RIGHT(last_block_reads_volatile_words, last_block_reads_volatile_words<<<4, 64>>>(d.out));
  RIGHT(stops_when_it_is_found, stops_when_it_is_found<<<1, 64>>>(d.out, d.in));
  RIGHT(last_warp_adds_up_behind_a_barrier,
        last_warp_adds_up_behind_a_barrier<<<1, kCount>>>(d.out));
  RIGHT(lock_with_volatile_words, lock_with_volatile_words<<<1, 64>>>(d.out));
  RIGHT(looks_back_at_volatile_words, looks_back_at_volatile_words<<<8, 32>>>(d.out));
}
