// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// What threads share by the tools of CUDA C++: atomic_ref, locks, groups, grids, barriers by
// number. Faulty and right side by side.
#include <cuda/atomic>

#include "corpus.cuh"

template <cuda::thread_scope scope>
using Word = cuda::atomic_ref<int, scope>;

template <cuda::thread_scope scope>
__device__ void hand_over(int* out, int* data, int* flag, cuda::memory_order how) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;
    Word<scope>(*flag).store(1, how);
  } else {
    while (Word<scope>(*flag).load(cuda::memory_order_acquire) == 0) {
    }
    *out = *data;  // flag_without_release, flag_for_the_block_alone
  }
}
__global__ void flag_without_release(int* out, int* data, int* flag) {
  hand_over<cuda::thread_scope_device>(out, data, flag, cuda::memory_order_relaxed);
}
__global__ void flag_for_the_block_alone(int* out, int* data, int* flag) {
  hand_over<cuda::thread_scope_block>(out, data, flag, cuda::memory_order_release);
}
__global__ void flag_released_and_acquired(int* out, int* data, int* flag) {
  hand_over<cuda::thread_scope_device>(out, data, flag, cuda::memory_order_release);
}

template <bool fences>
__device__ void under_a_lock(int* sum, int* lock) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  if (fences) __threadfence();
  *sum += blockIdx.x;  // lock_without_fences
  if (fences) __threadfence();
  atomicExch(lock, 0);
}
__global__ void lock_without_fences(int* sum, int* lock) { under_a_lock<false>(sum, lock); }
__global__ void lock_with_fences(int* sum, int* lock) { under_a_lock<true>(sum, lock); }

__global__ void group_reads_who_is_not_in_it(int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;
  if (t < 16) {
    cg::coalesced_threads().sync();
    out[t] = tile[t + 16];  // group_reads_who_is_not_in_it
  }
}

__global__ void rows_taken_for_warps(int* out) {
  __shared__ int tile[8][24];
  tile[threadIdx.y][threadIdx.x] = threadIdx.x;
  __syncwarp();
  const int other = tile[threadIdx.y][23 - threadIdx.x];  // rows_taken_for_warps
  out[threadIdx.y * 24 + threadIdx.x] = other;
}

__global__ void block_waits_for_the_grid(int* out, int* between) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  between[i] = i;
  __syncthreads();
  out[i] = between[kCount - 1 - i];  // block_waits_for_the_grid
}

__global__ void grid_waits_for_the_grid(int* out, int* between) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  between[i] = i;
  cg::this_grid().sync();
  out[i] = between[kCount - 1 - i];
}

__global__ void reduction_names_the_absent(int* out) {
  if (threadIdx.x < 16)
    out[threadIdx.x] = __reduce_add_sync(kAll, 1);  // reduction_names_the_absent
  else
    out[threadIdx.x] = __reduce_add_sync(0xffff0000, 1);
  __syncthreads();
}
__global__ void match_names_the_absent(int* out) {
  if (threadIdx.x % 2 == 0) out[threadIdx.x] = __match_any_sync(kAll, 1);  // match_names_the_absent
  __syncthreads();
}
__global__ void halves_reduce_for_themselves(int* out) {
  const unsigned int mask = threadIdx.x < 16 ? 0xffff : 0xffff0000;
  out[threadIdx.x] = threadIdx.x < 16 ? __reduce_max_sync(mask, threadIdx.x)
                                      : __reduce_min_sync(mask, threadIdx.x);
}

