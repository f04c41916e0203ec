// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "grader/vgpu/timing/free_places.hpp"

namespace membound::vgpu::timing {
namespace {

constexpr std::uint32_t kEarlyTurn = 100;

class Dealer {
 public:
  Dealer(std::uint32_t sms, std::uint32_t places, std::uint32_t early, std::uint64_t blocks,
         std::size_t kinds)
      : sms_(sms),
        early_(early),
        full_(early == 0
                  ? 0
                  : static_cast<std::uint32_t>(std::min<std::uint64_t>(places, blocks / sms))),
        places_(kinds, first_places(places)),
        work_(sms, 0),
        loads_(sms, 0),
        end_ns_(sms, 0) {}

  void deal(std::uint32_t kind, const BlockLife& life, std::uint64_t blocks) {
    const std::uint64_t places = places_.count();
    while (blocks > 0) {
      // Does each place get one before any gets a second?
      if (blocks >= 2 * places && places_.spread_ns() <= life.ns) {
        skip(life, blocks / places);
        blocks %= places;
      }
      for (std::uint64_t n = std::min(blocks, places); n > 0; --n, --blocks) deal_one(kind, life);
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
  /// Which block of the first ones comes to place `p` of an SM. Of the places that the grid fills
  /// on every SM, the last `early` SMs have one every kEarlyTurn blocks; the others take turns with
  /// what is between.
  std::uint32_t turn_of(std::uint32_t p, std::uint32_t sm) const {
    if (p >= full_) return p * sms_ + (sm + early_) % sms_;
    const std::uint32_t others = sms_ - early_, between = kEarlyTurn - early_;
    if (sm >= others) return p * kEarlyTurn + sm - others;
    const std::uint32_t turn = p * others + sm;
    return turn + early_ * std::min(full_, turn / between + 1);
  }

  std::vector<Place> first_places(std::uint32_t places) const {
    std::vector<Place> all;
    for (std::uint32_t p = 0; p < places; ++p)
      for (std::uint32_t sm = 0; sm < sms_; ++sm) all.push_back({0, turn_of(p, sm), sm});
    std::sort(all.begin(), all.end());
    return all;
  }

  void deal_one(std::uint32_t kind, const BlockLife& life) {
    Place place = places_.take();
    place.free_ns += life.ns;
    end_ns_[place.sm] = std::max(end_ns_[place.sm], place.free_ns);
    add(place, life, 1);
    places_.put(kind, place);
  }

  void add(const Place& place, const BlockLife& life, double blocks) {
    work_[place.sm] += blocks * life.work;
    loads_[place.sm] += blocks * life.loads;
  }

  static double most_over_average(const std::vector<double>& of_sms) {
    const double total = std::accumulate(of_sms.begin(), of_sms.end(), 0.0);
    if (total <= 0) return 1;
    return *std::max_element(of_sms.begin(), of_sms.end()) * static_cast<double>(of_sms.size()) /
           total;
  }

  /// So many blocks for every place at once.
  void skip(const BlockLife& life, std::uint64_t rounds) {
    const double later = static_cast<double>(rounds) * life.ns;
    places_.each([&](Place& place) {
      place.free_ns += later;
      end_ns_[place.sm] = std::max(end_ns_[place.sm], place.free_ns);
      add(place, life, static_cast<double>(rounds));
    });
  }

  std::uint32_t sms_, early_;
  std::uint32_t full_;  ///< places of every SM that the grid fills
  FreePlaces places_;
  std::vector<double> work_, loads_, end_ns_;  ///< of each SM
};

}  // namespace

Schedule schedule(std::span<const counters::BlockRun> runs, std::span<const BlockLife> lives,
                  std::uint32_t sms, std::uint32_t places, std::uint32_t early) {
  std::uint64_t blocks = 0;
  for (const counters::BlockRun& run : runs) blocks += run.blocks;
  Dealer dealer(std::max(1u, sms), std::max(1u, places), early, blocks, lives.size());
  for (const counters::BlockRun& run : runs) dealer.deal(run.kind, lives[run.kind], run.blocks);
  return dealer.result();
}

Schedule spread_evenly(std::span<const counters::BlockRun> runs, std::span<const BlockLife> lives,
                       std::uint32_t sms, std::uint32_t places) {
  double ns = 0, blocks = 0;
  for (const counters::BlockRun& run : runs) {
    ns += static_cast<double>(run.blocks) * lives[run.kind].ns;
    blocks += static_cast<double>(run.blocks);
  }
  const double at_once = static_cast<double>(std::max(1u, sms)) * std::max(1u, places);
  Schedule even;
  if (blocks > 0) even.ns = ns / std::min(at_once, blocks);
  return even;
}

}  // namespace membound::vgpu::timing
