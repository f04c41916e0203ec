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
  /// Calls see(begin, end) for each range, in order.
  template <typename See>
  void each(See see) const {
    for (const auto& [begin, end] : ends_) see(begin, end);
  }
  /// The same for what lies in [begin, end) of each.
  template <typename See>
  void each_within(std::uint64_t begin, std::uint64_t end, See see) const {
    auto next = ends_.upper_bound(begin);
    if (next != ends_.begin()) --next;
    for (; next != ends_.end() && next->first < end; ++next)
      if (next->second > begin)
        see(next->first < begin ? begin : next->first, next->second > end ? end : next->second);
  }
  [[nodiscard]] std::size_t count() const { return ends_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  ///< by begin; none touch each other
};

}  // namespace membound::vgpu::memory
