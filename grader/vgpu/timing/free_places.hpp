// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The places for blocks, by when they are free again.
/// Place in the chain: schedule -> [free_places]. Left out: how long a block takes.
///
/// Blocks begin in the order of time, so those that take equally long end in that order, too: each
/// kind of block has a queue, and the next free place is at the head of one. That costs the same
/// however many places there are, where a heap of them all costs 2 to 3 times their logarithm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace membound::vgpu::timing {

/// A place for a block, and when it is free.
struct Place {
  double free_ns;
  std::uint32_t order;  ///< of the first blocks
  std::uint32_t sm;
  friend bool operator<(const Place& a, const Place& b) {
    return a.free_ns != b.free_ns ? a.free_ns < b.free_ns : a.order < b.order;
  }
};

class FreePlaces {
  /// Of two queues that hold some: is the first one's head free later?
  [[nodiscard]] auto later() const {
    return [this](std::size_t a, std::size_t b) { return queues_[b].front() < queues_[a].front(); };
  }

 public:
  /// `first`, in order, are free from the start; blocks are of `kinds` kinds.
  FreePlaces(std::size_t kinds, const std::vector<Place>& first)
      : queues_(kinds + 1), count_(first.size()) {
    queues_[kinds].assign(first.begin(), first.end());
    if (!first.empty()) by_head_.push_back(kinds);
  }

  [[nodiscard]] std::size_t count() const { return count_; }
  /// Takes out the one that is free first.
  [[nodiscard]] Place take() {
    std::pop_heap(by_head_.begin(), by_head_.end(), later());
    auto& queue = queues_[by_head_.back()];
    const Place first = queue.front();
    queue.pop_front();
    if (queue.empty())
      by_head_.pop_back();
    else
      std::push_heap(by_head_.begin(), by_head_.end(), later());
    return first;
  }
  /// Puts it back, behind a block of `kind`.
  void put(std::size_t kind, const Place& place) {
    auto& queue = queues_[kind];
    queue.push_back(place);
    // Where rounding makes times equal, order decides.
    auto at = queue.end() - 1;
    for (; at != queue.begin() && *at < *(at - 1); --at) std::swap(*at, *(at - 1));
    if (queue.size() == 1) {
      by_head_.push_back(kind);
      std::push_heap(by_head_.begin(), by_head_.end(), later());
    } else if (at == queue.begin()) {
      std::make_heap(by_head_.begin(), by_head_.end(), later());
    }
  }
  /// From the first to the last that is free.
  [[nodiscard]] double spread_ns() const {
    double first = queues_[by_head_.front()].front().free_ns, last = first;
    for (const std::size_t kind : by_head_) last = std::max(last, queues_[kind].back().free_ns);
    return last - first;
  }
  /// Calls change(place) for all.
  template <typename Change>
  void each(Change change) {
    for (auto& queue : queues_) {
      std::for_each(queue.begin(), queue.end(), change);
      std::sort(queue.begin(), queue.end());
    }
    std::make_heap(by_head_.begin(), by_head_.end(), later());
  }

 private:
  std::vector<std::deque<Place>> queues_;  ///< by kind; last, those that had no block yet
  std::vector<std::size_t> by_head_;       ///< of the queues that hold some: a heap
  std::size_t count_;
};

}  // namespace membound::vgpu::timing
