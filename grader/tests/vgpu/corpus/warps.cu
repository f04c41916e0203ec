// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Lanes of one warp: what does not order them, masks, shuffles; and barriers of the block.
#include "corpus.cuh"

__global__ void lanes_exchange(int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = tile[31 - threadIdx.x];  // lanes_exchange
}

__global__ void volatile_sum(int* out) {
  __shared__ volatile int tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  tile[t + 32] = 0;
  for (int by = 16; by > 0; by /= 2) tile[t] = tile[t] + tile[t + by];  // volatile_sum
  out[t] = tile[0];
}

__global__ void volatile_sum_below_a_tree(int* out) {
  __shared__ int tile[128];
  const int t = threadIdx.x;
  tile[t] = 1;
  __syncthreads();
  if (t < 64) tile[t] += tile[t + 64];
  __syncthreads();
  if (t < 32) {
    volatile int* const words = tile;
    words[t] = words[t] + words[t + 32];
    words[t] = words[t] + words[t + 16];  // volatile_sum_below_a_tree
  }
  if (t == 0) *out = tile[0];
}

__global__ void volatile_maximum(int* out, const int* in) {
  __shared__ volatile int tile[64];
  const int t = threadIdx.x;
  tile[t] = in[t] + t;
  tile[t + 32] = 0;
  if (tile[t + 16] > tile[t]) tile[t] = tile[t + 16];  // volatile_maximum
  out[t] = tile[t];
}

__global__ void tree_without_warp_barriers(int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;
  for (int by = 16; by > 0; by /= 2)
    if (t < by) tile[t] += tile[t + by];  // tree_without_warp_barriers
  if (t == 0) *out = tile[0];
}

__global__ void warp_barrier_for_a_block(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = tile[63 - threadIdx.x];  // warp_barrier_for_a_block
}

__global__ void warp_barrier_of_halves(int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = threadIdx.x;
  __syncwarp(threadIdx.x < 16 ? 0xffff : 0xffff0000);
  out[threadIdx.x] = tile[31 - threadIdx.x];  // warp_barrier_of_halves
}

__global__ void small_tiles_exchange_widely(int* out) {
  __shared__ int tile[32];
  const auto eight = cg::tiled_partition<8>(cg::this_thread_block());
  tile[threadIdx.x] = threadIdx.x;
  eight.sync();
  out[threadIdx.x] = tile[threadIdx.x ^ 8];  // small_tiles_exchange_widely
}

__global__ void warp_barrier_in_a_branch(int* out) {
  if (threadIdx.x < 16) {
    out[threadIdx.x] = 1;
    __syncwarp();  // warp_barrier_in_a_branch
  }
  __syncthreads();
}

__global__ void warp_barrier_without_itself(int* out) {
  out[threadIdx.x] = 1;
  __syncwarp(0xffff);  // warp_barrier_without_itself
}

__global__ void masks_that_differ(int* out) {
  out[threadIdx.x] = 1;
  if (threadIdx.x < 16)
    __syncwarp(0xffff);
  else
    __syncwarp();  // masks_that_differ
  __syncthreads();
}

__global__ void vote_names_who_is_elsewhere(int* out) {
  if (threadIdx.x < 16)
    out[threadIdx.x] = __any_sync(kAll, out[threadIdx.x] > 0);  // vote_names_who_is_elsewhere
  __syncthreads();
}

__global__ void ballot_without_itself(int* out) {
  out[threadIdx.x] = __ballot_sync(1, out[threadIdx.x] == 0);  // ballot_without_itself
}

__global__ void shuffle_in_a_branch(int* out) {
  int value = threadIdx.x;
  if (threadIdx.x < 16) value = __shfl_down_sync(kAll, value, 8);  // shuffle_in_a_branch
  __syncthreads();
  out[threadIdx.x] = value;
}

__global__ void shuffle_from_who_has_left(int* out) {
  if (threadIdx.x >= 24) return;
  int value = threadIdx.x;
  for (int by = 16; by > 0; by /= 2)
    value += __shfl_down_sync(kAll, value, by);  // shuffle_from_who_has_left
  if (threadIdx.x == 0) *out = value;
}

__global__ void shuffle_outside_the_mask(int* out) {
  int value = threadIdx.x;
  if (threadIdx.x < 8) value = __shfl_sync(0xff, value, 9);  // shuffle_outside_the_mask
  out[threadIdx.x] = value;
}

__global__ void broadcast_from_who_left(int* out) {
  if (threadIdx.x == 0) return;
  out[threadIdx.x] = __shfl_sync(kAll, threadIdx.x, 0);  // broadcast_from_who_left
}

__global__ void barrier_in_a_branch(int* out) {
  if (threadIdx.x < 16) __syncthreads();  // barrier_in_a_branch
  out[threadIdx.x] = 1;
}

__global__ void return_before_a_barrier(int* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  out[i] = 1;
  __syncthreads();  // return_before_a_barrier
  out[i] += out[n - 1 - i] > 5;
}

