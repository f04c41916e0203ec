// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: what threads of a block share: barriers with and without votes, named barriers,
/// shared memory, special registers.
#include "grader/gpu_truth/conformance/conformance.cuh"

#define THREAD static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))

CASE_GRID(special_registers_3d, 12 * 60, dim3(2, 3, 2), dim3(5, 3, 4)) {
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  out[block * 60 + THREAD] = threadIdx.x | threadIdx.y << 4 | threadIdx.z << 8 | blockIdx.x << 12 |
                             blockIdx.y << 16 | blockIdx.z << 20 | gridDim.y << 24 |
                             blockDim.z << 28;
}
CASE_GRID(warps_of_a_flat_block, 80, dim3(1), dim3(8, 10)) {
  std::uint32_t lane_id;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane_id));
  out[THREAD] = lane_id;
}
CASE_GRID(shared_reversal, 256, dim3(1), dim3(256)) {
  __shared__ int values[256];
  values[lane] = lane * lane;
  __syncthreads();
  out[lane] = values[255 - lane];
}
CASE_FULL(dynamic_shared, 128, dim3(1), dim3(128), 1024, "") {
  extern __shared__ double dynamic[];
  dynamic[lane] = lane * 0.5;
  __syncthreads();
  out[lane] = __float_as_uint(static_cast<float>(dynamic[(lane * 5) % 128]));
}
CASE_GRID(shared_tree_sum, 4, dim3(4), dim3(128)) {
  __shared__ int sums[128];
  sums[lane] = lane * (blockIdx.x + 1);
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (lane < half) sums[lane] += sums[lane + half];
  }
  if (lane == 0) out[blockIdx.x] = sums[0];
}
CASE_GRID(transpose_tile, 1024, dim3(1), dim3(32, 8)) {
  __shared__ int tile[32][33];
  for (int row = threadIdx.y; row < 32; row += 8) tile[row][threadIdx.x] = row * 100 + threadIdx.x;
  __syncthreads();
  for (int row = threadIdx.y; row < 32; row += 8)
    out[row * 32 + threadIdx.x] = tile[threadIdx.x][row];
}
CASE_GRID(syncthreads_count_and_or, 96, dim3(1), dim3(96)) {
  const int count = __syncthreads_count(lane % 3 == 0);
  const int all = __syncthreads_and(lane < 96), some = __syncthreads_or(lane == 95);
  const int none = __syncthreads_or(lane == 96);
  out[lane] = count * 1000 + (all != 0) * 100 + (some != 0) * 10 + (none != 0);
}
CASE_GRID(barrier_red_ptx, 128, dim3(1), dim3(64)) {
  std::uint32_t count, all;
  asm volatile(
      "{ .reg .pred p, q; setp.gt.u32 p, %2, 40; barrier.sync 0;\n"
      "bar.red.popc.u32 %0, 1, !p; bar.red.and.pred q, 2, 64, p; selp.u32 %1, 1, 0, q; }"
      : "=r"(count), "=r"(all)
      : "r"(lane));
  out[lane] = count, out[lane + 64] = all;
}
CASE_GRID(named_barriers_for_pairs_of_warps, 128, dim3(1), dim3(128)) {
  __shared__ int values[128];
  const int pair = lane / 64;
  values[lane] = lane + 7;
  asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
  out[lane] = values[pair * 64 + (lane + 33) % 64];
}
CASE_GRID(barrier_arrive_and_sync, 64, dim3(1), dim3(64)) {
  __shared__ volatile int mail[32];
  if (lane < 32) {
    mail[lane] = lane * 11;
    __threadfence_block();
    asm volatile("bar.arrive 3, 64;" ::: "memory");
    out[lane] = 1;
  } else {
    asm volatile("bar.sync 3, 64;" ::: "memory");
    out[lane] = mail[(lane + 5) % 32];
  }
}
CASE_GRID(barriers_in_a_loop, 64, dim3(1), dim3(64)) {
  __shared__ int ring[64];
  ring[lane] = lane;
  for (int i = 0; i < 10; ++i) {
    __syncthreads();
    const int next = ring[(lane + 1) % 64];
    __syncthreads();
    ring[lane] = next * 2 + 1;
  }
  out[lane] = ring[lane];
}
CASE_GRID(threads_that_have_left_do_not_block, 64, dim3(1), dim3(96)) {
  __shared__ int values[64];
  if (lane >= 64) return;
  values[lane] = lane;
  __syncthreads();
  out[lane] = values[lane ^ 63];
}
CASE_GRID(block_of_odd_size, 45, dim3(1), dim3(45)) {
  const int sum = __syncthreads_count(1);
  out[lane] = sum + __popc(__activemask()) * 100;
}
CASE_GRID(last_block_finishes, 8, dim3(8), dim3(32)) {
  __device__ static unsigned arrived;
  __device__ static volatile int parts[8];
  __shared__ bool last;
  if (lane == 0) {
    parts[blockIdx.x] = blockIdx.x * blockIdx.x;
    __threadfence();
    last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && lane < 8) out[lane] = parts[lane] + 1;
}
CASE_GRID(blocks_that_wait_for_one_another, 4, dim3(4), dim3(32)) {
  __device__ static volatile int turn;
  if (lane == 0) {
    while (turn != static_cast<int>(blockIdx.x)) {
    }
    out[blockIdx.x] = turn * 10;
    __threadfence();
    turn = turn == 3 ? 0 : turn + 1;
  }
}

CONFORMANCE_MAIN()
