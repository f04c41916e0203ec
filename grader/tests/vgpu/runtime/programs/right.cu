// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Threads that talk to each other in every way the memory model allows: no checker may say a word.
// One way for each argument; findings_test.cpp runs them all.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

#include <cuda/atomic>
#include <cuda/barrier>

#include "check.cuh"

namespace cg = cooperative_groups;
constexpr int kCount = 256;

__global__ void guarded(int* out, const int* in, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[count - 1 - i];
}

__global__ void block_barrier(int* out) {
  __shared__ int tile[kCount];
  for (int round = 0; round < 3; ++round) {
    tile[threadIdx.x] = threadIdx.x + round;
    __syncthreads();
    out[blockIdx.x * kCount + threadIdx.x] = tile[kCount - 1 - threadIdx.x];
    __syncthreads();
  }
}

__global__ void warp_barrier(int* out) {
  __shared__ int tile[kCount];
  const int first = threadIdx.x / 32 * 32, lane = threadIdx.x % 32;
  tile[threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = tile[first + 31 - lane];
}

__global__ void tiles_of_four(int* out) {
  __shared__ int tile[kCount];
  const auto four = cg::tiled_partition<4>(cg::this_thread_block());
  tile[threadIdx.x] = threadIdx.x;
  four.sync();
  out[threadIdx.x] = tile[threadIdx.x ^ 3];
}

__global__ void one_instruction(int* out) { out[threadIdx.x / 2] = 7; }

__global__ void bytes(unsigned char* out) {
  out[(threadIdx.x * 33) % kCount] = static_cast<unsigned char>(threadIdx.x);
}

// Half of the warps produce, the other half consumes: bar.arrive and bar.sync of a named barrier.
__global__ void named_barrier(int* out) {
  __shared__ int tile[kCount / 2];
  if (threadIdx.x < kCount / 2) {
    tile[threadIdx.x] = threadIdx.x;
    asm volatile("bar.arrive 1, 256;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 256;" ::: "memory");
    out[threadIdx.x] = tile[kCount - 1 - threadIdx.x];
  }
}

__global__ void pair_of_warps(int* out) {
  __shared__ int tile[kCount];
  const int pair = threadIdx.x / 64;
  tile[threadIdx.x] = threadIdx.x;
  asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
  out[threadIdx.x] = tile[threadIdx.x ^ 63];
}

// The last block to finish sums what all have written.
__device__ unsigned int blocks_done = 0;
__global__ void last_block_sums(int* partial, int* sum) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = blockIdx.x;
    __threadfence();
    is_last = atomicAdd(&blocks_done, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  int total = 0;
  for (unsigned int i = 0; i < gridDim.x; ++i) total += partial[i];
  *sum = total;
  blocks_done = 0;
}

__global__ void flag_with_fence(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

__global__ void released(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 42;
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    *out = *data;
  }
}

__global__ void spin_lock(int* lock, int* count) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *count += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

__global__ void grid_barrier(int* data, int* out) {
  const auto grid = cg::this_grid();
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (int round = 0; round < 3; ++round) {
    data[i] = i + round;
    grid.sync();
    out[i] = data[all - 1 - i];
    grid.sync();
  }
}

__global__ void mbarrier(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[kCount];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  tile[threadIdx.x] = threadIdx.x;
  barrier.arrive_and_wait();
  out[threadIdx.x] = tile[kCount - 1 - threadIdx.x];
}

__global__ void async_copy(int* out, const int* in) {
  __shared__ int tile[kCount];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof tile);
  cg::wait(block);
  out[threadIdx.x] = tile[kCount - 1 - threadIdx.x];
}

__global__ void histogram(int* bins, const int* in) {
  __shared__ int counts[32];
  if (threadIdx.x < 32) counts[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&counts[in[threadIdx.x] % 32], 1);
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

__global__ void shuffles(int* out) {
  int value = threadIdx.x;
  const unsigned int low = __ballot_sync(0xffffffff, threadIdx.x % 32 < 16);
  if (threadIdx.x % 32 < 16) {
    const int other = __shfl_down_sync(low, value, 8);
    if (threadIdx.x % 32 < 8) value = other;  // the others asked who does not take part
  }
  out[threadIdx.x] = value;
}

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  int *d_in, *d_out, *d_data;
  constexpr std::size_t kBytes = 4 * kCount * sizeof(int);
  for (int** memory : {&d_in, &d_out, &d_data}) {
    CHECK_CUDA(cudaMalloc(memory, kBytes));
    CHECK_CUDA(cudaMemset(*memory, 0, kBytes));
  }
  if (is("guarded")) guarded<<<2, 32>>>(d_out, d_in, 63);
  if (is("block_barrier")) block_barrier<<<2, kCount>>>(d_out), block_barrier<<<1, kCount>>>(d_out);
  if (is("warp_barrier")) warp_barrier<<<1, kCount>>>(d_out);
  if (is("tiles_of_four")) tiles_of_four<<<1, kCount>>>(d_out);
  if (is("one_instruction")) one_instruction<<<1, kCount>>>(d_out);
  if (is("bytes")) bytes<<<1, kCount>>>(reinterpret_cast<unsigned char*>(d_out));
  if (is("named_barrier")) named_barrier<<<1, kCount>>>(d_out);
  if (is("pair_of_warps")) pair_of_warps<<<1, kCount>>>(d_out);
  if (is("last_block_sums")) last_block_sums<<<16, 64>>>(d_data, d_out);
  if (is("flag_with_fence")) flag_with_fence<<<2, 1>>>(d_data, d_data + 1, d_out);
  if (is("released")) released<<<2, 1>>>(d_data, d_data + 1, d_out);
  if (is("spin_lock")) spin_lock<<<4, 64>>>(d_data, d_out);
  if (is("grid_barrier")) {
    void* all[] = {&d_data, &d_out};
    CHECK_CUDA(cudaLaunchCooperativeKernel(grid_barrier, 4, 128, all));
  }
  if (is("mbarrier")) mbarrier<<<1, kCount>>>(d_out);
  if (is("async_copy")) async_copy<<<1, kCount>>>(d_out, d_in);
  if (is("histogram")) histogram<<<4, kCount>>>(d_out, d_in);
  if (is("shuffles")) shuffles<<<1, kCount>>>(d_out);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaDeviceSynchronize());
  int out[512];
  CHECK_CUDA(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  if (is("block_barrier")) CHECK(out[1] == kCount);
  if (is("warp_barrier")) CHECK(out[33] == 62);
  if (is("named_barrier")) CHECK(out[255] == 0);
  if (is("last_block_sums")) CHECK(out[0] == 120);
  if (is("flag_with_fence") || is("released")) CHECK(out[0] == 42);
  if (is("spin_lock")) CHECK(out[0] == 256);
  if (is("grid_barrier")) CHECK(out[0] == 513);
  if (is("mbarrier")) CHECK(out[0] == 255);
  if (is("histogram")) CHECK(out[0] == 4 * kCount);
  for (int* memory : {d_in, d_out, d_data}) CHECK_CUDA(cudaFree(memory));
}
