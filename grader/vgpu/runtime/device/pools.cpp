// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/pools.hpp"

#include <algorithm>

namespace membound::vgpu::runtime {

bool PoolTable::set_current(cudaMemPool_t pool) {
  if (find(pool) == nullptr) return false;
  current_ = pool;
  return true;
}

cudaMemPool_t PoolTable::create() {
  auto pool = std::make_unique<CUmemPoolHandle_st>();
  const cudaMemPool_t handle = pool.get();
  pools_.emplace(handle, std::move(pool));
  return handle;
}

bool PoolTable::destroy(cudaMemPool_t pool) {
  if (current_ == pool) current_ = &default_;
  return pools_.erase(pool) > 0;
}

CUmemPoolHandle_st* PoolTable::find(cudaMemPool_t pool) {
  if (pool == &default_) return &default_;
  const auto found = pools_.find(pool);
  return found == pools_.end() ? nullptr : found->second.get();
}

void PoolTable::note_allocation(cudaMemPool_t pool, std::uint64_t address, std::uint64_t bytes) {
  pool->used_bytes += bytes;
  pool->used_high_bytes = std::max(pool->used_high_bytes, pool->used_bytes);
  allocations_[address] = {pool, bytes};
}

void PoolTable::note_free(std::uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return;
  if (CUmemPoolHandle_st* pool = find(found->second.pool)) pool->used_bytes -= found->second.bytes;
  allocations_.erase(found);
}

void PoolTable::reset() {
  pools_.clear();
  allocations_.clear();
  default_ = CUmemPoolHandle_st();
  current_ = &default_;
}

}  // namespace membound::vgpu::runtime
