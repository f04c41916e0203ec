// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 04: add up n numbers, six times           (handouts/04-reduction/handout.md)
//
// Six kernels, each headed by what was wrong with the one before, then a whole program. A budget
// counts requests (one memory instruction of one warp of 32 lanes), sectors (pieces of 32 bytes of
// global memory), barriers, and atomic additions. kernel.cuh has the data and the constants.
#include "kernel.cuh"

// Stage 1: Every thread for itself
//
// Before   The CPU walks one loop, and each addition waits for the one before it.
// Task     Give every element to a thread of its own, which adds it to *sum.
// Budget   Load 4 sectors per request. n atomic additions, all on one word: far too many, and that
//          is fine for now.
//
//     in     [ 3 ]  [ 1 ]  [ 4 ]  [ 1 ]  [ 5 ]  ...      a thread each
//              |      |      |      |      |
//              +------+---+--+------+------+-- ...       one word: one queue
//                         v
//     sum              [ 14 ]
__global__ void reduce_global_atomics(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;

  if (element < n) atomicAdd(sum, in[element]);
}

// Given, as an example: a launch is a grid of blocks, and a block a number of threads.
LAUNCH_SHAPE(reduce_global_atomics, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}

// Stage 2: One sum per block
//
// Before   n additions were in one queue, in front of the L2 cache, hundreds of cycles away from
//          every multiprocessor.
// Task     Add the elements of a block in shared memory, which lies inside the multiprocessor.
//          Then one thread of the block adds the block's sum to *sum.
// Budget   n atomic additions in shared memory, a queue of its own for each block; one per block on
//          *sum. 2 barriers.
//
//     block 0   [ ] [ ] ... [ ]      block 1   [ ] [ ] ... [ ]        256 elements each
//                 \  |      /                    \  |      /
//               [ block_sum ]                  [ block_sum ]          shared memory
//                      \                          /
//                       +-------->  sum  <-------+                    global memory
__global__ void reduce_shared_atomics(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  __shared__ float block_sum;

  if (threadIdx.x == 0) block_sum = 0.0f;
  // From here on every thread may assume that block_sum started at 0.
  __syncthreads();

  if (element < n) atomicAdd(&block_sum, in[element]);

  // From here on every thread may assume that block_sum holds the elements of the whole block.
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, block_sum);
}

LAUNCH_SHAPE(reduce_shared_atomics, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}

