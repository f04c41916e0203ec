// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/traffic/l2_residency.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "grader/vgpu/exec/traffic/line_sampling.hpp"

namespace membound::vgpu::exec {

namespace {

using Use = LineTimes::Use;

constexpr std::uint64_t kPieceBytes = 64;
constexpr std::uint32_t kPieces = 2;  // of a line
/// Two fetches are about the same time while DRAM moves no more than this: one microsecond.
constexpr double kTogetherBytes = 4e6;

bool is_stored(const Use& use, std::uint32_t piece) { return use.stored.half[piece] != 0; }
bool is_used(const Use& use, std::uint32_t piece) {
  return use.loads[piece] != 0 || is_stored(use, piece);
}

/// Of many pieces that were stored to, in 65536ths, how many have left L2 when lines of so many
/// bytes were used since.
constexpr std::uint64_t kAll = 1 << 16;
std::uint64_t share_that_left(double bytes, double kept) {
  constexpr double kSteepness = 3;  // found in clock_stretches_h100.csv
  const double share = 1 - std::exp(-std::pow(bytes / kept, kSteepness));
  return static_cast<std::uint64_t>(std::llround(share * kAll));
}

/// Adds up 65536ths.
void count_stores(const std::vector<Use>& uses, std::uint32_t piece, const Volume& lines,
                  const KeptBytes& keeps, PieceCounts& counts) {
  const auto kept = static_cast<double>(keeps.stored);
  std::uint64_t bytes = 0;
  std::uint32_t last = 0;
  const auto leaves = [&](std::uint64_t share) {
    const auto low = static_cast<std::uint32_t>(bytes),
               high = static_cast<std::uint32_t>(bytes >> 32);
    const auto is_part = [](std::uint32_t sector) { return sector != 0 && ~sector != 0; };
    if (is_part(low) && is_part(high))
      counts.fetched += share;  // whole, and written as a whole
    else if (is_part(low) || is_part(high))
      counts.filled += share;
    else if ((low == 0) != (high == 0))
      counts.halves += share;
    if (share > kAll / 2) bytes = 0;  // the rest goes on with all bytes, as if none had left
  };
  for (const Use& use : uses) {
    if (!is_stored(use, piece)) continue;
    if (bytes != 0) leaves(share_that_left(lines.between(last, use.time), kept));
    bytes |= use.stored.half[piece];
    last = use.time;
  }
  if (bytes != 0 && keeps.to_the_end) leaves(share_that_left(lines.from(last), kept));
}

/// Leaves out what L1 serves. The earliest load of a piece is none of it, whoever came first here:
/// blocks of an SM run one after the other.
void forget_served(std::vector<Use>& uses, std::uint32_t served) {
  for (std::uint32_t piece = 0; piece < kPieces; ++piece) {
    bool is_there = false;
    for (Use& use : uses) {
      if (is_there && use.loads[piece] <= served) use.loads[piece] = 0;
      is_there = is_there || use.loads[piece] != 0;
    }
  }
  std::erase_if(uses, [](const Use& use) { return !is_used(use, 0) && !is_used(use, 1); });
}

void count_loads(const std::vector<Use>& uses, std::uint32_t piece, const Volume& wanted,
                 double kept, PieceCounts& counts) {
  bool is_there = false;
  std::uint32_t last = 0, fetched_at = 0;
  const auto is_lone = [&](std::uint32_t time) {
    return std::none_of(uses.begin(), uses.end(), [&](const Use& other) {
      if (!is_used(other, 1 - piece)) return false;
      const auto [first, second] = std::minmax(time, other.time);
      return wanted.between(first, second) < kTogetherBytes;
    });
  };
  for (const Use& use : uses) {
    if (!is_used(use, piece)) continue;
    const bool stays = is_there && wanted.between(last, use.time) <= kept;
    const bool loads = use.loads[piece] != 0;
    if (loads && !stays) {
      ++counts.fetched;
      counts.lone += is_lone(use.time);
      fetched_at = use.time;
    }
    counts.wanted += use.first[piece];
    if (loads && use.time <= after(fetched_at)) counts.waiting += use.first[piece];
    if (!is_there && !loads) fetched_at = 0;
    is_there = true;
    last = use.time;
  }
}

constexpr std::uint64_t kMostPlaces = 1024;

bool is_finished(const LineBytes& bytes) {
  for (std::uint32_t sector = 0; sector < 4; ++sector)
    if (const std::uint32_t count = bytes.in_sector(sector);
        count != 0 && count != memory::kSectorBytes)
      return false;
  return true;
}

}  // namespace

void Volume::sum_up() {
  std::sort(steps_.begin(), steps_.end());
  std::size_t kept = 0;
  std::uint64_t sum = 0;
  for (const auto& [time, bytes] : steps_) {
    sum += bytes;
    if (kept == 0 || steps_[kept - 1].first != time) steps_[kept++].first = time;
    steps_[kept - 1].second = sum;
  }
  steps_.resize(kept);
}

double Volume::from(std::uint32_t time) const {
  return steps_.empty()
             ? 0
             : static_cast<double>(steps_.back().second) - (until(time) + up_to(time)) / 2;
}

double Volume::until(std::uint32_t time) const {
  const auto at = std::lower_bound(steps_.begin(), steps_.end(), std::pair{time, std::uint64_t{0}});
  return at == steps_.begin() ? 0 : static_cast<double>(std::prev(at)->second);
}

KeptBytes kept_in_l2(std::uint64_t l2_bytes, std::uint64_t stored_bytes, double dirty_bytes,
                     double part) {
  const auto part_of = [&](std::uint64_t bytes) {
    return static_cast<std::uint64_t>(static_cast<double>(bytes) * part);
  };
  return {part_of(l2_bytes) / 2, part_of(stored_bytes), dirty_bytes, part, part >= 1};
}

template <typename Change>
void LineTimes::use(std::uint64_t line, std::uint32_t clock, const Change& change) {
  const std::uint32_t time = time_of(clock);
  lines_.change(line, line, [&](std::vector<Use>& uses) {
    for (std::size_t i = uses.size(); i > 0; --i)
      if (uses[i - 1].time == time) return change(uses[i - 1]);
    uses.push_back({time, {}, {}, {}});
    change(uses.back());
  });
}

void LineTimes::load(std::uint64_t line, std::uint32_t clock, const LoadedSectors& sectors) {
  use(line, clock, [&](Use& use) {
    for (std::uint32_t piece = 0; piece < kPieces; ++piece) {
      const std::uint8_t farthest =
          std::max(sectors.filed[2 * piece], sectors.filed[2 * piece + 1]);
      use.loads[piece] = std::max(use.loads[piece], farthest);
      const bool first = (sectors.first >> 2 * piece & 3u) != 0;
      use.first[piece] = static_cast<std::uint16_t>(use.first[piece] + first);
    }
  });
}

void LineTimes::store(std::uint64_t line, std::uint32_t clock, const LineBytes& bytes) {
  use(line, clock, [&](Use& use) { use.stored.add(bytes); });
}

PieceCounts LineTimes::counts(const KeptBytes& kept, std::uint32_t served) {
  Volume wanted, lines;
  lines_.each([&](std::uint64_t, std::vector<Use>& uses) {
    std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.time < b.time; });
    forget_served(uses, served);
    for (const Use& use : uses) {
      constexpr std::uint64_t kEach = kPieceBytes * kLinesPerSample;
      wanted.add(use.time, (is_used(use, 0) + is_used(use, 1)) * kEach);
      lines.add(use.time, kPieces * kEach);
    }
  });
  wanted.sum_up();
  lines.sum_up();
  PieceCounts counts, of_stores;
  lines_.each([&](std::uint64_t, const std::vector<Use>& uses) {
    for (std::uint32_t piece = 0; piece < kPieces; ++piece) {
      count_stores(uses, piece, lines, kept, of_stores);
      count_loads(uses, piece, wanted, static_cast<double>(kept.read), counts);
    }
  });
  counts.fetched += of_stores.fetched / kAll;
  counts.filled = of_stores.filled / kAll;
  counts.halves = of_stores.halves / kAll;
  return counts;
}

