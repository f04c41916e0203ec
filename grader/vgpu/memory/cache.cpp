// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/cache.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>

#include "grader/base/check.hpp"
#include "grader/vgpu/memory/coalescer.hpp"

namespace membound::vgpu::memory {
TouchMap::TouchMap(std::uint64_t begin, std::uint64_t bytes)
    : first_line_(begin / kLineBytes), lines_(bytes / kLineBytes) {}

/// A kernel that touches nothing needs no map: mapping costs more than an empty launch.
std::uint64_t* TouchMap::map() {
  void* place = mmap(nullptr, lines_ / 2 + 8, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  MEMBOUND_CHECK(place != MAP_FAILED);
  auto* const mine = static_cast<std::uint64_t*>(place);
  std::uint64_t* first = nullptr;
  if (words_.compare_exchange_strong(first, mine)) return mine;
  munmap(place, lines_ / 2 + 8);  // another thread was faster
  return first;
}

TouchMap::~TouchMap() {
  if (std::uint64_t* const words = words_.load()) munmap(words, lines_ / 2 + 8);
}

std::uint32_t TouchMap::touch(std::uint64_t line, std::uint32_t sectors,
                              std::vector<std::uint64_t>* pieces) {
  const std::uint64_t index = line - first_line_;
  if (index >= lines_) return 0;
  const std::uint64_t bits = std::uint64_t{sectors} << (index % 16 * 4);
  std::uint64_t* words = words_.load(std::memory_order_acquire);
  if (words == nullptr) words = map();
  std::atomic_ref<std::uint64_t> word(words[index / 16]);
  if ((word.load(std::memory_order_relaxed) & bits) == bits) return 0;
  const std::uint64_t before = word.fetch_or(bits, std::memory_order_relaxed);
  if (before == 0 && pieces != nullptr) pieces->push_back(index / 16);
  return sectors_in(static_cast<std::uint32_t>((bits & ~before) >> (index % 16 * 4)));
}

std::uint64_t TouchMap::short_runs(std::vector<std::uint64_t> pieces, std::uint64_t lines) const {
  std::sort(pieces.begin(), pieces.end());
  std::uint64_t runs = 0, length = 0, next = 0;
  const auto end_run = [&] {
    runs += length > 0 && length < lines;
    length = 0;
  };
  for (const std::uint64_t piece : pieces) {
    if (piece != next) end_run();
    for (std::uint64_t word = words_.load()[piece], i = 0; i < 16; ++i, word >>= 4) {
      if ((word & 15u) == 0)
        end_run();
      else
        ++length;
    }
    next = piece + 1;
  }
  end_run();
  return runs;
}

std::uint64_t dram_read_bytes(const Traffic& traffic, std::uint64_t l2_bytes) {
  const std::uint64_t distinct = traffic.distinct_read_sectors;
  const std::uint64_t footprint = (distinct + traffic.distinct_written_sectors) * kSectorBytes;
  const std::uint64_t holds = l2_bytes / 2;
  std::uint64_t sectors = distinct;
  if (footprint > holds && traffic.l2_read_sectors > distinct) {
    const double lost = 1.0 - static_cast<double>(holds) / static_cast<double>(footprint);
    sectors +=
        static_cast<std::uint64_t>(static_cast<double>(traffic.l2_read_sectors - distinct) * lost);
  }
  return sectors * kSectorBytes;
}

std::uint64_t dram_write_bytes(const Traffic& traffic) {
  return traffic.distinct_written_sectors * kSectorBytes;
}

}  // namespace membound::vgpu::memory
