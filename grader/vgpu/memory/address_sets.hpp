// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sets of addresses: up to 32 numbers of one request without allocation; ranges that grow
/// together, to the byte; and how often each address was wanted, for finding the hottest.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace membound::vgpu::memory {

/// A small set of numbers for one request; no allocation.
class NumberSet {
 public:
  /// True when `number` is new.
  bool insert(std::uint64_t number) {
    std::uint32_t at = static_cast<std::uint32_t>((number * 0x9E3779B97F4A7C15u) >> 58);
    while ((used_ >> at) & 1) {
      if (keys_[at] == number) return false;
      at = (at + 1) % 64;
    }
    used_ |= std::uint64_t{1} << at;
    keys_[at] = number;
    return true;
  }

 private:
  std::uint64_t used_ = 0;
  std::array<std::uint64_t, 64> keys_;
};

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
