// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// What threads share by the tools of CUDA C++: atomic_ref, locks, groups, unions, parts of one
// array, constants and parameters. Faulty and right side by side.
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

union Stages {
  int first[kCount];
  float second[kCount];
};
template <bool wait>
__device__ void two_lives(int* out) {
  __shared__ Stages tile;
  const int t = threadIdx.x;
  tile.first[t] = t;
  __syncthreads();
  const int other = tile.first[kCount - 1 - t];  // union_used_again_too_early
  if (wait) __syncthreads();
  tile.second[t] = static_cast<float>(other);  // union_used_again_too_early
  out[t] = static_cast<int>(tile.second[t]);
}
__global__ void union_used_again_too_early(int* out) { two_lives<false>(out); }
__global__ void union_used_again(int* out) { two_lives<true>(out); }

__global__ void parts_overlap(int* out, int first) {
  extern __shared__ int both[];
  int* const second = both + first;
  const int t = threadIdx.x;
  both[t] = t;        // parts_overlap
  second[t] = 2 * t;  // parts_overlap
  out[t] = both[t] + second[t];
}

struct Halves {
  unsigned int low : 12, high : 20;
};
__global__ void bits_of_one_word(int* out) {
  __shared__ Halves words[32];
  const int t = threadIdx.x;
  if (t < 32) words[t] = {0, 0};
  __syncthreads();
  if (t < 32)
    words[t].low = t;  // bits_of_one_word
  else
    words[t - 32].high = t;  // bits_of_one_word
  __syncthreads();
  out[t] = words[t % 32].low + words[t % 32].high;
}

__global__ void bits_by_atomics(int* out) {
  __shared__ unsigned int words[32];
  const int t = threadIdx.x;
  if (t < 32) words[t] = 0;
  __syncthreads();
  atomicOr(&words[t % 32], t < 32 ? t : t << 16);
  __syncthreads();
  out[t] = words[t % 32];
}

__constant__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ int counts[16];
__device__ int behind_counts[64];
__global__ void past_the_constants(int* out) {
  out[threadIdx.x] = table[threadIdx.x];  // past_the_constants
}
__global__ void past_a_device_array(int* out) {
  counts[threadIdx.x] = 1;  // past_a_device_array
  behind_counts[threadIdx.x] = 2;
  out[threadIdx.x] = counts[threadIdx.x % 16];
}
struct Weights {
  int of[4];
};
__global__ void past_the_parameters(int* out, Weights weights) {
  out[threadIdx.x] = weights.of[threadIdx.x];  // past_the_parameters
}
__global__ void within_constants_and_parameters(int* out, Weights weights) {
  out[threadIdx.x] = table[threadIdx.x % 8] + weights.of[threadIdx.x % 4];
}

__global__ void copies_too_few_zeros(int* out, const int* in, int n) {
  __shared__ alignas(16) int tile[4 * 65];
  const int t = threadIdx.x, left = n - 4 * t;
  const int zeros = left >= 4 ? 0 : 4;
  __pipeline_memcpy_async(tile + 4 * t, in + 4 * t, 16, zeros);  // copies_too_few_zeros
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[t] = tile[4 * t];
}

__device__ void copy_of_four(unsigned int to, const int* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));  // odd_copy
}
__global__ void odd_copy(int* out, const int* in) {
  __shared__ alignas(16) int tile[4 * 32 + 4];
  const int t = threadIdx.x;
  const auto to = static_cast<unsigned int>(__cvta_generic_to_shared(tile + 4 * t + 1));
  copy_of_four(to, in + 4 * t);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[t] = tile[4 * t + 1];
}

