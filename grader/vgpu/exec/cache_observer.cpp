// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/cache_observer.hpp"

#include <algorithm>
#include <bit>

#include "grader/vgpu/memory/number_set.hpp"

namespace membound::vgpu::exec {
namespace {

std::uint64_t l1_share(const Launch& launch) {
  const CacheModel& model = launch.request->caches;
  const std::uint64_t blocks = std::max(1u, model.resident_blocks_per_sm);
  const std::uint64_t shared = std::uint64_t{launch.shared_bytes} * blocks;
  const std::uint64_t left = model.l1_bytes > shared ? model.l1_bytes - shared : 0;
  return std::max<std::uint64_t>(left / blocks, 512);
}

}  // namespace

CacheObserver::CacheObserver(Launch& launch, Observer* next)
    : launch_(launch),
      next_(next),
      l1_bytes_(l1_share(launch)),
      read_(launch.request->memory->shared_window(), launch.request->memory->window_bytes()),
      written_(launch.request->memory->shared_window(), launch.request->memory->window_bytes()) {}

void CacheObserver::access(const WarpAccess& access) {
  if (next_ != nullptr) next_->access(access);
  if (access.space != ptx::StateSpace::kGlobal) return;
  const bool load = access.kind == AccessKind::kLoad;
  memory::SectoredCache* l1 = static_cast<memory::SectoredCache*>(access.warp->block->cache_state);
  memory::NumberSet seen;
  std::uint64_t previous = ~std::uint64_t{0}, hits = 0, reads = 0, new_reads = 0, new_writes = 0;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t sector = access.addresses[std::countr_zero(rest)] / memory::kSectorBytes;
    if (sector == previous || !seen.insert(sector)) continue;
    previous = sector;
    if (load) {
      if (l1->load(sector)) {
        ++hits;
        continue;
      }
      ++reads;
      new_reads += read_.touch(sector & ~std::uint64_t{1}) ? 2 : 0;  // 64 bytes at a time
    } else {
      new_writes += written_.touch(sector);
    }
  }
  access.warp->stats[access.step->stats].l1_hits += hits;
  if (reads != 0) l2_reads_.fetch_add(reads, std::memory_order_relaxed);
  if (new_reads != 0) distinct_reads_.fetch_add(new_reads, std::memory_order_relaxed);
  if (new_writes != 0) distinct_writes_.fetch_add(new_writes, std::memory_order_relaxed);
}

void CacheObserver::barrier(Warp& warp, const Step* step, bool whole_warp) {
  if (next_ != nullptr) next_->barrier(warp, step, whole_warp);
}

void CacheObserver::collective(Warp& warp, const Step* step, std::uint32_t members,
                               std::uint32_t present) {
  if (next_ != nullptr) next_->collective(warp, step, members, present);
}

void CacheObserver::block_begins(Block& block) {
  if (block.cache_state == nullptr) {
    const std::lock_guard lock(mutex_);
    caches_.push_back(std::make_unique<memory::SectoredCache>(l1_bytes_));
    block.cache_state = caches_.back().get();
  }
  static_cast<memory::SectoredCache*>(block.cache_state)->clear();
  if (next_ != nullptr) next_->block_begins(block);
}

void CacheObserver::arrives(Warp& warp, std::uint32_t id) {
  if (next_ != nullptr) next_->arrives(warp, id);
}

void CacheObserver::opens(Block& block, std::uint32_t id) {
  if (next_ != nullptr) next_->opens(block, id);
}

void CacheObserver::lanes_meet(Warp& warp, std::uint32_t lanes) {
  if (next_ != nullptr) next_->lanes_meet(warp, lanes);
}

void CacheObserver::fence(Warp& warp, const Step* step) {
  if (next_ != nullptr) next_->fence(warp, step);
}

void CacheObserver::mbarrier(Warp& warp, std::uint32_t mask, const std::uint64_t* offsets,
                             bool arrives) {
  if (next_ != nullptr) next_->mbarrier(warp, mask, offsets, arrives);
}

void CacheObserver::allocated(std::uint64_t address, std::uint64_t bytes) {
  if (next_ != nullptr) next_->allocated(address, bytes);
}

bool CacheObserver::bad_access(const WarpAccess& access, FaultKind kind, std::uint32_t lane) {
  return next_ != nullptr && next_->bad_access(access, kind, lane);
}

void CacheObserver::add_to(counters::Counters& totals) const {
  const memory::Traffic traffic{l2_reads_, distinct_reads_, distinct_writes_};
  totals.l2_read_sectors = traffic.l2_read_sectors;
  // Everything is written through; nothing of it needs a model.
  totals.l2_write_sectors = totals.global_store_sectors + totals.local_store_sectors +
                            totals.atomic_sectors + totals.reduction_sectors;
  totals.dram_read_bytes = memory::dram_read_bytes(traffic, launch_.request->caches.l2_bytes);
  totals.dram_write_bytes = memory::dram_write_bytes(traffic);
}

}  // namespace membound::vgpu::exec
