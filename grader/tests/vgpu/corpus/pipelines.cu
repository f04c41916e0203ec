// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// cuda::pipeline and cuda::memcpy_async, whose waits are made of mbarriers and cp.async.
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>

#include "corpus.cuh"

__global__ void consumed_before_the_wait(int* out, const int* in) {
  __shared__ alignas(16) int tile[kCount];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int), pipe);
  pipe.producer_commit();
  out[threadIdx.x] = tile[threadIdx.x];  // consumed_before_the_wait
  pipe.consumer_wait();
  pipe.consumer_release();
}

__global__ void waited_for_alone(int* out, const int* in) {
  __shared__ alignas(16) int tile[kCount];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int), pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  out[threadIdx.x] = tile[kCount - 1 - threadIdx.x];  // waited_for_alone
  pipe.consumer_release();
}

__global__ void group_copy_not_waited_for(int* out, const int* in) {
  __shared__ alignas(16) int tile[kCount];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof tile);
  block.sync();
  out[threadIdx.x] = tile[threadIdx.x];  // group_copy_not_waited_for
  cg::wait(block);
}

__global__ void stage_filled_too_early(int* out, const int* in) {
  __shared__ alignas(16) int tile[2][kCount];
  auto pipe = cuda::make_pipeline();
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    pipe.producer_acquire();
    int* const place = &tile[i % 2][threadIdx.x];
    cuda::memcpy_async(place, in + threadIdx.x, sizeof(int), pipe);  // stage_filled_too_early
    pipe.producer_commit();
  }
  for (int i = 0; i < 3; ++i) {
    pipe.consumer_wait();
    sum += tile[i % 2][threadIdx.x];  // stage_filled_too_early
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

__global__ void waits_for_its_group(int* out, const int* in) {
  __shared__ alignas(16) int tile[kCount];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof tile);
  cg::wait(block);
  out[threadIdx.x] = tile[kCount - 1 - threadIdx.x];
}

__global__ void two_stages(int* out, const int* in) {
  __shared__ alignas(16) int tile[2][kCount];
  auto pipe = cuda::make_pipeline();
  int sum = 0;
  const auto fetch = [&](int i) {
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[i % 2][threadIdx.x], &in[threadIdx.x], sizeof(int), pipe);
    pipe.producer_commit();
  };
  fetch(0);
  for (int i = 0; i < 3; ++i) {
    if (i + 1 < 3) fetch(i + 1);
    pipe.consumer_wait();
    __syncthreads();
    sum += tile[i % 2][kCount - 1 - threadIdx.x];
    __syncthreads();
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

void run_case(const char* wanted, Arrays d) {
  CASE(consumed_before_the_wait, "copy in flight",
       consumed_before_the_wait<<<1, kCount>>>(d.out, d.in));
  CASE(waited_for_alone, "data race", waited_for_alone<<<1, kCount>>>(d.out, d.in));
  CASE(group_copy_not_waited_for, "copy in flight",
       group_copy_not_waited_for<<<1, kCount>>>(d.out, d.in));
  CASE(stage_filled_too_early, "copy in flight",
       stage_filled_too_early<<<1, kCount>>>(d.out, d.in));
  RIGHT(waits_for_its_group, waits_for_its_group<<<1, kCount>>>(d.out, d.in));
  RIGHT(two_stages, two_stages<<<1, kCount>>>(d.out, d.in));
}
