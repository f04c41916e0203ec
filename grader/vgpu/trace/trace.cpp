// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/trace/trace.hpp"

#include <algorithm>
#include <bit>

#include <nlohmann/json.hpp>

#include "grader/vgpu/memory/coalescer.hpp"
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

namespace {

constexpr std::size_t kMostAccesses = 4096;

const char* word_for(exec::AccessKind kind) {
  return kind == exec::AccessKind::kLoad ? "load" : "store";
}

void cost_of_shared(const exec::AccessEvent& event, TracedAccess& access) {
  std::array<std::uint32_t, 32> offsets{};
  for (std::size_t lane = 0; lane < 32; ++lane)
    offsets[lane] = static_cast<std::uint32_t>(access.offsets[lane]);
  const memory::Wavefronts cost = memory::shared_wavefronts(offsets.data(), event.mask, event.bytes,
                                                            event.kind == exec::AccessKind::kLoad);
  access.units = cost.taken;
  access.ideal = cost.ideal;
  access.wavefronts = assign_wavefronts(access.offsets.data(), event.mask, event.bytes, event.kind);
}

void cost_of_global(const exec::AccessEvent& event, TracedAccess& access) {
  const memory::Coalesced cost = memory::coalesce(event.addresses, event.mask, event.bytes);
  access.units = cost.sectors;
  access.ideal = cost.ideal_sectors;
}

}  // namespace

void Trace::on_access(const exec::AccessEvent& event) {
  if (event.kind == exec::AccessKind::kAtomic) return;
  if (event.space == ptx::StateSpace::kLocal || event.mask == 0) return;
  if (accesses_.size() == kMostAccesses) return;
  const bool shared = event.space == ptx::StateSpace::kShared;
  const std::uint32_t occurrence = seen_[{event.ptx_line, shared}]++;
  if (occurrence >= occurrences_) return;
  TracedAccess access{event.file, std::string(event.instruction), event.line, event.ptx_line};
  access.shared = shared;
  access.kind = event.kind;
  access.occurrence = occurrence;
  access.mask = event.mask;
  access.bytes = event.bytes;
  std::uint64_t lowest = ~std::uint64_t{0};
  for (std::uint32_t rest = event.mask; rest != 0; rest &= rest - 1)
    lowest = std::min(lowest, event.addresses[std::countr_zero(rest)]);
  const std::uint64_t start = shared ? 0 : lowest / memory::kLineBytes * memory::kLineBytes;
  for (std::uint32_t rest = event.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    access.offsets[static_cast<std::size_t>(lane)] = event.addresses[lane] - start;
  }
  if (shared)
    cost_of_shared(event, access);
  else
    cost_of_global(event, access);
  accesses_.push_back(std::move(access));
}

std::string to_json(const std::vector<TracedAccess>& accesses) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const TracedAccess& access : accesses) {
    nlohmann::ordered_json one = {{"file", access.file},
                                  {"line", access.line},
                                  {"ptx_line", access.ptx_line},
                                  {"instruction", access.instruction},
                                  {"space", access.shared ? "shared" : "global"},
                                  {"kind", word_for(access.kind)},
                                  {"occurrence", access.occurrence},
                                  {"mask", access.mask},
                                  {"bytes", access.bytes},
                                  {"offsets", access.offsets},
                                  {"units", access.units},
                                  {"ideal", access.ideal}};
    if (access.shared) one["wavefronts"] = access.wavefronts;
    all.push_back(std::move(one));
  }
  return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace membound::vgpu::trace
