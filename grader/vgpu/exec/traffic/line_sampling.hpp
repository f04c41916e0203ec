// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Line sampling: which lines of global memory are looked at closely, one of every 64, where each
/// stands for all; and which of their bytes a launch uses.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "grader/vgpu/exec/traffic/request_lines.hpp"
#include "grader/vgpu/memory/address_space.hpp"
#include "grader/vgpu/memory/coalescer.hpp"

namespace membound::vgpu::exec {

inline constexpr std::uint64_t kLinesPerSample = 64;  ///< lines, one is sampled

[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t number) {
  const std::uint64_t once = number * 0x9E3779B97F4A7C15u;
  return (once ^ once >> 29) * 0xBF58476D1CE4E5B9u;
}

/// The choice of one launch. It depends on the place of a line in its allocation and not on where
/// that lies, so that a launch counts the same whatever was allocated before. Of every 64 lines in
/// a row one is chosen, at random: nothing that is whole is counted wrong, and no stride meets only
/// lines that are chosen.
class SampledLines {
 public:
  explicit SampledLines(const std::vector<memory::Allocation>& live) {
    for (const memory::Allocation& each : live)
      firsts_.push_back(each.address / memory::kLineBytes);
    std::sort(firsts_.begin(), firsts_.end());
  }

  /// Is line number `line` (address / 128) one of them?
  [[nodiscard]] bool hold(std::uint64_t line) const {
    return is_chosen(line - allocation_of(line).first);
  }
  /// Which of the set's are: a bit each.
  [[nodiscard]] std::uint32_t of(const LineSet& lines) const {
    Lines allocation{1, 0};
    std::uint32_t chosen = 0;
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
      const std::uint64_t line = lines.line(i);
      if (line < allocation.first || line > allocation.last) allocation = allocation_of(line);
      chosen |= static_cast<std::uint32_t>(is_chosen(line - allocation.first)) << i;
    }
    return chosen;
  }

 private:
  static_assert(kLinesPerSample == std::uint64_t{1} << (64 - 58));
  /// By the line's place in its allocation.
  static bool is_chosen(std::uint64_t at) {
    return mixed(at / kLinesPerSample + 1) >> 58 == at % kLinesPerSample;
  }

  struct Lines {
    std::uint64_t first, last;
  };
  /// The allocation about a line, and what follows it up to the next.
  [[nodiscard]] Lines allocation_of(std::uint64_t line) const {
    const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), line);
    return {after == firsts_.begin() ? 0 : *std::prev(after),
            after == firsts_.end() ? ~std::uint64_t{0} : *after - 1};
  }

  std::vector<std::uint64_t> firsts_;  ///< lines where an allocation begins
};

/// Bytes of one line, a bit each.
struct LineBytes {
  std::array<std::uint64_t, 2> half{};

  /// Bytes [begin, end) of the line; at most 64 of them cross its middle or lie on one side.
  void add(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t h = 0; h < 2; ++h) {
      const std::uint32_t low = begin > 64 * h ? begin - 64 * h : 0;
      const std::uint32_t high = end > 64 * h ? end - 64 * h : 0;
      if (low >= 64 || high <= low) continue;
      const std::uint64_t up_to = high >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << high) - 1;
      half[h] |= up_to & ~((std::uint64_t{1} << low) - 1);
    }
  }
  void add(const LineBytes& other) {
    half[0] |= other.half[0];
    half[1] |= other.half[1];
  }
  [[nodiscard]] std::uint32_t count() const {
    return static_cast<std::uint32_t>(std::popcount(half[0]) + std::popcount(half[1]));
  }
  /// Those of sector 0 to 3.
  [[nodiscard]] std::uint32_t in_sector(std::uint32_t sector) const {
    return static_cast<std::uint32_t>(
        std::popcount(half[sector / 2] >> (sector % 2 * memory::kSectorBytes) & 0xFFFFFFFFu));
  }
};

/// Something noted by line: a map in 16 parts with a lock each, so that several threads may note.
template <typename Key, typename Value, typename Hash = std::hash<Key>>
class LineMap {
 public:
  /// Calls change(value) of a key, a fresh one where there is none yet. `line` chooses the part.
  template <typename Change>
  void change(std::uint64_t line, const Key& key, const Change& change) {
    Part& part = parts_[line % parts_.size()];
    const std::lock_guard lock(part.mutex);
    change(part.values[key]);
  }
  /// What is noted, or a fresh value.
  [[nodiscard]] Value find(std::uint64_t line, const Key& key) const {
    const Part& part = parts_[line % parts_.size()];
    const std::lock_guard lock(part.mutex);
    const auto found = part.values.find(key);
    return found == part.values.end() ? Value{} : found->second;
  }
  /// Calls see(key, value) for all, in no order.
  template <typename See>
  void each(const See& see) const {
    for (const Part& part : parts_) {
      const std::lock_guard lock(part.mutex);
      for (const auto& [key, value] : part.values) see(key, value);
    }
  }
  template <typename See>
  void each(const See& see) {
    for (Part& part : parts_) {
      const std::lock_guard lock(part.mutex);
      for (auto& [key, value] : part.values) see(key, value);
    }
  }

 private:
  struct Part {
    mutable std::mutex mutex;
    std::unordered_map<Key, Value, Hash> values;
  };
  std::array<Part, 16> parts_;
};

/// Bytes of many lines. Safe from several threads.
class ByteMap {
 public:
  void add(std::uint64_t line, const LineBytes& bytes) {
    lines_.change(line, line, [&](LineBytes& all) { all.add(bytes); });
  }
  [[nodiscard]] LineBytes of(std::uint64_t line) const { return lines_.find(line, line); }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t all = 0;
    lines_.each([&](std::uint64_t, const LineBytes& bytes) { all += bytes.count(); });
    return all;
  }

 private:
  LineMap<std::uint64_t, LineBytes> lines_;
};

/// Up to 64 sectors out of all that were added: those with the smallest hash, whatever the order.
class SectorSample {
 public:
  void add(std::uint64_t sector) {
    constexpr std::size_t kMost = 64;
    const std::uint64_t hash = mixed(sector);
    if (kept_.size() == kMost) {
      const auto last = std::prev(kept_.end());
      if (hash >= last->first) return;
      if (kept_.contains(hash)) return;
      kept_.erase(last);
    }
    kept_.emplace(hash, sector);
  }
  void add(const SectorSample& other) {
    for (const auto& [hash, sector] : other.kept_) add(sector);
  }
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& by_hash() const { return kept_; }

 private:
  std::map<std::uint64_t, std::uint64_t> kept_;  ///< sectors (address / 32) by their hash
};

}  // namespace membound::vgpu::exec
