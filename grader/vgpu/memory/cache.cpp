// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/cache.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>

#include "grader/base/check.hpp"

namespace membound::vgpu::memory {
namespace {

constexpr std::uint64_t kSector = 32;
constexpr std::uint64_t kLine = 128;

}  // namespace

SectoredCache::SectoredCache(std::uint64_t bytes)
    : sets_(std::bit_floor(std::max<std::uint64_t>(1, bytes / (kLine * kWays)))) {}

void SectoredCache::clear() {
  std::fill(sets_.begin(), sets_.end(), std::array<Line, kWays>{});
  time_ = 0;
}

bool SectoredCache::load(std::uint64_t sector) {
  const std::uint64_t tag = sector / 4;
  const auto bit = static_cast<std::uint8_t>(1u << (sector % 4));
  // Lines whole powers of two apart do not all fall into one set.
  auto& set = sets_[(tag * 0x9E3779B97F4A7C15u >> 32) & (sets_.size() - 1)];
  ++time_;
  Line* oldest = &set[0];
  for (Line& line : set) {
    if (line.tag == tag) {
      line.used = time_;
      const bool hit = (line.sectors & bit) != 0;
      line.sectors |= bit;
      return hit;
    }
    if (line.used < oldest->used) oldest = &line;
  }
  *oldest = {tag, time_, bit};
  return false;
}

TouchMap::TouchMap(std::uint64_t begin, std::uint64_t bytes)
    : first_sector_(begin / kSector), sectors_(bytes / kSector) {}

/// A kernel that touches nothing needs no map: mapping costs more than an empty launch.
std::uint64_t* TouchMap::map() {
  void* place = mmap(nullptr, sectors_ / 8 + 8, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  MEMBOUND_CHECK(place != MAP_FAILED);
  auto* const mine = static_cast<std::uint64_t*>(place);
  std::uint64_t* first = nullptr;
  if (words_.compare_exchange_strong(first, mine)) return mine;
  munmap(place, sectors_ / 8 + 8);  // another thread was faster
  return first;
}

TouchMap::~TouchMap() {
  if (std::uint64_t* const words = words_.load()) munmap(words, sectors_ / 8 + 8);
}

bool TouchMap::touch(std::uint64_t sector) {
  const std::uint64_t index = sector - first_sector_;
  if (index >= sectors_) return false;
  const std::uint64_t bit = std::uint64_t{1} << (index % 64);
  std::uint64_t* words = words_.load(std::memory_order_acquire);
  if (words == nullptr) words = map();
  std::atomic_ref<std::uint64_t> word(words[index / 64]);
  if ((word.load(std::memory_order_relaxed) & bit) != 0) return false;
  return (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

std::uint64_t dram_read_bytes(const Traffic& traffic, std::uint64_t l2_bytes) {
  const std::uint64_t distinct = traffic.distinct_read_sectors;
  const std::uint64_t footprint = (distinct + traffic.distinct_written_sectors) * kSector;
  const std::uint64_t holds = l2_bytes / 2;
  std::uint64_t sectors = distinct;
  if (footprint > holds && traffic.l2_read_sectors > distinct) {
    const double lost = 1.0 - static_cast<double>(holds) / static_cast<double>(footprint);
    sectors +=
        static_cast<std::uint64_t>(static_cast<double>(traffic.l2_read_sectors - distinct) * lost);
  }
  return sectors * kSector;
}

std::uint64_t dram_write_bytes(const Traffic& traffic) {
  return traffic.distinct_written_sectors * kSector;
}

}  // namespace membound::vgpu::memory
