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

std::size_t StoredParts::Hash::operator()(const Key& key) const {
  return mixed(mixed(key.line + 1) + (std::uint64_t{key.time} << 32 | key.place));
}

void StoredParts::add(std::uint64_t line, std::uint32_t clock, std::uint64_t block,
                      const LineBytes& bytes) {
  Part& part = parts_[line % parts_.size()];
  const Key key{line, time_of(clock), static_cast<std::uint32_t>(block / blocks_of_place_)};
  const std::lock_guard lock(part.mutex);
  Stores& stores = part.stores[key];
  ++stores.count;
  stores.bytes.add(bytes);
}

std::vector<std::pair<StoredParts::Key, StoredParts::Stores>> StoredParts::sorted() const {
  std::vector<std::pair<Key, Stores>> all;
  for (const Part& part : parts_) all.insert(all.end(), part.stores.begin(), part.stores.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.line, a.first.time, a.first.place) <
           std::tie(b.first.line, b.first.time, b.first.place);
  });
  return all;
}

std::uint64_t StoredParts::unfinished(double dirty_bytes, std::uint64_t ran, double part) const {
  constexpr std::uint64_t kEach = kLineBytes * kWatchedOf;  // bytes a watched line stands for
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
  return unfinished * kWatchedOf;
}

}  // namespace membound::vgpu::memory
