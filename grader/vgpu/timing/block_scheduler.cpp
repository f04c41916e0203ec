// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/block_scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace membound::vgpu::timing {
namespace {

class BlockScheduler {
 public:
  BlockScheduler(std::uint32_t sms, std::uint32_t slots, EarlySms early, std::uint64_t blocks,
                 std::size_t kinds)
      : sms_(sms),
        early_(early.sms),
        early_turn_(early.turn),
        full_(early.sms == 0
                  ? 0
                  : static_cast<std::uint32_t>(std::min<std::uint64_t>(slots, blocks / sms))),
        slots_(kinds, first_slots(slots)),
        work_(sms, 0),
        loads_(sms, 0),
        end_ns_(sms, 0) {}

  void dispatch(std::uint32_t kind, const BlockResidency& residency, std::uint64_t blocks) {
    const std::uint64_t slots = slots_.count();
    while (blocks > 0) {
      // Does each slot get one before any gets a second?
      if (blocks >= 2 * slots && slots_.spread_ns() <= residency.ns) {
        skip(residency, blocks / slots);
        blocks %= slots;
      }
      for (std::uint64_t n = std::min(blocks, slots); n > 0; --n, --blocks)
        dispatch_one(kind, residency);
    }
  }

  [[nodiscard]] Schedule result() const {
    Schedule all;
    all.ns = *std::max_element(end_ns_.begin(), end_ns_.end());
    const auto sms = static_cast<double>(end_ns_.size());
    if (all.ns > 0)
      all.occupied = std::accumulate(end_ns_.begin(), end_ns_.end(), 0.0) / (sms * all.ns);
    all.busiest_work = most_over_average(work_);
    all.busiest_loads = most_over_average(loads_);
    return all;
  }

 private:
  /// Which block of the first ones comes to slot `p` of an SM. Of the slots that the grid fills
  /// on every SM, the last `early` SMs have one every early_turn_ blocks; the others take turns
  /// with what is between.
  std::uint32_t turn_of(std::uint32_t p, std::uint32_t sm) const {
    if (p >= full_) return p * sms_ + (sm + early_) % sms_;
    const std::uint32_t others = sms_ - early_, between = early_turn_ - early_;
    if (sm >= others) return p * early_turn_ + sm - others;
    const std::uint32_t turn = p * others + sm;
    return turn + early_ * std::min(full_, turn / between + 1);
  }

  std::vector<Slot> first_slots(std::uint32_t slots) const {
    std::vector<Slot> all;
    for (std::uint32_t p = 0; p < slots; ++p)
      for (std::uint32_t sm = 0; sm < sms_; ++sm) all.push_back({0, turn_of(p, sm), sm});
    std::sort(all.begin(), all.end());
    return all;
  }

  void dispatch_one(std::uint32_t kind, const BlockResidency& residency) {
    Slot slot = slots_.take();
    slot.free_ns += residency.ns;
    end_ns_[slot.sm] = std::max(end_ns_[slot.sm], slot.free_ns);
    add(slot, residency, 1);
    slots_.put(kind, slot);
  }

  void add(const Slot& slot, const BlockResidency& residency, double blocks) {
    work_[slot.sm] += blocks * residency.work;
    loads_[slot.sm] += blocks * residency.loads;
  }

  static double most_over_average(const std::vector<double>& of_sms) {
    const double total = std::accumulate(of_sms.begin(), of_sms.end(), 0.0);
    if (total <= 0) return 1;
    return *std::max_element(of_sms.begin(), of_sms.end()) * static_cast<double>(of_sms.size()) /
           total;
  }

  /// So many waves, a block for every slot each, at once.
  void skip(const BlockResidency& residency, std::uint64_t waves) {
    const double later = static_cast<double>(waves) * residency.ns;
    slots_.each([&](Slot& slot) {
      slot.free_ns += later;
      end_ns_[slot.sm] = std::max(end_ns_[slot.sm], slot.free_ns);
      add(slot, residency, static_cast<double>(waves));
    });
  }

  std::uint32_t sms_, early_, early_turn_;
  std::uint32_t full_;  ///< slots of every SM that the grid fills
  FreeSlots slots_;
  std::vector<double> work_, loads_, end_ns_;  ///< of each SM
};

}  // namespace

Schedule schedule(std::span<const counters::BlockRun> runs,
                  std::span<const BlockResidency> residencies, std::uint32_t sms,
                  std::uint32_t slots, EarlySms early) {
  std::uint64_t blocks = 0;
  for (const counters::BlockRun& run : runs) blocks += run.blocks;
  BlockScheduler scheduler(std::max(1u, sms), std::max(1u, slots), early, blocks,
                           residencies.size());
  for (const counters::BlockRun& run : runs)
    scheduler.dispatch(run.kind, residencies[run.kind], run.blocks);
  return scheduler.result();
}

Schedule spread_evenly(std::span<const counters::BlockRun> runs,
                       std::span<const BlockResidency> residencies, std::uint32_t sms,
                       std::uint32_t slots) {
  double ns = 0, blocks = 0;
  for (const counters::BlockRun& run : runs) {
    ns += static_cast<double>(run.blocks) * residencies[run.kind].ns;
    blocks += static_cast<double>(run.blocks);
  }
  const double at_once = static_cast<double>(std::max(1u, sms)) * std::max(1u, slots);
  Schedule even;
  if (blocks > 0) even.ns = ns / std::min(at_once, blocks);
  return even;
}

}  // namespace membound::vgpu::timing