// Stage 3: A tree
//
// Before   The queue was short and near, but it was still a queue: 256 additions one after
//          another, while the other threads waited.
// Task     Add in pairs: 256 words become 128, 64, ... 1. Within a step no thread writes what
//          another one reads, so nothing has to be atomic.
// Budget   8 steps, 8 barriers. Shared memory: 1 wavefront per request, neighbouring lanes touch
//          neighbouring words. One atomic addition per block.
//
//     half = 4   [0] [1] [2] [3] [4] [5] [6] [7]      thread t adds word t + half to word t
//                 ^---------------+
//     half = 2   [0] [1] [2] [3]
//                 ^-------+
//     half = 1   [0] [1]
//                 ^---+
//                [0]                                  the sum of the block
__global__ void reduce_tree(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  __shared__ float partial[kThreads];
  partial[threadIdx.x] = element < n ? in[element] : 0.0f;

  for (int half = kThreads / 2; half > 0; half /= 2) {
    // From here on every thread may assume that the words of the step before are written.
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }

  // No barrier: thread 0 wrote word 0 itself.
  if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

LAUNCH_SHAPE(reduce_tree, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}

// Stage 4: Shuffles for the last 32
//
// Before   In the last five steps a single warp has work, yet all 8 warps of the block wait at the
//          barrier every time, and each value travels through shared memory.
// Task     Stop the tree when 32 words are left. The lanes of one warp can read each other's
//          registers: let the first warp finish alone.
// Budget   3 barriers and 5 shuffles. One atomic addition per block.
//
//     lane            0   1  ...  15  16  17 ... 31
//     distance 16     ^-----------------+               lane l receives the value of lane
//     distance  8     ^-------- 8                       l + distance, and adds it to its own
//     distance  4 ... 1
//                     the sum; what the other lanes hold does not matter
__global__ void reduce_shuffle(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  __shared__ float partial[kThreads];
  partial[threadIdx.x] = element < n ? in[element] : 0.0f;
  for (int half = kThreads / 2; half >= kWarpLanes; half /= 2) {
    // From here on every thread may assume that the words of the step before are written.
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }

  if (threadIdx.x < kWarpLanes) {
    float value = partial[threadIdx.x];
    for (int distance = kWarpLanes / 2; distance > 0; distance /= 2) {
      value += __shfl_down_sync(kAllLanes, value, distance);
    }
    if (threadIdx.x == 0) atomicAdd(sum, value);
  }
}

LAUNCH_SHAPE(reduce_shuffle, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}

// Stage 5: More for each thread
//
// Before   A thread loads 4 bytes, waits, and is done; 256 of them then pay for barriers, shuffles
//          and a place in the one remaining queue: 2^28 elements are 2^20 blocks, and so 2^20
//          atomic additions on *sum. Stage 4 changed nothing about that, and was hardly faster.
// Task     As many blocks as the GPU holds at once. Each thread strides through the array by
//          the whole grid, 16 bytes a load, and keeps its sum in a register. The block adds up only
//          once, at the end.
// Budget   Load 16 sectors per request (32 lanes x 16 B), a quarter of the requests. A few atomic
//          additions per multiprocessor, whatever n is.
//
//     grid of 3 threads                 in, as vectors of 4 floats
//     [0][1][2] [0][1][2] [0][1][2] [0][1]  + up to 3 elements that fill no vector
//      step 0    step 1    step 2   ...
//
// *sum is uninitialised before this stage, so it takes two launches: one clears, one adds.

// The sum of `value` over the block, in thread 0. All threads of the block must call it, once.
inline __device__ float block_sum(float value) {
  __shared__ float partial[kThreads];
  partial[threadIdx.x] = value;
  for (int half = kThreads / 2; half >= kWarpLanes; half /= 2) {
    // From here on every thread may assume that the words of the step before are written.
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  value = partial[threadIdx.x];
  if (threadIdx.x < kWarpLanes) {
    for (int distance = kWarpLanes / 2; distance > 0; distance /= 2) {
      value += __shfl_down_sync(kAllLanes, value, distance);
    }
  }
  return value;
}

// First launch: one thread.
__global__ void reduce_vector_clear(float* sum, const float* in, long long n, void* scratch) {
  *sum = 0.0f;
}

// Second launch: as many blocks as fit.
__global__ void reduce_vector_add(float* sum, const float* in, long long n, void* scratch) {
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;

  float value = 0.0f;
  const float4* vectors = reinterpret_cast<const float4*>(in);
  for (long long vector = thread; vector < n / 4; vector += threads) {
    const float4 four = vectors[vector];
    value += (four.x + four.y) + (four.z + four.w);
  }

  const long long left_over = n / 4 * 4 + thread;
  if (left_over < n) value += in[left_over];

  value = block_sum(value);
  if (threadIdx.x == 0) atomicAdd(sum, value);
}

LAUNCH_PLAN(reduce_vector, Gpu gpu, long long n) {
  LaunchPlan plan = plan_with_scratch(0);
  const long long blocks_per_sm = gpu.max_threads_per_sm / kThreads;
  plan.then(KERNEL(reduce_vector_clear), {1, 1});
  plan.then(KERNEL(reduce_vector_add), {gpu.sm_count * blocks_per_sm, kThreads});
  return plan;
}

// Stage 6: As fast as memory can be read
//
// Before   About 98 % of what the best library reaches. What is missing: a second launch costs 2 us
//          of 250, and the compiler decides whether loads are issued before additions.
// Task     Close the gap. Everything is yours: kernels, block, grid, loads per thread, launches.
//          Only the result and the time are graded.
// Budget   As in stage 5. The bar is reading the array once.
//
//     each thread      load load load load | add add add add | load load load load | ...
//     each block       stores its sum in scratch, and counts itself as finished
//     the last block   ... knows that it is the last, and adds the sums of all blocks

inline constexpr int kFastThreads = 1024;  // threads of a block
inline constexpr int kBlocksPerSm = 2;     // together all 2,048 threads a multiprocessor can hold
inline constexpr int kInFlight = 4;        // vectors a thread loads before it uses the first

// The sum of `value` over the block, in thread 0. All threads of the block must call it. Here every
// warp begins by itself, with shuffles, and one warp adds the 32 sums of the warps: one barrier.
// Who calls it once more needs another one in between, because the words are the same.
inline __device__ float fast_block_sum(float value) {
  __shared__ float of_warp[kFastThreads / kWarpLanes];
  for (int distance = kWarpLanes / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(kAllLanes, value, distance);
  }
  if (threadIdx.x % kWarpLanes == 0) of_warp[threadIdx.x / kWarpLanes] = value;
  // From here on every thread may assume that each warp has stored its sum.
  __syncthreads();
  if (threadIdx.x < kWarpLanes) {
    value = of_warp[threadIdx.x];
    for (int distance = kWarpLanes / 2; distance > 0; distance /= 2) {
      value += __shfl_down_sync(kAllLanes, value, distance);
    }
  }
  return value;
}

// How many blocks have stored their sum. atomicInc() resets it to 0 at the last one, so it is ready
// for the next launch. Two launches at the same time would share it: this kernel allows one.
__device__ unsigned finished_blocks;

__global__ void __launch_bounds__(kFastThreads, kBlocksPerSm)
    reduce_fast_kernel(float* sum, const float* in, long long n, void* scratch) {
  // The block takes pieces of kInFlight * kFastThreads vectors, one grid apart. All loads of a
  // piece are in flight before the first of them is added: 64 bytes a thread, 128 KiB a
  // multiprocessor. Four sums, so that no addition waits for another one.
  const float4* vectors = reinterpret_cast<const float4*>(in);
  const long long count = n / 4;
  const long long step = static_cast<long long>(gridDim.x) * kInFlight * kFastThreads;
  long long first = static_cast<long long>(blockIdx.x) * kInFlight * kFastThreads + threadIdx.x;
  float value[kInFlight] = {};
  for (; first + (kInFlight - 1) * kFastThreads < count; first += step) {
    float4 four[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) four[i] = vectors[first + i * kFastThreads];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      value[i] += (four[i].x + four[i].y) + (four[i].z + four[i].w);
    }
  }

  // The piece at the end of the array, and the tail: up to 3 elements that fill no vector.
  for (int i = 0; i < kInFlight; ++i) {
    const long long vector = first + i * kFastThreads;
    if (vector < count) {
      const float4 four = vectors[vector];
      value[0] += (four.x + four.y) + (four.z + four.w);
    }
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 4) value[0] += in[count * 4 + threadIdx.x];

  // The first fence makes the block's sum visible to the whole grid before the block counts as
  // finished (release). The second one, after the count, makes what the others have released
  // visible to the last block (acquire), and the barrier makes it so to all of its threads.
  float* of_block = static_cast<float*>(scratch);
  __shared__ bool last;
  const float block = fast_block_sum((value[0] + value[1]) + (value[2] + value[3]));
  if (threadIdx.x == 0) {
    of_block[blockIdx.x] = block;
    __threadfence();
    last = atomicInc(&finished_blocks, gridDim.x - 1) == gridDim.x - 1;
    if (last) __threadfence();
  }
  // From here on every thread may assume that `last` is decided.
  __syncthreads();
  if (!last) return;

  // __ldcg reads from the L2 cache, past this multiprocessor's own cache, which knows nothing of
  // what others have stored. The order is fixed: the same n gives the same bits, every time.
  float total = 0.0f;
  for (int i = threadIdx.x; i < gridDim.x; i += kFastThreads) total += __ldcg(&of_block[i]);
  total = fast_block_sum(total);
  if (threadIdx.x == 0) *sum = total;
}

LAUNCH_PLAN(reduce_fast, Gpu gpu, long long n) {
  LaunchPlan plan = plan_with_scratch(0);
  // As many blocks as run at once, whatever n is: those without a piece add 0.
  const long long blocks = static_cast<long long>(gpu.sm_count) * kBlocksPerSm;
  plan.scratch_bytes = blocks * sizeof(float);
  plan.then(KERNEL(reduce_fast_kernel), {blocks, kFastThreads});
  return plan;
}

// Stage 7: A whole program with dynamic shared memory
//
// Before   The block had kThreads threads, and its shared memory as many words, because both were
//          known to the compiler.
// Task     A program that gets the number of threads when it runs: it reads "in" and "threads" (a
//          power of 2), writes "sums", the sum of each block's `threads` elements, and compares
//          each with the CPU's. No atomic addition: the same bits in every run.
// Demands  The words of a block are dynamic shared memory: the launch's third number is their
//          bytes. Every call is checked, and the launch. A sum that differs from the CPU's by more
//          than rounding ends the program with 1. All memory is freed.
//
//     in     [ threads elements ][ threads elements ][ the rest ]
//                block 0             block 1            block 2     each with words of its own:
//     sums   [       .          ][       .          ][    .     ]   threads * sizeof(float) bytes
//
//     sum_blocks<<<blocks, threads, bytes, stream>>>      without the fourth: the default stream
#ifdef MEMBOUND_PROGRAM
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "program.hpp"

#define CHECK_CUDA(call)                                                                    \
  do {                                                                                      \
    const cudaError_t code = (call);                                                        \
    if (code != cudaSuccess) {                                                              \
      std::fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(code)); \
      std::exit(1);                                                                         \
    }                                                                                       \
  } while (false)

