// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/guard_check.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "grader/base/check.hpp"
#include "grader/harness/poison.hpp"

namespace membound::harness {
namespace {

struct Changed {
  std::size_t count = 0, first = 0, last = 0;
};

Changed changed_bytes(std::span<const std::byte> now, std::span<const std::byte> before) {
  Changed changed;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] == before[i]) continue;
    if (changed.count++ == 0) changed.first = i;
    changed.last = i;
  }
  return changed;
}

std::string bytes_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

}  // namespace

std::vector<std::byte> guard_pattern(std::size_t size_bytes) {
  std::vector<std::byte> zone(size_bytes);
  for (std::size_t i = 0; i < size_bytes; i += sizeof(std::uint32_t))
    std::memcpy(&zone[i], &kGuardWords[i / sizeof(std::uint32_t) % 2],
                std::min(sizeof(std::uint32_t), size_bytes - i));
  return zone;
}

std::optional<std::string> zone_damage(std::span<const std::byte> zone, Side side,
                                       std::size_t element_bytes, std::size_t element_count) {
  const Changed changed = changed_bytes(zone, guard_pattern(zone.size()));
  if (changed.count == 0) return std::nullopt;
  const bool before = side == Side::kBefore;
  // Elements in front of the array are counted back from its first byte.
  const std::int64_t nearest =
      before ? -static_cast<std::int64_t>((zone.size() - 1 - changed.last) / element_bytes) - 1
             : static_cast<std::int64_t>(element_count + changed.first / element_bytes);
  return bytes_text(changed.count) + (before ? " in front of the first" : " behind the last") +
         " element were overwritten; the nearest is element " + std::to_string(nearest) +
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
  return std::to_string(count) + (count == 1 ? " element" : " elements") +
         " of this input changed, the first is element " + std::to_string(first) +
         "; a kernel may only read its inputs";
}

}  // namespace membound::harness
