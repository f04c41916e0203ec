// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Cooperative groups for clang without an NVIDIA toolkit: the block, and tiles of up to 32 threads
/// of it, and the grid. Left out: coalesced and labelled groups, tiles above a warp, reduce and
/// scan. Source: CUDA C++ Programming Guide, "Cooperative Groups".
#pragma once

namespace cooperative_groups {

/// All threads of a block.
class thread_block {
 public:
  __device__ static void sync() { __syncthreads(); }
  __device__ static unsigned int thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  __device__ static unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ static unsigned int size() { return num_threads(); }
  __device__ static dim3 group_index() { return blockIdx; }
  __device__ static dim3 thread_index() { return threadIdx; }
  __device__ static dim3 group_dim() { return blockDim; }
};
__device__ inline thread_block this_thread_block() { return {}; }

/// `kSize` threads of a block that follow each other: a warp, or a part of one.
template <unsigned int kSize, typename Parent = thread_block>
class thread_block_tile {
  static_assert(kSize > 0 && kSize <= 32 && (kSize & (kSize - 1)) == 0,
                "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  __device__ static void sync() { __syncwarp(mask()); }
  __device__ static unsigned int thread_rank() { return thread_block::thread_rank() % kSize; }
  __device__ static constexpr unsigned int num_threads() { return kSize; }
  __device__ static constexpr unsigned int size() { return kSize; }
  __device__ static unsigned int meta_group_rank() { return thread_block::thread_rank() / kSize; }
  __device__ static unsigned int meta_group_size() {
    return (thread_block::num_threads() + kSize - 1) / kSize;
  }
  template <typename T>
  __device__ static T shfl(T value, int rank) {
    return __shfl_sync(mask(), value, rank, kSize);
  }
  template <typename T>
  __device__ static T shfl_up(T value, unsigned int distance) {
    return __shfl_up_sync(mask(), value, distance, kSize);
  }
  template <typename T>
  __device__ static T shfl_down(T value, unsigned int distance) {
    return __shfl_down_sync(mask(), value, distance, kSize);
  }
  template <typename T>
  __device__ static T shfl_xor(T value, unsigned int bits) {
    return __shfl_xor_sync(mask(), value, static_cast<int>(bits), kSize);
  }
  __device__ static int any(int predicate) { return __any_sync(mask(), predicate); }
  __device__ static int all(int predicate) { return __all_sync(mask(), predicate); }
  __device__ static unsigned int ballot(int predicate) {
    return __ballot_sync(mask(), predicate) >> first_lane();
  }

 private:
  __device__ static unsigned int first_lane() {
    return thread_block::thread_rank() % 32 / kSize * kSize;
  }
  __device__ static unsigned int mask() {
    return kSize == 32 ? 0xffffffffu : ((1u << kSize % 32) - 1) << first_lane();
  }
};

template <unsigned int kSize>
__device__ inline thread_block_tile<kSize> tiled_partition(const thread_block&) {
  return {};
}
template <unsigned int kSize, unsigned int kParent>
__device__ inline thread_block_tile<kSize, thread_block_tile<kParent>> tiled_partition(
    const thread_block_tile<kParent>&) {
  static_assert(kSize <= kParent, "a tile of a tile is not larger than it");
  return {};
}

/// All threads of a cooperative launch. Its barrier is a word that the driver gives such a launch,
/// in the workspace whose address stands in two special registers: each block adds 1, block 0 what
/// is missing to 2^31, so that the highest bit changes when all have arrived.
class grid_group {
 public:
  __device__ static void sync() {
    unsigned int high, low;
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    unsigned int* const arrived = reinterpret_cast<unsigned int*>(
        (static_cast<unsigned long long>(high) << 32 | low) + kOffsetBytes);
    __syncthreads();
    if (thread_block::thread_rank() == 0) {
      const bool is_first = (blockIdx.x | blockIdx.y | blockIdx.z) == 0;
      __threadfence();
      const unsigned int before = atomicAdd(
          arrived, is_first ? kPhase - (static_cast<unsigned int>(num_blocks()) - 1) : 1u);
      while (((*static_cast<volatile unsigned int*>(arrived) ^ before) & kPhase) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
  }
  __device__ static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  __device__ static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
           blockIdx.x;
  }
  __device__ static unsigned long long num_threads() {
    return num_blocks() * thread_block::num_threads();
  }
  __device__ static unsigned long long size() { return num_threads(); }
  __device__ static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }

 private:
  static constexpr unsigned int kPhase = 0x80000000u, kOffsetBytes = 4;
};
__device__ inline grid_group this_grid() { return {}; }

template <typename Group>
__device__ inline void sync(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
