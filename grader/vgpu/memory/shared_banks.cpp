// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/shared_banks.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "grader/vgpu/memory/coalescer.hpp"
#include "grader/vgpu/memory/number_set.hpp"

namespace membound::vgpu::memory {
namespace {

constexpr std::uint32_t kBanks = 32;

/// The most distinct words any one bank holds for the lanes of one pass.
std::uint32_t busiest_bank(const std::uint32_t* offsets, std::uint32_t mask, std::uint32_t bytes) {
  const std::uint32_t words = bytes <= 4 ? 1 : bytes / 4;
  // Lanes n and n^2, or any others, at the same address ask for the same words: count those once.
  std::uint32_t banks_once = 0;
  bool conflict = false;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint32_t word = offsets[std::countr_zero(rest)] / 4;
    const std::uint32_t bits = std::rotl((1u << words) - 1, static_cast<int>(word % kBanks));
    conflict = conflict || (banks_once & bits) != 0;
    banks_once |= bits;
  }
  if (!conflict) return 1;
  NumberSet seen;
  std::array<std::uint8_t, kBanks> load{};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint32_t word = offsets[std::countr_zero(rest)] / 4;
    if (!seen.insert(word)) continue;
    for (std::uint32_t w = 0; w < words; ++w) ++load[(word + w) % kBanks];
  }
  return *std::max_element(load.begin(), load.end());
}

/// True when every active pair (n, n^1) reads one address.
bool neighbours_agree(const std::uint32_t* offsets, std::uint32_t mask) {
  const std::uint32_t pairs = mask & (mask >> 1) & 0x55555555u;
  for (std::uint32_t rest = pairs; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (offsets[lane] != offsets[lane + 1]) return false;
  }
  return true;
}

}  // namespace

Wavefronts shared_wavefronts(const std::uint32_t* offsets, std::uint32_t mask, std::uint32_t bytes,
                             bool is_load) {
  if (mask == 0) return {};
  std::uint32_t lanes = bytes <= 4 ? 32 : 128 / bytes;  // lanes of one pass
  Wavefronts total;
  for (std::uint32_t at = 0; at < kLanes;) {
    std::uint32_t width = lanes;
    if (is_load && lanes < 32) {
      const std::uint32_t both = mask & ((lanes * 2 == 32 ? ~0u : (1u << (lanes * 2)) - 1)
                                         << (at / (lanes * 2) * lanes * 2));
      if (at % (lanes * 2) == 0 && neighbours_agree(offsets, both)) width = lanes * 2;
    }
    const std::uint32_t part = mask & ((width == 32 ? ~0u : (1u << width) - 1) << at);
    if (part != 0) {
      total.taken += busiest_bank(offsets, part, bytes);
      total.ideal += 1;
    }
    at += width;
  }
  return total;
}

Wavefronts shared_atomic_wavefronts(const std::uint32_t* offsets, std::uint32_t mask,
                                    std::uint32_t bytes) {
  if (mask == 0) return {};
  const std::uint32_t words = bytes <= 4 ? 1 : bytes / 4;
  std::array<std::uint8_t, kBanks> load{};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint32_t word = offsets[std::countr_zero(rest)] / 4;
    for (std::uint32_t w = 0; w < words; ++w) ++load[(word + w) % kBanks];
  }
  return {*std::max_element(load.begin(), load.end()), words};
}

}  // namespace membound::vgpu::memory