struct Tagged {
  char tag;
  int value;
};
__global__ void writes_tagged(Tagged* to) {
  to[threadIdx.x].tag = 'x';
  to[threadIdx.x].value = 1;
}
__global__ void padding_decides(int* out, const Tagged* from) {
  const int whole = reinterpret_cast<const int*>(from)[2 * threadIdx.x];  // padding_decides
  out[threadIdx.x] = whole == 'x' ? 1 : 2;
}
__global__ void tags_decide(int* out, const Tagged* from) {
  out[threadIdx.x] = from[threadIdx.x].tag == 'x' ? from[threadIdx.x].value : 2;
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

__global__ void rounds_without_the_second_barrier(int* out) {
  __shared__ int buffer[2][64];
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    buffer[0][t] = i;  // rounds_without_the_second_barrier
    __syncthreads();
    sum += buffer[0][63 - t];  // rounds_without_the_second_barrier
  }
  out[t] = sum;
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

void run_case(const char* wanted, Arrays d) {
  const auto tagged = reinterpret_cast<Tagged*>(d.raw);
  const auto states = reinterpret_cast<unsigned long long*>(d.in);
  CASE(flag_without_release, "data race", flag_without_release<<<2, 32>>>(d.out, d.in, d.in + 64));
  CASE(flag_for_the_block_alone, "data race",
       flag_for_the_block_alone<<<2, 32>>>(d.out, d.in, d.in + 64));
  CASE(lock_without_fences, "data race", lock_without_fences<<<8, 32>>>(d.out, d.in));
  CASE(group_reads_who_is_not_in_it, "data race", group_reads_who_is_not_in_it<<<1, 32>>>(d.out));
  CASE(rows_taken_for_warps, "data race", rows_taken_for_warps<<<1, dim3(24, 8)>>>(d.out));
  CASE(block_waits_for_the_grid, "data race", block_waits_for_the_grid<<<4, 64>>>(d.out, d.in));
  CASE(union_used_again_too_early, "data race", union_used_again_too_early<<<1, kCount>>>(d.out));
  CASE(parts_overlap, "data race", parts_overlap<<<1, 64, 512>>>(d.out, 60));
  CASE(bits_of_one_word, "data race", bits_of_one_word<<<1, 64>>>(d.out));
  CASE(rounds_without_the_second_barrier, "data race",
       rounds_without_the_second_barrier<<<1, 64>>>(d.out));
  CASE(past_the_constants, "out of bounds read", past_the_constants<<<1, 64>>>(d.out));
  CASE(past_a_device_array, "out of bounds write", past_a_device_array<<<1, 17>>>(d.out));
  CASE(past_the_parameters, "out of bounds read",
       past_the_parameters<<<1, 64>>>(d.out, {{1, 2, 3, 4}}));
  CASE(copies_too_few_zeros, "out of bounds read",
       copies_too_few_zeros<<<1, 65>>>(d.out, d.in + kCount, kCount));
  CASE(odd_copy, "misaligned access", odd_copy<<<1, 32>>>(d.out, d.in));
  CASE(padding_decides, "uninitialised read", {
    writes_tagged<<<1, 64>>>(tagged);
    padding_decides<<<1, 64>>>(d.out, tagged);
  });
  CASE(reduction_names_the_absent, "invalid member mask",
       reduction_names_the_absent<<<1, 32>>>(d.out));
  CASE(match_names_the_absent, "invalid member mask", match_names_the_absent<<<1, 32>>>(d.out));
  RIGHT(flag_released_and_acquired, flag_released_and_acquired<<<2, 32>>>(d.out, d.in, d.in + 64));
  RIGHT(lock_with_fences, lock_with_fences<<<8, 32>>>(d.out, d.in));
  RIGHT(grid_waits_for_the_grid, whole_grid(grid_waits_for_the_grid, 4, 64, d.out, d.in));
  RIGHT(union_used_again, union_used_again<<<1, kCount>>>(d.out));
  RIGHT(bits_by_atomics, bits_by_atomics<<<1, 64>>>(d.out));
  RIGHT(within_constants_and_parameters,
        within_constants_and_parameters<<<1, 64>>>(d.out, {{1, 2, 3, 4}}));
  RIGHT(tags_decide, {
    writes_tagged<<<1, 64>>>(tagged);
    tags_decide<<<1, 64>>>(d.out, tagged);
  });
  RIGHT(halves_reduce_for_themselves, halves_reduce_for_themselves<<<1, 32>>>(d.out));
  RIGHT(adds_once_for_a_group, adds_once_for_a_group<<<1, 96>>>(d.out));
  RIGHT(sums_in_tiles_of_eight, sums_in_tiles_of_eight<<<1, 64>>>(d.out));
  RIGHT(looks_back, looks_back<<<8, 32>>>(d.out, states));
  RIGHT(fills_and_uses_by_turns, fills_and_uses_by_turns<<<1, 128>>>(d.out));
  RIGHT(last_block_adds_up, last_block_adds_up<<<8, 32>>>(d.out, d.in, d.in + 64));
}
