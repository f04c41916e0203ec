// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/traffic/l1_directory.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "grader/vgpu/memory/coalescer.hpp"

namespace membound::vgpu::exec {

void ReuseDistances::add(const ReuseDistances& other) {
  for (std::uint32_t b = 0; b < kBuckets; ++b) uses_[b] += other.uses_[b];
  first_ += other.first_;
}

std::uint64_t ReuseDistances::total() const { return within(kBuckets) + first_; }

std::uint64_t ReuseDistances::within(std::uint32_t buckets) const {
  return std::accumulate(uses_.begin(), uses_.begin() + std::min(buckets, kBuckets),
                         std::uint64_t{0});
}

std::uint32_t ReuseDistances::served_by(std::uint64_t lines, std::uint64_t duration) const {
  // fp(w) is the sum over x < w of the uses a unit of time that come back after more than x.
  const double room =
      static_cast<double>(lines) * static_cast<double>(std::max<std::uint64_t>(1, duration));
  double footprint = 0;  // times duration
  std::uint64_t longer = total();
  for (std::uint32_t b = 0; b < kBuckets; ++b) {
    if (footprint > room) return b;
    longer -= uses_[b];
    const std::uint32_t next = b + 1 < kBuckets ? shortest(b + 1) : shortest(b);
    footprint += static_cast<double>(longer) * (next - shortest(b));
  }
  return kBuckets;
}

namespace {

constexpr std::uint32_t kFirstSetBits = 8;
constexpr std::uint64_t kTimesL1 = 16;  ///< lines it holds at most, in L1s

constexpr std::uint32_t kUnknown = 15;
constexpr std::uint32_t kLongest = 0xFFFF;
constexpr std::uint32_t kClose = 32 * kWholeStep;  ///< requests: an inner loop's turn

}  // namespace

L1Directory::L1Directory(std::uint64_t l1_bytes)
    : sets_(std::size_t{1} << kFirstSetBits),
      set_bits_(kFirstSetBits),
      most_set_bits_(static_cast<std::uint32_t>(
          std::bit_width(l1_bytes / memory::kLineBytes * kTimesL1 / kWays))) {}

/// How long the line was left alone before or after `time`; makes that one of its uses.
std::uint32_t L1Directory::Line::use(std::uint32_t time) {
  const std::uint32_t until = from + length;
  if (time >= from && time <= until) return 0;
  const std::uint32_t alone = time > until ? time - until : from - time;
  if (alone > kClose || (time > until ? time - from : until - time) > kLongest) {
    from = time;
    length = 0;
    fetched = 0xFFFF;
  } else if (time > until) {
    length = static_cast<std::uint16_t>(time - from);
  } else {
    const Line before = *this;
    length = static_cast<std::uint16_t>(until - time);
    from = time;
    for (std::uint32_t s = 0; s < 4; ++s) {
      const std::uint32_t after = before.fetched >> 4 * s & kUnknown;
      set_fetched(s, after == kUnknown ? time + kUnknown : before.from + after);
    }
  }
  return alone;
}

void L1Directory::Line::set_fetched(std::uint32_t sector, std::uint32_t time) {
  const std::uint32_t after = std::min(time - from, kUnknown);
  fetched = static_cast<std::uint16_t>((fetched & ~(kUnknown << 4 * sector)) | after << 4 * sector);
}

bool L1Directory::Line::was_fetched_at(std::uint32_t sector, std::uint32_t time) const {
  const std::uint32_t after = fetched >> 4 * sector & kUnknown;
  return after != kUnknown && from + after == time;
}

/// True when it has grown. A set may overflow by bad luck: while most of the others are empty, a
/// larger table would not be worth its memory.
bool L1Directory::grow() {
  if (set_bits_ >= most_set_bits_ || used_ < sets_.size()) return false;
  std::vector<Set> old(sets_.size() * 2);
  old.swap(sets_);
  ++set_bits_;
  for (const Set& set : old) {
    for (std::uint32_t way = kWays; way-- > 0;) {  // the one used last goes in last
      if (!set.lines[way].is_used()) continue;
      auto& lines = sets_[place_of(set.lines[way].number)].lines;
      std::copy_backward(lines.begin(), lines.end() - 1, lines.end());
      lines[0] = set.lines[way];
    }
  }
  return true;
}

LoadedSectors L1Directory::load(std::uint64_t line, std::uint32_t sectors, std::uint32_t time,
                                ReuseDistances& lines, ReuseDistances& uses) {
  const auto number = static_cast<std::uint32_t>(line);
  auto* set = &sets_[place_of(number)].lines;
  std::uint32_t at = 0;
  while (at < kWays - 1 && (*set)[at].number != number) ++at;
  const bool known = (*set)[at].number == number && (*set)[at].is_used();
  if (!known) {
    if (!(*set)[at].is_used()) {
      ++used_;
    } else if (grow()) {
      return load(line, sectors, time, lines, uses);
    }
  }
  if (at > 0) std::rotate(set->begin(), set->begin() + at, set->begin() + at + 1);
  Line& found = (*set)[0];
  if (!known) {
    lines.add_first(1);
    uses.add_first(memory::sectors_in(sectors));
    found = Line{number, time, 0, 0, {}};
    for (std::uint32_t s = 0; s < 4; ++s) found.longest[s] = sectors >> s & 1;
    return LoadedSectors::all_first(sectors);
  }
  const std::uint8_t left_alone = ReuseDistances::bucket(found.use(time));
  lines.add(left_alone, 1);
  LoadedSectors loaded;
  for (std::uint32_t s = 0; s < 4; ++s) {
    std::uint8_t& longest = found.longest[s];
    if (longest != 0) longest = std::max<std::uint8_t>(longest, left_alone + 1);
    if ((sectors >> s & 1) == 0) continue;
    if (longest == 0) {
      loaded.first |= 1u << s;
      loaded.filed[s] = LoadedSectors::kNever;
      found.set_fetched(s, time);
    } else {
      const bool together = left_alone == 0 && found.was_fetched_at(s, time);
      loaded.filed[s] = together ? 1 : std::max<std::uint8_t>(longest, 2);
      uses.add(loaded.filed[s] - 1, 1);
    }
    longest = 1;
  }
  uses.add_first(memory::sectors_in(loaded.first));
  return loaded;
}

}  // namespace membound::vgpu::exec
