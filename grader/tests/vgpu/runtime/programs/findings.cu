// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// One mistake for each thing a checker finds, chosen by the argument; findings_test.cpp runs them
// and holds what is said against the marked lines. right.cu does the same without the mistakes.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

constexpr int kCount = 64;

__global__ void past_the_end(int* data) {
  data[threadIdx.x] = 1;  // past_the_end
}

__global__ void before_the_start(int* data) {
  data[threadIdx.x] = data[static_cast<int>(threadIdx.x) - 1];  // before_the_start
}

__global__ void off_by_two_bytes(char* bytes) {
  *reinterpret_cast<int*>(bytes + 2) = 1;  // off_by_two_bytes
}

__global__ void past_the_tile(int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = 1;  // past_the_tile
  __syncthreads();
  out[threadIdx.x % 32] = tile[threadIdx.x % 32];
}

__global__ void between_words_of_the_tile(int* out, int skew) {
  __shared__ int tile[32];
  tile[threadIdx.x % 32] = 1;
  __syncthreads();
  out[0] = *reinterpret_cast<int*>(reinterpret_cast<char*>(tile) + skew);  // between_words
}

__global__ void ints_as_a_vector(int* out, int skew) {
  __shared__ int heads[3], tile[32];
  heads[threadIdx.x % 3] = tile[threadIdx.x] = 1;
  __syncthreads();
  *reinterpret_cast<int4*>(out) = *reinterpret_cast<int4*>(tile + skew);  // ints_as_a_vector
  out[4] = heads[skew];
}

__global__ void past_the_local_array(int* out, int index) {
  volatile int mine[4] = {1, 2, 3, 4};
  out[threadIdx.x] = mine[index];  // past_the_local_array
}

__global__ void read(int* out, const int* in) {
  out[threadIdx.x] = in[threadIdx.x];  // read
}

__global__ void reads_an_empty_tile(int* out) {
  __shared__ int tile[64];
  if (threadIdx.x < 32) tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];  // reads_an_empty_tile
}

__global__ void forgets_the_barrier(int* out) {
  __shared__ int tile[kCount];
  tile[threadIdx.x] = threadIdx.x;                    // forgets_the_barrier: writes
  out[threadIdx.x] = tile[kCount - 1 - threadIdx.x];  // forgets_the_barrier: reads
}

__global__ void forgets_the_warp_barrier(int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = threadIdx.x;            // forgets_the_warp_barrier: writes
  out[threadIdx.x] = tile[31 - threadIdx.x];  // forgets_the_warp_barrier: reads
}

__global__ void sums_without_atomics(int* sum) {
  if (threadIdx.x == 0) *sum += blockIdx.x + 1;  // sums_without_atomics
}

__global__ void adds_to_one_place(int* sum) { *sum += threadIdx.x; }

__global__ void adds_to_one_shared_place(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  sum += threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}

__global__ void tree_without_barriers(int* out) {
  __shared__ int part[kCount];
  part[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int stride = 1; stride < kCount; stride *= 2)
    if (threadIdx.x % (2 * stride) == 0) part[threadIdx.x] += part[threadIdx.x + stride];
  if (threadIdx.x == 0) *out = part[0];
}

__global__ void hands_over_a_plain_flag(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;  // plain_flag: data
    *flag = 1;   // plain_flag: flag
  } else if (*flag != 0) {
    *out = *data;
  }
}

__global__ void waits_in_a_branch(int* out) {
  if (threadIdx.x < 16) __syncthreads();  // waits_in_a_branch
  out[threadIdx.x] = 1;
}

__global__ void leaves_before_the_barrier(int* out) {
  if (threadIdx.x >= 32) return;
  __syncthreads();  // leaves_before_the_barrier
  out[threadIdx.x] = 1;
}

__global__ void shuffles_with_the_missing(int* out) {
  if (threadIdx.x < 16) {
    const int next = __shfl_down_sync(0xffffffff, threadIdx.x, 1);  // shuffles
    out[threadIdx.x] = next;                                        // shuffles: writes
  }
}

__global__ void names_lanes_elsewhere(int* out) {
  if (threadIdx.x < 16)
    out[threadIdx.x] = __any_sync(0xffffffff, threadIdx.x == 3);  // names_lanes_elsewhere
  __syncthreads();
}

__global__ void fills(int* out) { out[threadIdx.x] = 1; }

