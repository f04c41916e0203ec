// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Threads at one place with nothing that orders them: of a block, and of a grid.
#include "corpus.cuh"

__global__ void no_barrier(int* out) {
  __shared__ int tile[kCount];
  tile[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = tile[kCount - 1 - threadIdx.x];  // no_barrier
}

__global__ void no_barrier_before_the_next_round(int* out, const int* in) {
  __shared__ int tile[kCount];
  for (int round = 0; round < 2; ++round) {
    tile[threadIdx.x] = in[threadIdx.x] + round + threadIdx.x;  // no_barrier_before_the_next_round
    __syncthreads();
    out[round * kCount + threadIdx.x] = tile[kCount - 1 - threadIdx.x];
  }
}

__global__ void plain_sum(int* out) { *out += threadIdx.x; }  // plain_sum

__global__ void plain_sum_of_blocks(int* out) {
  if (threadIdx.x == 0) *out += blockIdx.x + 1;  // plain_sum_of_blocks
}

__global__ void plain_sum_in_shared_memory(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  sum += threadIdx.x + 1;  // plain_sum_in_shared_memory
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}

__global__ void plain_histogram(int* out) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  bins[threadIdx.x % 8] += 1;  // plain_histogram
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

__global__ void histogram_cleared_too_late(int* out) {
  __shared__ int bins[32];
  if (threadIdx.x >= kCount - 32) bins[threadIdx.x % 32] = 0;
  atomicAdd(&bins[threadIdx.x % 32], 1);  // histogram_cleared_too_late
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

__global__ void sum_read_too_early(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, 1);
  if (threadIdx.x == 0) *out = sum;  // sum_read_too_early
}

__global__ void other_block_not_waited_for(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  out[i] = i + 1;
  out[n + i] = out[n - 1 - i];  // other_block_not_waited_for
}

__global__ void plain_flag(int* out) {
  if (blockIdx.x == 0) {
    out[0] = 42;
    out[1] = 1;
  } else if (out[1] != 0) {  // plain_flag
    out[2] = 1;
  }
}

__global__ void atomic_of_the_block(int* out) {
  if (threadIdx.x == 0) atomicAdd_block(out, 1);  // atomic_of_the_block
}

__device__ unsigned int blocks_done = 0;
__global__ void last_block_without_a_fence(int* out) {
  if (threadIdx.x != 0) return;
  out[1 + blockIdx.x] = blockIdx.x + 1;
  if (atomicAdd(&blocks_done, 1) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned int i = 0; i < gridDim.x; ++i) sum += out[1 + i];  // last_block_without_a_fence
  *out = sum;
}

__global__ void stencil_in_place(int* out) {
  __shared__ int tile[kCount];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncthreads();
  if (t > 0) tile[t] = tile[t - 1] + 1 + t;  // stencil_in_place
  __syncthreads();
  out[t] = tile[t];
}

__global__ void scan_in_one_buffer(int* out) {
  __shared__ int tile[kCount];
  const int t = threadIdx.x;
  tile[t] = 1;
  for (int by = 1; by < kCount; by *= 2) {
    __syncthreads();
    if (t >= by) tile[t] += tile[t - by];  // scan_in_one_buffer
  }
  __syncthreads();
  out[t] = tile[t];
}

__global__ void reversed_in_place(int* out) {
  const int i = threadIdx.x;
  out[i] = out[kCount - 1 - i] + i;  // reversed_in_place
}

__global__ void barrier_of_too_few(int* out) {
  __shared__ int tile[128];
  tile[threadIdx.x] = threadIdx.x;
  asm volatile("bar.sync %0, 64;" ::"r"(threadIdx.x / 64 + 1u) : "memory");
  out[threadIdx.x] = tile[127 - threadIdx.x];  // barrier_of_too_few
}

__global__ void many_set_different_values(int* out) {
  if (threadIdx.x % 64 == 0) out[0] = threadIdx.x + 1;  // many_set_different_values
}

__global__ void tail_of_the_neighbour(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 2 && i + k < n; ++k) out[i + k] = i + 1;  // tail_of_the_neighbour
}

__global__ void fours_read_too_early(int* out) {
  __shared__ int4 tile[16];
  if (threadIdx.x < 16) tile[threadIdx.x] = make_int4(1, 2, 3, 4);  // fours_read_too_early
  const int4 mine = tile[threadIdx.x / 4];                          // fours_read_too_early
  out[threadIdx.x] = mine.x + mine.y + mine.z + mine.w;
}

__global__ void fours_overwritten_too_early(int* out) {
  __shared__ int4 tile[16];
  if (threadIdx.x < 16) tile[threadIdx.x] = make_int4(1, 2, 3, 4);
  __syncthreads();
  const int4 mine = tile[threadIdx.x / 4];                   // fours_overwritten_too_early
  if (threadIdx.x >= 48) tile[threadIdx.x - 48].y = mine.x;  // fours_overwritten_too_early
  out[threadIdx.x] = mine.x + mine.y + mine.z + mine.w;
}

void run_case(const char* wanted, Arrays d) {
  CASE(no_barrier, "data race", no_barrier<<<1, kCount>>>(d.out));
  CASE(no_barrier_before_the_next_round, "data race",
       no_barrier_before_the_next_round<<<1, kCount>>>(d.out, d.in));
  CASE(plain_sum, "data race", plain_sum<<<1, 64>>>(d.out));
  CASE(plain_sum_of_blocks, "data race", plain_sum_of_blocks<<<4, 32>>>(d.out));
  CASE(plain_sum_in_shared_memory, "data race", plain_sum_in_shared_memory<<<1, 64>>>(d.out));
  CASE(plain_histogram, "data race", plain_histogram<<<1, 64>>>(d.out));
  CASE(histogram_cleared_too_late, "data race", histogram_cleared_too_late<<<1, kCount>>>(d.out));
  CASE(sum_read_too_early, "data race", sum_read_too_early<<<1, 64>>>(d.out));
  CASE(other_block_not_waited_for, "data race", other_block_not_waited_for<<<4, 64>>>(d.out));
  CASE(plain_flag, "data race", plain_flag<<<2, 1>>>(d.out));
  CASE(atomic_of_the_block, "data race", atomic_of_the_block<<<4, 32>>>(d.out));
  CASE(last_block_without_a_fence, "data race", last_block_without_a_fence<<<4, 32>>>(d.out));
  CASE(stencil_in_place, "data race", stencil_in_place<<<1, kCount>>>(d.out));
  CASE(scan_in_one_buffer, "data race", scan_in_one_buffer<<<1, kCount>>>(d.out));
  CASE(reversed_in_place, "data race", reversed_in_place<<<1, kCount>>>(d.out));
  CASE(barrier_of_too_few, "data race", barrier_of_too_few<<<1, 128>>>(d.out));
  CASE(many_set_different_values, "data race", many_set_different_values<<<1, kCount>>>(d.out));
  CASE(tail_of_the_neighbour, "data race", tail_of_the_neighbour<<<4, 32>>>(d.out, 128));
  CASE(fours_read_too_early, "data race", fours_read_too_early<<<1, 64>>>(d.out));
  CASE(fours_overwritten_too_early, "data race", fours_overwritten_too_early<<<1, 64>>>(d.out));
}
