// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/guard_check.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "grader/base/result.hpp"
#include "grader/harness/cases/poison.hpp"

namespace membound::harness {
namespace {

/// Elements counted away from the array: 0 is its direct neighbour.
struct Changed {
  std::size_t count = 0, nearest = 0;
};

Changed changed_elements(std::span<const std::byte> now, std::span<const std::byte> before,
                         std::size_t element_bytes, Side side) {
  Changed changed;
  for (std::size_t away = 0; away < now.size(); away += element_bytes) {
    const std::size_t bytes = std::min(element_bytes, now.size() - away);
    const std::size_t at = side == Side::kBehind ? away : now.size() - away - bytes;
    if (std::memcmp(&now[at], &before[at], bytes) == 0) continue;
    if (changed.count++ == 0) changed.nearest = away / element_bytes;
  }
  return changed;
}

std::string elements_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " element" : " elements");
}

}  // namespace

std::vector<std::byte> guard_pattern(std::size_t size_bytes, std::uint16_t mark) {
  std::vector<std::byte> zone(size_bytes);
  for (std::size_t i = 0; i < size_bytes; i += sizeof(std::uint32_t)) {
    const std::uint32_t word = kGuardWords[i / sizeof(std::uint32_t) % 2] | mark;
    std::memcpy(&zone[i], &word, std::min(sizeof(word), size_bytes - i));
  }
  return zone;
}

std::optional<std::string> zone_damage(std::span<const std::byte> zone, std::uint16_t mark,
                                       Side side, std::size_t element_bytes,
                                       std::size_t element_count) {
  const Changed changed =
      changed_elements(zone, guard_pattern(zone.size(), mark), element_bytes, side);
  if (changed.count == 0) return std::nullopt;
  const bool before = side == Side::kBefore;
  const auto nearest = static_cast<std::int64_t>(changed.nearest);
  return elements_text(changed.count) + (before ? " in front of the first" : " behind the last") +
         (changed.count == 1 ? " was" : " were") + " overwritten; the nearest is element " +
         std::to_string(before ? -1 - nearest
                               : static_cast<std::int64_t>(element_count) + nearest) +
         " of an array of " + std::to_string(element_count);
}

std::optional<std::string> input_damage(std::span<const std::byte> now,
                                        std::span<const std::byte> before,
                                        std::size_t element_bytes) {
  MEMBOUND_CHECK(now.size() == before.size());
  if (std::memcmp(now.data(), before.data(), now.size()) == 0) return std::nullopt;
  std::size_t count = 0, first = 0;
  for (std::size_t i = 0; i < now.size(); i += element_bytes) {
    if (std::memcmp(&now[i], &before[i], element_bytes) == 0) continue;
    if (count++ == 0) first = i / element_bytes;
  }
  return elements_text(count) + " of this input changed, the first is element " +
         std::to_string(first) + "; a kernel may only read its inputs";
}

}  // namespace membound::harness
