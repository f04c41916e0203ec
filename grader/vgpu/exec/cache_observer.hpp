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

#include "grader/vgpu/exec/passing_observer.hpp"
#include "grader/vgpu/memory/cache.hpp"

namespace membound::vgpu::exec {

/// The cache model of one launch.
class CacheObserver : public PassingObserver {
 public:
  /// `next` (may be null) hears everything too.
  CacheObserver(Launch& launch, Observer* next);

  void access(const WarpAccess& access) override;
  void block_begins(Block& block) override;

  /// Adds the cache rows to the launch's totals.
  void add_to(counters::Counters& totals) const;

 private:
  Launch& launch_;
  std::uint64_t l1_bytes_;
  memory::TouchMap read_, written_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<memory::SectoredCache>> caches_;  // one a block in flight
  std::atomic<std::uint64_t> l2_reads_{0}, distinct_reads_{0}, distinct_writes_{0};
};

}  // namespace membound::vgpu::exec
