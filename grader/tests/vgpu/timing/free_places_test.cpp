// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/block_scheduler.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace membound::vgpu::timing {
namespace {

/// Lives of whole nanoseconds: many slots are free at the same time, and order decides.
TEST(FreeSlots, GivesTheOneThatIsFreeFirst) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const std::size_t kinds = 1 + random() % 6;
    std::vector<double> residencies;
    for (std::size_t i = 0; i < kinds; ++i) residencies.push_back(random() % 4);
    std::vector<Slot> first;
    for (std::uint32_t i = 0; i < 1 + random() % 40; ++i) first.push_back({0, i, i});
    FreeSlots slots(kinds, first);
    std::set<Slot> all(first.begin(), first.end());
    for (int turn = 0; turn < 2000; ++turn) {
      Slot slot = slots.take();
      ASSERT_EQ(slot.order, all.begin()->order) << "seed " << seed << ", turn " << turn;
      all.erase(all.begin());
      const std::size_t kind = random() % kinds;
      slot.free_ns += residencies[kind];
      slots.put(kind, slot);
      all.insert(slot);
      ASSERT_DOUBLE_EQ(slots.spread_ns(), all.rbegin()->free_ns - all.begin()->free_ns);
    }
  }
}

TEST(FreeSlots, KeepsTheirOrderWhereRoundingMakesThemEqual) {
  FreeSlots slots(1, {{1.0, 2, 0}, {std::nextafter(1.0, 2.0), 1, 0}});
  slots.each([](Slot& slot) { slot.free_ns += 1e18; });
  EXPECT_EQ(slots.take().order, 1u);
}

}  // namespace
}  // namespace membound::vgpu::timing
