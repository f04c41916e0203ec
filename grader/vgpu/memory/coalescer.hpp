// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One warp-wide access to global memory -> how many 32-byte sectors and 128-byte lines it touches.
/// Place in the chain: exec -> [coalescer] -> memory/cache, counters.
///
/// Few sectors: the access is coalesced. Many: it is not. Order between lanes plays no part.
/// Source: probe kernels measured on an H200 (grader/tests/data/h200_probe.csv): sectors, tag
/// requests and ideal sectors equal the profiler's instruction-level metrics on every row.
#pragma once

#include <cstdint>

namespace membound::vgpu::memory {

inline constexpr std::uint32_t kSectorBytes = 32;
inline constexpr std::uint32_t kLineBytes = 128;
inline constexpr std::uint32_t kLanes = 32;

/// What one request costs.
struct Coalesced {
  std::uint32_t sectors = 0;
  std::uint32_t lines = 0;  ///< tag requests
  std::uint32_t ideal_sectors = 0;
};

/// Lanes that are neighbours in memory: `lanes` accesses of `bytes` from `first` on, in order.
[[nodiscard, gnu::always_inline]] constexpr Coalesced coalesce_contiguous(std::uint64_t first,
                                                                          std::uint32_t lanes,
                                                                          std::uint32_t bytes) {
  const std::uint64_t last = first + std::uint64_t{lanes} * bytes - 1;
  return {static_cast<std::uint32_t>(last / kSectorBytes - first / kSectorBytes + 1),
          static_cast<std::uint32_t>(last / kLineBytes - first / kLineBytes + 1),
          (lanes * bytes + kSectorBytes - 1) / kSectorBytes};
}

/// All lanes at one address.
[[nodiscard, gnu::always_inline]] constexpr Coalesced coalesce_uniform(std::uint32_t bytes) {
  return {1, 1, (bytes + kSectorBytes - 1) / kSectorBytes};
}

/// Any pattern. An access is aligned to its size and at most 32 bytes, so it lies in one sector.
[[nodiscard]] Coalesced coalesce(const std::uint64_t* addresses, std::uint32_t mask,
                                 std::uint32_t bytes);

/// Sectors of which the lanes together do not write every byte.
[[nodiscard]] std::uint32_t partial_sectors(const std::uint64_t* addresses, std::uint32_t mask,
                                            std::uint32_t bytes);

/// Sectors of an atomic or a reduction: a sector is visited once for every time its most wanted
/// word is wanted. Integer operations of all lanes on one word are joined by the compiler into a
/// single one first.
[[nodiscard]] std::uint32_t atomic_sectors(const std::uint64_t* addresses, std::uint32_t mask,
                                           bool joins_uniform);

/// Number of distinct addresses over the active lanes.
[[nodiscard]] std::uint32_t distinct_addresses(const std::uint64_t* addresses, std::uint32_t mask);

}  // namespace membound::vgpu::memory
