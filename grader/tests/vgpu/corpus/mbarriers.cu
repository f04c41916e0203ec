// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// cuda::barrier: made, arrived at and waited for; and the copies that complete one. Faulty and
// right side by side.
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/ptx>

#include "corpus.cuh"

#pragma nv_diag_suppress static_var_with_dynamic_init  // init() makes them
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void arrived_but_did_not_wait(int* out) {
  __shared__ Barrier barrier;
  __shared__ int tile[kCount];
  if (threadIdx.x == 0) init(&barrier, kCount);
  __syncthreads();
  tile[threadIdx.x] = threadIdx.x;
  static_cast<void>(barrier.arrive());
  out[threadIdx.x] = tile[kCount - 1 - threadIdx.x];  // arrived_but_did_not_wait
}

__global__ void barrier_used_before_its_init(int* out) {
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, 64);
  barrier.arrive_and_wait();  // barrier_used_before_its_init
  out[threadIdx.x] = 1;
}

__global__ void barrier_never_made(int* out) {
  __shared__ Barrier barrier;
  static_cast<void>(barrier.arrive());  // barrier_never_made
  out[threadIdx.x] = 1;
}

__global__ void barrier_made_again_too_early(int* out) {
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  barrier.arrive_and_wait();                 // barrier_made_again_too_early
  if (threadIdx.x == 0) init(&barrier, 64);  // barrier_made_again_too_early
  __syncthreads();
  barrier.arrive_and_wait();
  out[threadIdx.x] = 1;
}

__global__ void barrier_made_again(int* out) {
  __shared__ Barrier barrier;
  for (int i = 0; i < 2; ++i) {
    if (threadIdx.x == 0) init(&barrier, 64);
    __syncthreads();
    barrier.arrive_and_wait();
    __syncthreads();
  }
  out[threadIdx.x] = 1;
}

__global__ void both_halves_of_a_split_barrier(int* out) {
  __shared__ Barrier barrier;
  __shared__ int tile[kCount];
  if (threadIdx.x == 0) init(&barrier, kCount);
  __syncthreads();
  tile[threadIdx.x] = threadIdx.x;
  Barrier::arrival_token token = barrier.arrive();
  out[kCount + threadIdx.x] = 1;
  barrier.wait(cuda::std::move(token));
  out[threadIdx.x] = tile[kCount - 1 - threadIdx.x];
}

template <bool wait>
__device__ void copy_of_the_group(int* out, const int* in) {
  __shared__ Barrier barrier;
  __shared__ alignas(16) int tile[64];
  const cg::thread_block block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&barrier, 64);
  block.sync();
  cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof tile), barrier);
  if (wait)
    barrier.arrive_and_wait();
  else
    block.sync();
  out[threadIdx.x] = tile[63 - threadIdx.x];  // copy_of_a_group_without_its_wait
}
__global__ void copy_of_a_group_without_its_wait(int* out, const int* in) {
  copy_of_the_group<false>(out, in);
}
__global__ void copy_of_a_group(int* out, const int* in) { copy_of_the_group<true>(out, in); }

template <bool wait>
__device__ void copied_in_bulk(int* out, const int* in) {
  __shared__ Barrier barrier;
  __shared__ alignas(128) int tile[1024];
  if (threadIdx.x == 0) {
    init(&barrier, 64);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_global_to_shared(tile, in, 2 * kCount * sizeof(int),
                                                               barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, 2 * kCount * sizeof(int));
  } else {
    token = barrier.arrive();
  }
  if (wait) barrier.wait(cuda::std::move(token));
  __syncthreads();
  out[threadIdx.x] = tile[2 * kCount - 1 - threadIdx.x];  // bulk_copy_without_its_wait
}
__global__ void bulk_copy_without_its_wait(int* out, const int* in) {
  copied_in_bulk<false>(out, in);
}
__global__ void bulk_copy(int* out, const int* in) { copied_in_bulk<true>(out, in); }
// Each reads what is there after its own wait alone, and the second copy goes over the first.
__global__ void bulk_copy_over_another(int* out, const int* in) {
  __shared__ Barrier barrier;
  __shared__ alignas(128) int tile[64];
  if (threadIdx.x == 0) {
    init(&barrier, 64);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 2; ++i) {
    if (threadIdx.x == 0) {
      cuda::device::experimental::cp_async_bulk_global_to_shared(tile, in + 64 * i, sizeof tile,
                                                                 barrier);
      static_cast<void>(cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile));
    } else {
      static_cast<void>(barrier.arrive());
    }
    while (
        !cuda::ptx::mbarrier_try_wait_parity(cuda::device::barrier_native_handle(barrier), i % 2)) {
    }
    sum += tile[63 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

void run_case(const char* wanted, Arrays d) {
  CASE(arrived_but_did_not_wait, "data race", arrived_but_did_not_wait<<<1, kCount>>>(d.out));
  CASE(barrier_used_before_its_init, "data race", barrier_used_before_its_init<<<1, 64>>>(d.out));
  CASE(barrier_never_made, "uninitialised read", barrier_never_made<<<1, 64>>>(d.out));
  CASE(barrier_made_again_too_early, "data race", barrier_made_again_too_early<<<1, 64>>>(d.out));
  CASE(copy_of_a_group_without_its_wait, "copy in flight",
       copy_of_a_group_without_its_wait<<<1, 64>>>(d.out, d.in));
  CASE(bulk_copy_without_its_wait, "copy in flight",
       bulk_copy_without_its_wait<<<1, 64>>>(d.out, d.in));
  RIGHT(copy_of_a_group, copy_of_a_group<<<1, 64>>>(d.out, d.in));
  RIGHT(bulk_copy, bulk_copy<<<1, 64>>>(d.out, d.in));
  RIGHT(bulk_copy_over_another, bulk_copy_over_another<<<1, 64>>>(d.out, d.in));
  RIGHT(barrier_made_again, barrier_made_again<<<1, 64>>>(d.out));
  RIGHT(both_halves_of_a_split_barrier, both_halves_of_a_split_barrier<<<1, kCount>>>(d.out));
}