__global__ void barriers_in_both_branches(int* out) {
  if (threadIdx.x % 2 == 0) {
    out[threadIdx.x] = 1;
    __syncthreads();  // barriers_in_both_branches
  } else {
    __syncthreads();
    out[threadIdx.x] = 2;
  }
}

__global__ void barrier_in_a_loop(int* out) {
  for (unsigned int i = 0; i < threadIdx.x % 4; ++i) {
    out[threadIdx.x] += 1;
    __syncthreads();  // barrier_in_a_loop
  }
}

__global__ void barrier_that_nobody_completes(int* out) {
  out[threadIdx.x] = 1;
  asm volatile("bar.sync 1, 96;" ::: "memory");  // barrier_that_nobody_completes
}

__global__ void width_of_twelve(int* out) {
  out[threadIdx.x] = __shfl_sync(kAll, threadIdx.x, 3, 12);  // width_of_twelve
}

__global__ void width_by_the_size(int* out, int n) {
  int sum = threadIdx.x;
  for (int by = n / 2; by > 0; by /= 2)
    sum += __shfl_down_sync(kAll, sum, by, n);  // width_by_the_size
  out[threadIdx.x] = sum;
}

__global__ void widths_of_all_powers(int* out) {
  int sum = threadIdx.x;
  for (int width = 1; width <= 32; width *= 2) sum += __shfl_xor_sync(kAll, sum, width / 2, width);
  out[threadIdx.x] = sum;
}

__global__ void barrier_of_half_a_warp(int* out, int threads) {
  asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");  // barrier_of_half_a_warp
  out[threadIdx.x] = 1;
}

void run_case(const char* wanted, Arrays d) {
  CASE(lanes_exchange, "data race", lanes_exchange<<<1, 32>>>(d.out));
  CASE(volatile_sum, "data race", volatile_sum<<<1, 32>>>(d.out));
  CASE(volatile_sum_below_a_tree, "data race", volatile_sum_below_a_tree<<<1, 128>>>(d.out));
  CASE(volatile_maximum, "data race", volatile_maximum<<<1, 32>>>(d.out, d.in));
  CASE(tree_without_warp_barriers, "data race", tree_without_warp_barriers<<<1, 32>>>(d.out));
  CASE(warp_barrier_for_a_block, "data race", warp_barrier_for_a_block<<<1, 64>>>(d.out));
  CASE(warp_barrier_of_halves, "data race", warp_barrier_of_halves<<<1, 32>>>(d.out));
  CASE(small_tiles_exchange_widely, "data race", small_tiles_exchange_widely<<<1, 32>>>(d.out));
  CASE(warp_barrier_in_a_branch, "invalid member mask", warp_barrier_in_a_branch<<<1, 32>>>(d.out));
  CASE(warp_barrier_without_itself, "invalid member mask",
       warp_barrier_without_itself<<<1, 32>>>(d.out));
  CASE(masks_that_differ, "invalid member mask", masks_that_differ<<<1, 32>>>(d.out));
  CASE(vote_names_who_is_elsewhere, "invalid member mask",
       vote_names_who_is_elsewhere<<<1, 32>>>(d.out));
  CASE(ballot_without_itself, "invalid member mask", ballot_without_itself<<<1, 32>>>(d.out));
  CASE(shuffle_in_a_branch, "invalid member mask", shuffle_in_a_branch<<<1, 32>>>(d.out));
  CASE(shuffle_from_who_has_left, "shuffle from a missing lane",
       shuffle_from_who_has_left<<<1, 32>>>(d.out));
  CASE(shuffle_outside_the_mask, "shuffle from a missing lane",
       shuffle_outside_the_mask<<<1, 32>>>(d.out));
  CASE(broadcast_from_who_left, "shuffle from a missing lane",
       broadcast_from_who_left<<<1, 32>>>(d.out));
  CASE(barrier_in_a_branch, "divergent barrier", barrier_in_a_branch<<<1, 32>>>(d.out));
  CASE(return_before_a_barrier, "remark: return before a barrier",
       return_before_a_barrier<<<1, 96>>>(d.out, 64));
  CASE(barriers_in_both_branches, "divergent barrier", barriers_in_both_branches<<<1, 32>>>(d.out));
  CASE(barrier_in_a_loop, "divergent barrier", barrier_in_a_loop<<<1, 32>>>(d.out));
  CASE(width_of_twelve, "invalid shuffle width", width_of_twelve<<<1, 32>>>(d.out));
  CASE(width_by_the_size, "invalid shuffle width", width_by_the_size<<<1, 32>>>(d.out, 24));
  RIGHT(widths_of_all_powers, widths_of_all_powers<<<1, 32>>>(d.out));
  CASE(barrier_of_half_a_warp, "invalid barrier count",
       barrier_of_half_a_warp<<<1, 64>>>(d.out, 48));
  CASE(barrier_that_nobody_completes, "deadlock", barrier_that_nobody_completes<<<1, 64>>>(d.out));
}
