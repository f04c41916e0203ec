// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory pools: which pool an allocation of cudaMallocAsync belongs to, and each pool's figures.
/// Place in the chain: pool_api -> [pools] -> memory. Left out: reuse and release thresholds, which
/// change when memory goes back to the system, not what a program computes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "grader/device_code/cuda_api/cuda_abi.hpp"

/// A pool.
struct CUmemPoolHandle_st {
  std::uint64_t used_bytes = 0;
  std::uint64_t used_high_bytes = 0;
  std::uint64_t release_threshold = 0;
  int follow_event_dependencies = 1;
  int allow_opportunistic = 1;
  int allow_internal_dependencies = 1;
};

namespace membound::vgpu::runtime {

/// All pools. The default one is there from the start.
class PoolTable {
 public:
  PoolTable() : current_(&default_) {}
  PoolTable(const PoolTable&) = delete;
  PoolTable& operator=(const PoolTable&) = delete;

  [[nodiscard]] cudaMemPool_t default_pool() { return &default_; }
  [[nodiscard]] cudaMemPool_t current() const { return current_; }
  bool set_current(cudaMemPool_t pool);
  cudaMemPool_t create();
  bool destroy(cudaMemPool_t pool);
  /// Null for a handle nobody made.
  [[nodiscard]] CUmemPoolHandle_st* find(cudaMemPool_t pool);

  void note_allocation(cudaMemPool_t pool, std::uint64_t address, std::uint64_t bytes);
  void note_free(std::uint64_t address);
  void reset();

 private:
  struct Owned {
    cudaMemPool_t pool;
    std::uint64_t bytes;
  };
  CUmemPoolHandle_st default_;
  cudaMemPool_t current_;
  std::map<cudaMemPool_t, std::unique_ptr<CUmemPoolHandle_st>> pools_;
  std::map<std::uint64_t, Owned> allocations_;
};

}  // namespace membound::vgpu::runtime
