// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "grader/classroom/similarity/similarity.hpp"

namespace membound::similarity {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The hashes first, first + 1, …
Fingerprint hashes(std::uint64_t first, std::size_t count) {
  Fingerprint result(count);
  std::iota(result.begin(), result.end(), first);
  return result;
}

Fingerprint joined(Fingerprint a, const Fingerprint& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end());
  return a;
}

/// Ten submissions that have nothing in common.
std::vector<Fingerprint> strangers() {
  std::vector<Fingerprint> all;
  for (std::uint64_t i = 0; i < 10; ++i) all.push_back(hashes(1000 * (i + 1), 40));
  return all;
}

TEST(Clusters, StrangersMakeNone) { EXPECT_THAT(clusters_of(strangers(), {}), IsEmpty()); }

TEST(Clusters, ACopyIsFound) {
  auto all = strangers();
  all[7] = all[2];
  const auto clusters = clusters_of(all, {});
  ASSERT_EQ(clusters.size(), 1U);
  EXPECT_THAT(clusters[0].members, ElementsAre(2, 7));
  EXPECT_EQ(clusters[0].least_alike, 1);
}

TEST(Clusters, ACopyWithALittleOwnWorkIsFound) {
  auto all = strangers();
  all[7] = joined(all[2], hashes(50, 5));
  const auto clusters = clusters_of(all, {});
  ASSERT_EQ(clusters.size(), 1U);
  EXPECT_DOUBLE_EQ(clusters[0].least_alike, 40.0 / 45.0);
}

TEST(Clusters, WhatTheCourseHandsOutIsNoLikeness) {
  auto all = strangers();
  all[7] = all[2];
  EXPECT_THAT(clusters_of(all, std::vector<Fingerprint>{all[2]}), IsEmpty());
}

TEST(Clusters, WhatHalfOfTheClassWroteIsNoLikeness) {
  auto all = strangers();
  for (std::size_t i = 0; i < 5; ++i) all[i] = hashes(1, 40);
  EXPECT_THAT(clusters_of(all, {}), IsEmpty());
}

TEST(Clusters, TooLittleToTellIsLeftAlone) {
  auto all = strangers();
  all[2] = all[7] = hashes(1, 5);
  EXPECT_THAT(clusters_of(all, {}), IsEmpty());
}

TEST(Clusters, HangTogetherThroughPairs) {
  auto all = strangers();
  all[3] = joined(all[2], hashes(50, 8));
  all[4] = joined(all[3], hashes(70, 8));  // far from 2, near to 3
  const auto clusters = clusters_of(all, {});
  ASSERT_EQ(clusters.size(), 1U);
  EXPECT_THAT(clusters[0].members, ElementsAre(2, 3, 4));
}

TEST(Clusters, TheLargestComesFirst) {
  auto all = strangers();
  all[1] = all[0];
  all[3] = all[4] = all[2];
  const auto clusters = clusters_of(all, {});
  ASSERT_EQ(clusters.size(), 2U);
  EXPECT_THAT(clusters[0].members, ElementsAre(2, 3, 4));
  EXPECT_THAT(clusters[1].members, ElementsAre(0, 1));
}

}  // namespace
}  // namespace membound::similarity
