// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ranges of addresses that grow together: what a piece of work touches of memory, to the byte.
/// Place in the chain: exec/observe/footprint_observer, exec/state/arrivals, runtime ->
/// [address_ranges].
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

namespace membound::vgpu::memory {

class AddressRanges {
 public:
  /// Adds [begin, end); ranges that touch become one.
  void add(std::uint64_t begin, std::uint64_t end);
  /// The lowest address that is in both.
  [[nodiscard]] std::optional<std::uint64_t> first_common(const AddressRanges& other) const;
  /// Calls see(begin, end) for each part of [begin, end) that is in none, in order.
  void each_gap(std::uint64_t begin, std::uint64_t end,
                const std::function<void(std::uint64_t, std::uint64_t)>& see) const;
  [[nodiscard]] std::size_t count() const { return ends_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  ///< by begin; none touch each other
};

}  // namespace membound::vgpu::memory
