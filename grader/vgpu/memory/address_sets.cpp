// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/address_sets.hpp"

#include <algorithm>

namespace membound::vgpu::memory {

void AddressRanges::add(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  auto next = ends_.upper_bound(begin);
  if (next != ends_.begin()) {
    const auto before = std::prev(next);
    if (before->second >= end) return;
    if (before->second >= begin) {
      begin = before->first;
      next = before;
    }
  }
  while (next != ends_.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = ends_.erase(next);
  }
  ends_.emplace_hint(next, begin, end);
}

std::optional<std::uint64_t> AddressRanges::first_common(const AddressRanges& other) const {
  auto mine = ends_.begin(), theirs = other.ends_.begin();
  while (mine != ends_.end() && theirs != other.ends_.end()) {
    const std::uint64_t begin = std::max(mine->first, theirs->first);
    if (begin < std::min(mine->second, theirs->second)) return begin;
    ++(mine->second < theirs->second ? mine : theirs);
  }
  return std::nullopt;
}

void AddressRanges::each_gap(std::uint64_t begin, std::uint64_t end,
                             const std::function<void(std::uint64_t, std::uint64_t)>& see) const {
  auto next = ends_.upper_bound(begin);
  if (next != ends_.begin()) begin = std::max(begin, std::prev(next)->second);
  for (; next != ends_.end() && next->first < end; ++next) {
    see(begin, next->first);
    begin = next->second;
  }
  if (begin < end) see(begin, end);
}

}  // namespace membound::vgpu::memory