// Given: the name and the parameters of your kernel.
__global__ void sum_blocks(float* sums, const float* in, int n) {
  extern __shared__ float partial[];  // as many as the launch's third number has room for

  const int element = blockIdx.x * blockDim.x + threadIdx.x;
  partial[threadIdx.x] = element < n ? in[element] : 0.0f;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    // From here on every thread may assume that the step before is done.
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

int main(int argc, char** argv) {
  // Given: the elements, and the number of threads of a block.
  const membound::Program program(argc, argv);
  const std::vector<float> in = program.read<float>("in");
  const int threads = program.read<int>("threads")[0];
  const int n = static_cast<int>(in.size());

  const int blocks = (n + threads - 1) / threads;
  std::vector<float> sums(blocks);
  const std::size_t in_bytes = in.size() * sizeof(float);
  const std::size_t sums_bytes = sums.size() * sizeof(float);
  float *d_in, *d_sums;
  CHECK_CUDA(cudaMalloc(&d_in, in_bytes));
  CHECK_CUDA(cudaMalloc(&d_sums, sums_bytes));
  CHECK_CUDA(cudaMemcpy(d_in, in.data(), in_bytes, cudaMemcpyHostToDevice));

  if (blocks > 0) {
    sum_blocks<<<blocks, threads, threads * sizeof(float)>>>(d_sums, d_in, n);
    CHECK_CUDA(cudaGetLastError());
  }
  CHECK_CUDA(cudaMemcpy(sums.data(), d_sums, sums_bytes, cudaMemcpyDeviceToHost));

  // Each of fewer than `threads` additions rounds to 24 bits: by 2^-24 of a partial sum at most.
  int wrong = 0;
  for (int block = 0; block < blocks; ++block) {
    double on_cpu = 0;
    double magnitudes = 0;
    for (int i = block * threads; i < n && i < (block + 1) * threads; ++i) {
      on_cpu += in[i];
      magnitudes += std::fabs(in[i]);
    }
    const double allowed = magnitudes * threads / (1 << 24);
    // Not "> allowed": a NaN is neither larger nor smaller.
    if (!(std::fabs(sums[block] - on_cpu) <= allowed)) ++wrong;
  }
  std::printf("%d of %d sums differ from the CPU's\n", wrong, blocks);

  program.write("sums", sums);
  CHECK_CUDA(cudaFree(d_in));
  CHECK_CUDA(cudaFree(d_sums));
  return wrong == 0 ? 0 : 1;
}
#endif
