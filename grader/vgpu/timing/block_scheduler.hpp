// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The block scheduler: blocks are dispatched in launch order, each to the slot that is free first.
/// A slot is free again when its block ends, however early some of its warps left: of 4,096 blocks
/// of 32 warps, 31 of them idle, an H200 runs two an SM at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "grader/vgpu/counters/counters.hpp"

namespace membound::vgpu::timing {

/// How long a block of one kind is resident on its SM, and what it does there.
struct BlockResidency {
  double ns = 0;           ///< from its start to its end when nothing but waiting counts
  double work = 0;         ///< of its SM's pipes, in any unit
  double arriving_ns = 0;  ///< of `ns`: its warps arrive at barriers one after the other
  double loading_ns = 0;   ///< of `ns`: it waits for global memory
  double loads = 0;        ///< load batches of all its warps
};

/// The whole launch.
struct Schedule {
  double ns = 0;             ///< until the last block has ended
  double occupied = 1;       ///< share of SMs × time with a block on the SM: 0 … 1
  double busiest_work = 1;   ///< the work of the SM that has the most, over the average of all SMs
  double busiest_loads = 1;  ///< the same of load batches
};

/// The last SMs of a machine, which are full sooner than the others: so blocks as many apart as
/// there are SMs need not meet on one.
struct EarlySms {
  std::uint32_t sms = 0;   ///< 0: all take turns
  std::uint32_t turn = 0;  ///< each of these gets one of so many of the first blocks
};

/// Dispatches `runs`, whose kinds index `residencies`, to `slots` slots on each of `sms` SMs. SMs
/// take turns at first, but for the early ones.
[[nodiscard]] Schedule schedule(std::span<const counters::BlockRun> runs,
                                std::span<const BlockResidency> residencies, std::uint32_t sms,
                                std::uint32_t slots, EarlySms early = {});

/// The same work in blocks that are all alike and end together, however many that takes; no shorter
/// than the average block.
[[nodiscard]] Schedule spread_evenly(std::span<const counters::BlockRun> runs,
                                     std::span<const BlockResidency> residencies, std::uint32_t sms,
                                     std::uint32_t slots);

/// A slot for a resident block, and when it is free.
struct Slot {
  double free_ns;
  std::uint32_t order;  ///< of the first blocks
  std::uint32_t sm;
  friend bool operator<(const Slot& a, const Slot& b) {
    return a.free_ns != b.free_ns ? a.free_ns < b.free_ns : a.order < b.order;
  }
};

/// The slots, by when they are free again. Blocks begin in the order of time, so those that take
/// equally long end in that order, too: each kind of block has a queue, and the next free slot is
/// at the head of one. That costs the same however many slots there are, where a heap of them all
/// costs 2 to 3 times their logarithm.
class FreeSlots {
  /// Of two queues that hold some: is the first one's head free later?
  [[nodiscard]] auto later() const {
    return [this](std::size_t a, std::size_t b) { return queues_[b].front() < queues_[a].front(); };
  }

 public:
  /// `first`, in order, are free from the start; blocks are of `kinds` kinds.
  FreeSlots(std::size_t kinds, const std::vector<Slot>& first)
      : queues_(kinds + 1), count_(first.size()) {
    queues_[kinds].assign(first.begin(), first.end());
    if (!first.empty()) by_head_.push_back(kinds);
  }

  [[nodiscard]] std::size_t count() const { return count_; }
  /// Takes out the one that is free first.
  [[nodiscard]] Slot take() {
    std::pop_heap(by_head_.begin(), by_head_.end(), later());
    auto& queue = queues_[by_head_.back()];
    const Slot first = queue.front();
    queue.pop_front();
    if (queue.empty())
      by_head_.pop_back();
    else
      std::push_heap(by_head_.begin(), by_head_.end(), later());
    return first;
  }
  /// Puts it back, after a block of `kind`.
  void put(std::size_t kind, const Slot& slot) {
    auto& queue = queues_[kind];
    queue.push_back(slot);
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
  /// Calls change(slot) for all.
  template <typename Change>
  void each(Change change) {
    for (auto& queue : queues_) {
      std::for_each(queue.begin(), queue.end(), change);
      std::sort(queue.begin(), queue.end());
    }
    std::make_heap(by_head_.begin(), by_head_.end(), later());
  }

 private:
  std::vector<std::deque<Slot>> queues_;  ///< by kind; last, those that had no block yet
  std::vector<std::size_t> by_head_;      ///< of the queues that hold some: a heap
  std::size_t count_;
};

}  // namespace membound::vgpu::timing
