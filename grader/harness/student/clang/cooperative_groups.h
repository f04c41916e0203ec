// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Cooperative groups for clang without an NVIDIA toolkit: the block, and tiles of up to 32 threads
/// of it. Left out: groups of the whole grid, coalesced and labelled groups, tiles above a warp,
/// reduce and scan.
/// Source: CUDA C++ Programming Guide, "Cooperative Groups".
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

template <typename Group>
__device__ inline void sync(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
