// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/stored_parts.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "grader/vgpu/memory/volume.hpp"
#include "grader/vgpu/memory/watched_lines.hpp"

namespace membound::vgpu::memory {
namespace {

constexpr std::uint64_t kMostPlaces = 1024;

bool is_finished(const LineBytes& bytes) {
  for (std::uint32_t sector = 0; sector < 4; ++sector)
    if (const std::uint32_t count = bytes.in_sector(sector); count != 0 && count != kSectorBytes)
      return false;
  return true;
}

}  // namespace

StoredParts::StoredParts(std::uint64_t blocks)
    : blocks_of_place_((blocks + kMostPlaces - 1) / kMostPlaces) {}

void StoredParts::add(std::uint64_t line, std::uint32_t clock, std::uint64_t block,
                      const LineBytes& bytes) {
  Part& part = parts_[line % parts_.size()];
  const Stores here{time_of(clock), static_cast<std::uint32_t>(block / blocks_of_place_), 1, bytes};
  const std::lock_guard lock(part.mutex);
  std::vector<Stores>& stores = part.lines[line];
  const auto at =
      std::lower_bound(stores.begin(), stores.end(), here, [](const Stores& a, const Stores& b) {
        return std::tie(a.time, a.place) < std::tie(b.time, b.place);
      });
  if (at == stores.end() || at->time != here.time || at->place != here.place) {
    stores.insert(at, here);
    return;
  }
  ++at->count;
  at->bytes.add(bytes);
}

std::uint64_t StoredParts::unfinished(double dirty_bytes, std::uint64_t ran, double part) const {
  Volume volume;
  std::uint64_t lines = 0;
  for (const Part& some : parts_) {
    for (const auto& [line, stores] : some.lines) {
      lines += stores.size();
      for (std::size_t i = 0; i < stores.size(); ++i)
        if (i == 0 || stores[i].time != stores[i - 1].time)
          volume.add(stores[i].time, kLineBytes * kWatchedOf);
    }
  }
  volume.sum_up();
  const double place_bytes = static_cast<double>(lines * kLineBytes * kWatchedOf) /
                             static_cast<double>(std::max<std::uint64_t>(1, ran)) *
                             static_cast<double>(blocks_of_place_);
  const auto are_far = [&](const Stores& a, const Stores& b) {
    const double places = std::abs(static_cast<double>(a.place) - static_cast<double>(b.place));
    return places * place_bytes > dirty_bytes ||
           volume.between(a.time, b.time) > dirty_bytes * part;
  };
  std::uint64_t unfinished = 0;
  for (const Part& some : parts_) {
    for (const auto& [line, stores] : some.lines) {
      LineBytes bytes;
      std::uint64_t count = 0;
      for (std::size_t i = 0; i < stores.size(); ++i) {
        bytes.add(stores[i].bytes);
        count += stores[i].count;
        if (i + 1 < stores.size() && !are_far(stores[i], stores[i + 1])) continue;
        if (!is_finished(bytes)) unfinished += count;
        bytes = {};
        count = 0;
      }
    }
  }
  return unfinished * kWatchedOf;
}

}  // namespace membound::vgpu::memory
