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
    : PassingObserver(next),
      launch_(launch),
      l1_bytes_(l1_share(launch)),
      read_(launch.request->memory->shared_window(), launch.request->memory->window_bytes()),
      written_(launch.request->memory->shared_window(), launch.request->memory->window_bytes()) {}

void CacheObserver::access(const WarpAccess& access) {
  PassingObserver::access(access);
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

void CacheObserver::block_begins(Block& block) {
  if (block.cache_state == nullptr) {
    const std::lock_guard lock(mutex_);
    caches_.push_back(std::make_unique<memory::SectoredCache>(l1_bytes_));
    block.cache_state = caches_.back().get();
  }
  static_cast<memory::SectoredCache*>(block.cache_state)->clear();
  PassingObserver::block_begins(block);
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
