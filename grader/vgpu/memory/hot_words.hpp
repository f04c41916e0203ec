// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How often each address was wanted: a table from addresses to counts, for finding the hottest.
/// Place in the chain: exec's atomics -> [hot_words] -> counters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace membound::vgpu::memory {

/// Counts by address. Exact up to `kMostWords` addresses; those that come later are left out.
class HotWords {
 public:
  static constexpr std::size_t kMostWords = std::size_t{1} << 22;

  void add(std::uint64_t address, std::uint64_t times) {
    if (address == last_.address) {  // the same as before: needs no search
      last_.count += times;
      return;
    }
    flush();
    last_ = {address, times};
  }

  /// Adds all of `other`.
  void add(HotWords& other) {
    other.flush();
    for (const Entry& entry : other.entries_)
      if (entry.count != 0) add(entry.address, entry.count);
  }

  /// Calls `see` with each address and its count, in no order.
  template <typename See>
  void each(const See& see) {
    flush();
    for (const Entry& entry : entries_)
      if (entry.count != 0) see(entry.address, entry.count);
  }

  /// The most any address was wanted.
  [[nodiscard]] std::uint64_t hottest() {
    flush();
    std::uint64_t most = 0;
    for (const Entry& entry : entries_) most = std::max(most, entry.count);
    return most;
  }

 private:
  struct Entry {
    std::uint64_t address = ~std::uint64_t{0};
    std::uint64_t count = 0;
  };

  void flush() {
    if (last_.count == 0) return;
    if (used_ * 2 >= entries_.size() && used_ < kMostWords) grow();
    Entry* const place = find(last_.address);
    if (place->count != 0 || used_ < kMostWords) {
      used_ += place->count == 0;
      place->address = last_.address;
      place->count += last_.count;
    }
    last_ = {};
  }

  Entry* find(std::uint64_t address) {
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = (address * 0x9E3779B97F4A7C15u >> 20) & mask;
    while (entries_[at].count != 0 && entries_[at].address != address) at = (at + 1) & mask;
    return &entries_[at];
  }

  void grow() {
    std::vector<Entry> old(entries_.empty() ? 64 : entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old)
      if (entry.count != 0) *find(entry.address) = entry;
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
  Entry last_;
};

}  // namespace membound::vgpu::memory