__global__ void block_leaves_before_the_grid_barrier(int* out, int* between) {
  if (blockIdx.x == 2) return;
  between[blockIdx.x] = 1;
  cg::this_grid().sync();  // block_leaves_before_the_grid_barrier
  out[blockIdx.x] = between[3 - blockIdx.x];
}
__global__ void grid_barrier_in_a_loop_of_its_own(int* out, int* between) {
  for (int i = 0; i <= static_cast<int>(blockIdx.x) / 3; ++i) {
    cg::this_grid().sync();  // grid_barrier_in_a_loop_of_its_own
    if (threadIdx.x == 0) between[blockIdx.x] = i;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = between[blockIdx.x];
}

__global__ void adds_once_for_a_group(int* sum) {
  if (threadIdx.x % 3 == 0) {
    const cg::coalesced_group group = cg::coalesced_threads();
    int first = 0;
    if (group.thread_rank() == 0) first = atomicAdd(sum, group.size());
    first = group.shfl(first, 0);
    sum[1 + first + group.thread_rank()] = first;
  }
}

__global__ void sums_in_tiles_of_eight(int* out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int sum = threadIdx.x;
  for (int by = 4; by > 0; by /= 2) sum += tile.shfl_down(sum, by);
  if (tile.thread_rank() == 0) out[threadIdx.x / 8] = sum;
  out[64 + threadIdx.x] = __shfl_up_sync(kAll, sum, 3, 8);
}

// A scan that looks back: value and state are one word, so no fence is due.
__global__ void looks_back(int* out, unsigned long long* states) {
  __shared__ int before;
  volatile unsigned long long* const words = states;
  if (threadIdx.x == 0) {
    int sum = 0;
    if (blockIdx.x > 0) {
      unsigned long long state = 0;
      while (((state = words[blockIdx.x - 1]) >> 32) == 0) {
      }
      sum = static_cast<int>(state);
    }
    words[blockIdx.x] = 1ULL << 32 | static_cast<unsigned int>(sum + 1);
    before = sum;
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = before;
}

// Two warps fill, two use: barriers 1 and 2 of the hardware, each arrived at by one side.
__global__ void fills_and_uses_by_turns(int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x % 64;
  for (int i = 0; i < 3; ++i) {
    if (threadIdx.x < 64) {
      if (i > 0) asm volatile("bar.sync 2, 128;" ::: "memory");
      tile[t] = i + t;
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      out[i * 64 + t] = tile[63 - t];
      if (i < 2) asm volatile("bar.arrive 2, 128;" ::: "memory");
    }
  }
}

__global__ void last_block_adds_up(int* out, int* parts, int* tickets) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x;
    const int ticket =
        Word<cuda::thread_scope_device>(*tickets).fetch_add(1, cuda::memory_order_acq_rel);
    last = ticket == static_cast<int>(gridDim.x) - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) out[threadIdx.x] = parts[threadIdx.x];
}

template <typename Kernel>
void whole_grid(Kernel kernel, int blocks, int threads, int* out, int* between) {
  void* arguments[] = {&out, &between};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads),
                              arguments);
}

__global__ void grid_barrier_of_a_plain_launch(int* out) {
  out[blockIdx.x] = 1;
  cg::this_grid().sync();  // grid_barrier_of_a_plain_launch
}

void run_case(const char* wanted, Arrays d) {
  const auto states = reinterpret_cast<unsigned long long*>(d.in);
  CASE(flag_without_release, "data race", flag_without_release<<<2, 32>>>(d.out, d.in, d.in + 64));
  CASE(flag_for_the_block_alone, "data race",
       flag_for_the_block_alone<<<2, 32>>>(d.out, d.in, d.in + 64));
  CASE(lock_without_fences, "data race", lock_without_fences<<<8, 32>>>(d.out, d.in));
  CASE(group_reads_who_is_not_in_it, "data race", group_reads_who_is_not_in_it<<<1, 32>>>(d.out));
  CASE(rows_taken_for_warps, "data race", rows_taken_for_warps<<<1, dim3(24, 8)>>>(d.out));
  CASE(block_waits_for_the_grid, "data race", block_waits_for_the_grid<<<4, 64>>>(d.out, d.in));
  CASE(reduction_names_the_absent, "invalid member mask",
       reduction_names_the_absent<<<1, 32>>>(d.out));
  CASE(match_names_the_absent, "invalid member mask", match_names_the_absent<<<1, 32>>>(d.out));
  CASE(block_leaves_before_the_grid_barrier, "deadlock",
       whole_grid(block_leaves_before_the_grid_barrier, 4, 64, d.out, d.in));
  CASE(grid_barrier_in_a_loop_of_its_own, "deadlock",
       whole_grid(grid_barrier_in_a_loop_of_its_own, 4, 64, d.out, d.in));
  CASE(grid_barrier_of_a_plain_launch, "trap", grid_barrier_of_a_plain_launch<<<4, 32>>>(d.out));
  RIGHT(flag_released_and_acquired, flag_released_and_acquired<<<2, 32>>>(d.out, d.in, d.in + 64));
  RIGHT(lock_with_fences, lock_with_fences<<<8, 32>>>(d.out, d.in));
  RIGHT(grid_waits_for_the_grid, whole_grid(grid_waits_for_the_grid, 4, 64, d.out, d.in));
  RIGHT(halves_reduce_for_themselves, halves_reduce_for_themselves<<<1, 32>>>(d.out));
  RIGHT(adds_once_for_a_group, adds_once_for_a_group<<<1, 96>>>(d.out));
  RIGHT(sums_in_tiles_of_eight, sums_in_tiles_of_eight<<<1, 64>>>(d.out));
  RIGHT(looks_back, looks_back<<<8, 32>>>(d.out, states));
  RIGHT(fills_and_uses_by_turns, fills_and_uses_by_turns<<<1, 128>>>(d.out));
  RIGHT(last_block_adds_up, last_block_adds_up<<<8, 32>>>(d.out, d.in, d.in + 64));
}