// The thread with the lock waits for lanes that wait for the lock, where lanes run in step.
__global__ void locks(int* lock, int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {  // locks
  }
  *static_cast<volatile int*>(count) += 1;
  __threadfence();
  atomicExch(lock, 0);
}

// Right only if blocks run in the order of their numbers.
__global__ void chains(int* data) {
  if (threadIdx.x == 0 && blockIdx.x > 0) data[blockIdx.x] = data[blockIdx.x - 1] + 1;  // chains
}

__global__ void spins(volatile int* flag) {
  while (*flag == 0) {  // spins
  }
}

int main(int, char** arguments) {
  const char* const wanted = arguments[1];
  const auto is = [&](const char* name) { return std::strcmp(wanted, name) == 0; };
  int *d_data, *d_other;
  cudaMalloc(&d_data, kCount * sizeof(int));
  cudaMalloc(&d_other, kCount * sizeof(int));
  cudaMemset(d_data, 0, kCount * sizeof(int));
  if (!is("uninitialised")) cudaMemset(d_other, 0, kCount * sizeof(int));
  int status = 0;
  if (is("past_the_end")) past_the_end<<<1, kCount + 1>>>(d_data);
  if (is("before_the_start")) before_the_start<<<1, 1>>>(d_data);
  if (is("adds_to_one_place")) adds_to_one_place<<<1, kCount>>>(d_data);
  if (is("adds_to_one_shared_place")) adds_to_one_shared_place<<<1, kCount>>>(d_data);
  if (is("tree_without_barriers")) tree_without_barriers<<<1, kCount>>>(d_data);
  if (is("off_by_two_bytes")) off_by_two_bytes<<<1, 1>>>(reinterpret_cast<char*>(d_data));
  if (is("past_the_tile")) past_the_tile<<<1, 33>>>(d_data);
  if (is("between_words")) between_words_of_the_tile<<<1, 32>>>(d_data, 6);
  if (is("ints_as_a_vector")) ints_as_a_vector<<<1, 32>>>(d_data, 0);
  if (is("past_the_local_array")) past_the_local_array<<<1, 1>>>(d_data, 4);
  if (is("used_after_free")) {
    cudaFree(d_other);
    read<<<1, kCount>>>(d_data, d_other);
    d_other = nullptr;
  }
  if (is("uninitialised")) read<<<1, kCount>>>(d_data, d_other);
  if (is("reads_an_empty_tile")) reads_an_empty_tile<<<1, 64>>>(d_data);
  if (is("forgets_the_barrier")) forgets_the_barrier<<<1, kCount>>>(d_data);
  if (is("forgets_the_warp_barrier")) forgets_the_warp_barrier<<<1, 32>>>(d_data);
  if (is("sums_without_atomics")) sums_without_atomics<<<2, 32>>>(d_data);
  if (is("plain_flag")) hands_over_a_plain_flag<<<2, 1>>>(d_data, d_data + 1, d_other);
  if (is("waits_in_a_branch")) waits_in_a_branch<<<1, 32>>>(d_data);
  if (is("leaves_before_the_barrier")) leaves_before_the_barrier<<<1, 64>>>(d_data);
  if (is("shuffles")) shuffles_with_the_missing<<<1, 32>>>(d_data);
  if (is("names_lanes_elsewhere")) names_lanes_elsewhere<<<1, 32>>>(d_data);
  if (is("unchecked")) {
    fills<<<1, 2000>>>(d_data);
    cudaFree(d_data);
    cudaFree(d_other);
    return 0;
  }
  if (is("locks")) {
    locks<<<1, 32>>>(d_data, d_other);
    status = cudaDeviceSynchronize() == cudaErrorLaunchTimeout ? 4 : 0;
  }
  if (is("chains")) {
    chains<<<kCount, 32>>>(d_data);
    int last = 0;
    cudaMemcpy(&last, d_data + kCount - 1, sizeof last, cudaMemcpyDeviceToHost);
    status = last == kCount - 1 ? 0 : 5;
  }
  if (is("spins")) {
    std::puts("spinning");
    std::fflush(stdout);
    spins<<<1, 1>>>(d_data);
    status = cudaDeviceSynchronize() == cudaErrorLaunchTimeout ? 4 : 0;
  }
  cudaDeviceSynchronize();
  static_cast<void>(cudaGetLastError());
  if (!is("leak")) cudaFree(d_other);
  cudaFree(d_data);
  return status;
}
