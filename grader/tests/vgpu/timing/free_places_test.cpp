// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/free_places.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace membound::vgpu::timing {
namespace {

/// Lives of whole nanoseconds: many places are free at the same time, and order decides.
TEST(FreePlaces, GivesTheOneThatIsFreeFirst) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const std::size_t kinds = 1 + random() % 6;
    std::vector<double> lives;
    for (std::size_t i = 0; i < kinds; ++i) lives.push_back(random() % 4);
    std::vector<Place> first;
    for (std::uint32_t i = 0; i < 1 + random() % 40; ++i) first.push_back({0, i, i});
    FreePlaces places(kinds, first);
    std::set<Place> all(first.begin(), first.end());
    for (int turn = 0; turn < 2000; ++turn) {
      Place place = places.take();
      ASSERT_EQ(place.order, all.begin()->order) << "seed " << seed << ", turn " << turn;
      all.erase(all.begin());
      const std::size_t kind = random() % kinds;
      place.free_ns += lives[kind];
      places.put(kind, place);
      all.insert(place);
      ASSERT_DOUBLE_EQ(places.spread_ns(), all.rbegin()->free_ns - all.begin()->free_ns);
    }
  }
}

TEST(FreePlaces, KeepsTheirOrderWhereRoundingMakesThemEqual) {
  FreePlaces places(1, {{1.0, 2, 0}, {std::nextafter(1.0, 2.0), 1, 0}});
  places.each([](Place& place) { place.free_ns += 1e18; });
  EXPECT_EQ(places.take().order, 1u);
}

}  // namespace
}  // namespace membound::vgpu::timing
