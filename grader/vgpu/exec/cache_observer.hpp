// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Feeds the cache model with the sectors of every global access, and passes everything on to the
/// checkers if there are any.
/// Place in the chain: exec's handlers -> [cache_observer] -> memory/cache, exec/checker.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "grader/vgpu/exec/access.hpp"
#include "grader/vgpu/memory/cache.hpp"

namespace membound::vgpu::exec {

/// The cache model of one launch.
class CacheObserver : public Observer {
 public:
  /// `next` (may be null) hears everything too.
  CacheObserver(Launch& launch, Observer* next);

  void access(const WarpAccess& access) override;
  void barrier(Warp& warp, const Step* step, bool whole_warp) override;
  void collective(Warp& warp, const Step* step, std::uint32_t members,
                  std::uint32_t present) override;
  void block_begins(Block& block) override;
  void arrives(Warp& warp, std::uint32_t id) override;
  void opens(Block& block, std::uint32_t id) override;
  void lanes_meet(Warp& warp, std::uint32_t lanes) override;
  void fence(Warp& warp, const Step* step) override;
  void mbarrier(Warp& warp, std::uint32_t mask, const std::uint64_t* offsets,
                bool arrives) override;
  void allocated(std::uint64_t address, std::uint64_t bytes) override;
  bool bad_access(const WarpAccess& access, FaultKind kind, std::uint32_t lane) override;

  /// Adds the cache rows to the launch's totals.
  void add_to(counters::Counters& totals) const;

 private:
  Launch& launch_;
  Observer* next_;
  std::uint64_t l1_bytes_;
  memory::TouchMap read_, written_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<memory::SectoredCache>> caches_;  // one a block in flight
  std::atomic<std::uint64_t> l2_reads_{0}, distinct_reads_{0}, distinct_writes_{0};
};

}  // namespace membound::vgpu::exec
