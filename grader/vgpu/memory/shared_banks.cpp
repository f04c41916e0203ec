// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/shared_banks.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "grader/vgpu/memory/address_sets.hpp"
#include "grader/vgpu/memory/coalescer.hpp"

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

/// True when every lane that has an active partner (n ^ distance) reads the partner's address.
bool partners_agree(const std::uint32_t* offsets, std::uint32_t mask, int distance) {
  const std::uint32_t firsts = distance == 1 ? 0x55555555u : 0x33333333u;
  for (std::uint32_t rest = mask & (mask >> distance) & firsts; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (offsets[lane] != offsets[lane + distance]) return false;
  }
  return true;
}

/// Calls `visit` with the lanes of each pass in turn, the empty ones left out.
template <typename Visitor>
void for_each_pass(const std::uint32_t* offsets, std::uint32_t mask, std::uint32_t bytes,
                   bool is_load, Visitor visit) {
  const std::uint32_t lanes = bytes <= 4 ? 32 : 128 / bytes;  // lanes of one pass
  for (std::uint32_t at = 0; at < kLanes;) {
    std::uint32_t width = lanes;
    if (is_load && lanes < 32 && at % (lanes * 2) == 0) {
      const std::uint32_t both = mask & ((lanes * 2 == 32 ? ~0u : (1u << (lanes * 2)) - 1) << at);
      if (partners_agree(offsets, both, 1) || partners_agree(offsets, both, 2)) width = lanes * 2;
    }
    const std::uint32_t part = mask & ((width == 32 ? ~0u : (1u << width) - 1) << at);
    if (part != 0) visit(part);
    at += width;
  }
}

std::uint32_t distinct_bytes(const std::uint32_t* offsets, std::uint32_t mask,
                             std::uint32_t bytes) {
  NumberSet seen;
  std::uint32_t count = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
    count += seen.insert(offsets[std::countr_zero(rest)]);
  return count * bytes;
}

/// Lanes whose accesses the busiest bank has to serve.
std::uint32_t most_lanes_in_a_bank(const std::uint32_t* offsets, std::uint32_t mask,
                                   std::uint32_t bytes) {
  const std::uint32_t words = bytes <= 4 ? 1 : bytes / 4;
  std::array<std::uint8_t, kBanks> load{};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint32_t word = offsets[std::countr_zero(rest)] / 4;
    for (std::uint32_t w = 0; w < words; ++w) ++load[(word + w) % kBanks];
  }
  return *std::max_element(load.begin(), load.end());
}

}  // namespace

Wavefronts shared_wavefronts(const std::uint32_t* offsets, std::uint32_t mask, std::uint32_t bytes,
                             bool is_load) {
  if (mask == 0) return {};
  Wavefronts total;
  for_each_pass(offsets, mask, bytes, is_load,
                [&](std::uint32_t part) { total.taken += busiest_bank(offsets, part, bytes); });
  const auto active = static_cast<std::uint32_t>(std::popcount(mask));
  total.ideal = std::min(total.taken, (active * bytes + 127) / 128);
  total.bytes = distinct_bytes(offsets, mask, bytes);
  return total;
}

std::uint32_t bank_passes(const std::uint32_t* offsets, std::uint32_t mask, std::uint32_t bytes) {
  std::uint32_t passes = 0;
  for_each_pass(offsets, mask, bytes, true,
                [&](std::uint32_t part) { passes += busiest_bank(offsets, part, bytes); });
  return passes;
}

std::vector<std::uint32_t> shared_passes(const std::uint32_t* offsets, std::uint32_t mask,
                                         std::uint32_t bytes, bool is_load) {
  std::vector<std::uint32_t> passes;
  for_each_pass(offsets, mask, bytes, is_load, [&](std::uint32_t part) { passes.push_back(part); });
  return passes;
}

Wavefronts shared_atomic_wavefronts(const std::uint32_t* offsets, std::uint32_t mask,
                                    std::uint32_t bytes, bool swaps) {
  if (mask == 0) return {};
  const std::uint32_t passes = swaps ? 2 : 1, words = bytes <= 4 ? 1 : bytes / 4;
  return {passes * most_lanes_in_a_bank(offsets, mask, bytes), passes * words,
          distinct_bytes(offsets, mask, bytes)};
}

AtomicLoop shared_atomic_loop(const std::uint32_t* offsets, std::uint32_t mask,
                              std::uint32_t bytes) {
  const std::uint32_t words = bytes <= 4 ? 1 : bytes / 4;
  const std::uint32_t together = 32 / words;  // lanes that go through the banks as one
  AtomicLoop loop;
  while (mask != 0) {
    const Wavefronts load = shared_wavefronts(offsets, mask, bytes, true);
    std::uint32_t served = 0;
    NumberSet done;  // places of this turn: of lanes that want one, the first has its turn
    for (std::uint32_t at = 0; at < kLanes; at += together) {
      std::uint32_t banks = 0;
      const std::uint32_t part = mask & ((together == 32 ? ~0u : (1u << together) - 1) << at);
      for (std::uint32_t rest = part; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        const std::uint32_t word = offsets[lane] / 4;
        const std::uint32_t bits = std::rotl((1u << words) - 1, static_cast<int>(word % kBanks));
        if ((banks & bits) != 0 || !done.insert(word)) continue;
        banks |= bits;
        served |= 1u << lane;
      }
    }
    loop.turns += 1;
    loop.loads.taken += load.taken;
    loop.loads.ideal += load.ideal;
    loop.loads.bytes += load.bytes;
    // A swap looks and then writes; two words a lane go through as two halves, as far as there are
    // lanes in both.
    const auto lanes = static_cast<std::uint32_t>(std::popcount(served));
    loop.swaps.taken += words == 1 ? 2 : (lanes == 1 ? 3 : 4);
    loop.swaps.ideal += words == 1 ? 2 : 2 + (lanes * bytes + 127) / 128;
    loop.swaps.bytes += load.bytes;
    mask &= ~served;
  }
  return loop;
}

}  // namespace membound::vgpu::memory
