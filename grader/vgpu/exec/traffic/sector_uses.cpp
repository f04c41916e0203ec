// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/traffic/sector_uses.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace membound::vgpu::exec {
namespace {

using memory::kLineBytes;
using memory::kSectorBytes;

constexpr std::size_t kJoinFrom = 1024;  // entries
constexpr std::uint64_t kLineWidth = kLineBytes;

/// Calls `see` with sampled lines and the bytes of them that the access wants; a line may come in
/// several parts.
template <typename See>
void each_sampled(const SampledLines& sampled, const WarpAccess& access, const See& see) {
  const std::uint64_t first = access.addresses[0];
  if (access.shape == LanePattern::kRow) {
    const std::uint64_t end = first + std::uint64_t{32} * access.bytes;
    for (std::uint64_t line = first / kLineBytes; line * kLineBytes < end; ++line) {
      if (!sampled.hold(line)) continue;
      const std::uint64_t from = std::max(first, line * kLineBytes) - line * kLineBytes;
      LineBytes bytes;
      bytes.add(static_cast<std::uint32_t>(from),
                static_cast<std::uint32_t>(std::min(end - line * kLineBytes, kLineWidth)));
      see(line, bytes);
    }
    return;
  }
  const std::uint32_t lanes = access.shape == LanePattern::kSame ? 1 : access.mask;
  std::uint64_t line = 0;
  LineBytes bytes;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = access.addresses[std::countr_zero(rest)];
    if (!sampled.hold(address / kLineBytes)) continue;
    if (address / kLineBytes != line) {
      if (bytes.count() != 0) see(line, bytes);
      line = address / kLineBytes;
      bytes = {};
    }
    const auto at = static_cast<std::uint32_t>(address % kLineBytes);
    bytes.add(at, at + access.bytes);
  }
  if (bytes.count() != 0) see(line, bytes);
}

}  // namespace

std::uint32_t run_sectors(const WarpAccess& access, std::uint32_t touched) {
  const std::uint64_t step = access.bytes;
  const auto sectors_of = [&](std::uint64_t words) {
    return static_cast<std::uint32_t>((words * step + kSectorBytes - 1) / kSectorBytes);
  };
  if (access.shape == LanePattern::kRow) return std::min(touched, sectors_of(32));
  if (access.shape == LanePattern::kSame || access.mask == 0) return touched;
  std::uint32_t all = 0;
  std::uint64_t words = 1;
  std::uint64_t previous = access.addresses[std::countr_zero(access.mask)];
  std::uint64_t direction = 0;  // of this run, once it has one
  for (std::uint32_t rest = access.mask & (access.mask - 1); rest != 0; rest &= rest - 1) {
    const std::uint64_t address = access.addresses[std::countr_zero(rest)];
    const std::uint64_t difference = address - previous;
    previous = address;
    if (difference == 0) continue;
    const bool goes_on =
        (difference == step || difference == -step) && (direction == 0 || difference == direction);
    if (goes_on) {
      direction = difference;
      ++words;
      continue;
    }
    all += sectors_of(words);
    words = 1;
    direction = 0;
  }
  return std::min(touched, all + sectors_of(words));
}

void SectorUses::Stores::add(std::uint32_t warp, std::uint64_t line, const LineBytes& bytes) {
  entries_.push_back({line, warp, bytes});
  if (entries_.size() >= kJoinFrom + 2 * joined_) join();
}

void SectorUses::Stores::join() {
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.warp, a.line) < std::tie(b.warp, b.line);
  });
  std::size_t kept = 0;
  for (const Entry& entry : entries_) {
    if (kept > 0 && entries_[kept - 1].warp == entry.warp && entries_[kept - 1].line == entry.line)
      entries_[kept - 1].bytes.add(entry.bytes);
    else
      entries_[kept++] = entry;
  }
  entries_.resize(kept);
  joined_ = kept;
}

std::uint64_t SectorUses::Stores::take() {
  join();
  std::uint64_t all = 0;
  for (const Entry& entry : entries_) all += entry.bytes.count();
  entries_.clear();
  joined_ = 0;
  return all;
}

void SectorUses::see(const WarpAccess& access, std::uint32_t clock, Stores& stores,
                     Samples& samples) {
  const bool store = access.kind == AccessKind::kStore;
  if (!store && !all_) return;
  each_sampled(sampled_lines_, access, [&](std::uint64_t line, const LineBytes& bytes) {
    if (store) {
      times_.store(line, clock, bytes);
      partial_stores_.add(line, clock, access.warp->block->linear, bytes);
    }
    if (!all_) return;
    (store ? stored_ : loaded_).add(line, bytes);
    if (store) stores.add(access.warp->index, line, bytes);
    if (access.shape == LanePattern::kRow) return;
    auto& sample = samples[access.step->stats];
    if (sample == nullptr) sample = std::make_unique<Sample>(Sample{store, {}});
    for (std::uint32_t sector = 0; sector < 4; ++sector)
      if (bytes.in_sector(sector) != 0) sample->sectors.add(line * 4 + sector);
  });
}

double SectorUses::used_share(const Sample& sample) const {
  const ByteMap& map = sample.stores ? stored_ : loaded_;
  std::uint64_t used = 0, all = 0;
  for (const auto& [hash, sector] : sample.sectors.by_hash()) {
    used += map.of(sector / 4).in_sector(static_cast<std::uint32_t>(sector % 4));
    all += kSectorBytes;
  }
  return all == 0 ? 0 : static_cast<double>(used) / static_cast<double>(all);
}

void SectorUses::add_to(counters::Counters& totals, const KeptBytes& kept, std::uint32_t served,
                        std::uint64_t ran) {
  totals.unfinished_store_lines = partial_stores_.unfinished(kept.dirty, ran, kept.part);
  const PieceCounts pieces = times_.counts(kept, served);
  totals.dram_filled_pieces = pieces.filled * kLinesPerSample;
  totals.dram_half_pieces = pieces.halves * kLinesPerSample;
  if (!all_) return;
  totals.warp_store_bytes = warp_bytes_.load() * kLinesPerSample;
  totals.distinct_store_bytes = stored_.count() * kLinesPerSample;
  totals.dram_fetched_pieces = pieces.fetched * kLinesPerSample;
  totals.dram_lone_pieces = pieces.lone * kLinesPerSample;
  if (pieces.wanted == 0) return;
  totals.l2_waiting_sectors = static_cast<std::uint64_t>(
      static_cast<double>(totals.l2_read_sectors) * static_cast<double>(pieces.waiting) /
      static_cast<double>(pieces.wanted));
}

}  // namespace membound::vgpu::exec