PartialStores::PartialStores(std::uint64_t blocks)
    : blocks_of_place_((blocks + kMostPlaces - 1) / kMostPlaces) {}

std::size_t PartialStores::Hash::operator()(const Key& key) const {
  return mixed(mixed(key.line + 1) + (std::uint64_t{key.time} << 32 | key.place));
}

void PartialStores::add(std::uint64_t line, std::uint32_t clock, std::uint64_t block,
                        const LineBytes& bytes) {
  const Key key{line, time_of(clock), static_cast<std::uint32_t>(block / blocks_of_place_)};
  stores_.change(line, key, [&](Stores& stores) {
    ++stores.count;
    stores.bytes.add(bytes);
  });
}

std::vector<std::pair<PartialStores::Key, PartialStores::Stores>> PartialStores::sorted() const {
  std::vector<std::pair<Key, Stores>> all;
  stores_.each([&](const Key& key, const Stores& stores) { all.emplace_back(key, stores); });
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.line, a.first.time, a.first.place) <
           std::tie(b.first.line, b.first.time, b.first.place);
  });
  return all;
}

std::uint64_t PartialStores::unfinished(double dirty_bytes, std::uint64_t ran, double part) const {
  constexpr std::uint64_t kEach =
      memory::kLineBytes * kLinesPerSample;  // bytes a sampled line stands for
  const auto all = sorted();
  Volume volume;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Key& key = all[i].first;
    const bool is_known =
        i > 0 && all[i - 1].first.line == key.line && all[i - 1].first.time == key.time;
    if (!is_known) volume.add(key.time, kEach);
  }
  volume.sum_up();
  const double place_bytes = static_cast<double>(all.size() * kEach * blocks_of_place_) /
                             static_cast<double>(std::max<std::uint64_t>(1, ran));
  const auto are_near = [&](const Key& a, const Key& b) {
    const double places = std::abs(static_cast<double>(a.place) - static_cast<double>(b.place));
    return a.line == b.line && places * place_bytes <= dirty_bytes &&
           volume.between(a.time, b.time) <= dirty_bytes * part;
  };
  std::uint64_t unfinished = 0, count = 0;
  LineBytes bytes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bytes.add(all[i].second.bytes);
    count += all[i].second.count;
    if (i + 1 < all.size() && are_near(all[i].first, all[i + 1].first)) continue;
    if (!is_finished(bytes)) unfinished += count;
    bytes = {};
    count = 0;
  }
  return unfinished * kLinesPerSample;
}

}  // namespace membound::vgpu::exec
