// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/trace/wavefronts.hpp"

#include <algorithm>
#include <bit>

#include "grader/vgpu/memory/shared_banks.hpp"

namespace membound::vgpu::trace {
namespace {

constexpr std::uint32_t kBanks = 32;

/// One pass through the banks, from wavefront `first` on; the number of wavefronts it takes.
std::uint32_t serve(const std::uint32_t* offsets, std::uint32_t lanes, std::uint32_t words,
                    std::uint32_t first, LaneWavefronts& served) {
  std::array<std::vector<std::uint32_t>, kBanks> queues;  // words of each bank, in order
  std::uint32_t longest = 0;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    for (std::uint32_t w = 0; w < words; ++w) {
      const std::uint32_t word = offsets[lane] / 4 + w;
      std::vector<std::uint32_t>& queue = queues[word % kBanks];
      auto place = std::find(queue.begin(), queue.end(), word);
      if (place == queue.end()) place = queue.insert(queue.end(), word);
      served[lane].push_back(first + static_cast<std::uint32_t>(place - queue.begin()));
      longest = std::max(longest, static_cast<std::uint32_t>(queue.size()));
    }
  }
  return longest;
}

}  // namespace

LaneWavefronts assign_wavefronts(const std::uint64_t* offsets, std::uint32_t mask,
                                 std::uint32_t bytes, exec::AccessKind kind) {
  std::array<std::uint32_t, 32> narrow{};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    narrow[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(offsets[lane]);
  }
  const std::uint32_t words = bytes <= 4 ? 1 : bytes / 4;
  LaneWavefronts served;
  std::uint32_t next = 1;
  for (const std::uint32_t lanes :
       memory::shared_passes(narrow.data(), mask, bytes, kind == exec::AccessKind::kLoad))
    next += serve(narrow.data(), lanes, words, next, served);
  return served;
}

}  // namespace membound::vgpu::trace
