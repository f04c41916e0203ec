// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

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

/// A class whose members chose each of six stages' forms by themselves; `forms` right ones each.
std::vector<Fingerprint> class_of_forms(std::size_t students, std::uint64_t forms) {
  std::vector<Fingerprint> all;
  std::mt19937_64 random(20261127);
  for (std::size_t i = 0; i < students; ++i) {
    Fingerprint one;
    for (std::uint64_t stage = 0; stage < 6; ++stage)
      one = joined(one, hashes(10'000 * (stage + 1) + 100 * (random() % forms), 12));
    all.push_back(one);
  }
  return all;
}

TEST(Clusters, HonestFormsOfShortStagesMakeNone) {
  for (const std::uint64_t forms : {2U, 3U, 4U, 6U})
    EXPECT_LE(clusters_of(class_of_forms(100, forms), {}).size(), 2U) << forms << " forms";
}

TEST(Clusters, ACopyOfOwnWorkIsFoundAmongHonestForms) {
  auto all = class_of_forms(100, 4);
  all[17] = all[61] = joined(all[17], hashes(7, 20));
  const auto clusters = clusters_of(all, {});
  ASSERT_EQ(clusters.size(), 1U);
  EXPECT_THAT(clusters[0].members, ElementsAre(17, 61));
}

TEST(Retellings, AreNamedWhereFewRetell) {
  auto all = strangers();
  const Fingerprint answer = hashes(1, 40);
  all[3] = answer;
  all[8] = joined(hashes(1, 36), hashes(500, 5));
  const auto found = retellings_of(all, answer);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].member, 3U);
  EXPECT_EQ(found[0].share, 1);
  EXPECT_EQ(found[1].member, 8U);
  EXPECT_DOUBLE_EQ(found[1].share, 0.9);
}

TEST(Retellings, AFormThatTheTaskForcesIsNone) {
  const Fingerprint answer = hashes(1, 40);
  auto all = class_of_forms(20, 3);
  for (Fingerprint& one : all) one = joined(answer, one);
  EXPECT_THAT(retellings_of(all, answer), IsEmpty()) << "everybody has it";
  auto few = strangers();
  few[3] = hashes(1, 20);
  EXPECT_THAT(retellings_of(few, hashes(1, 20)), IsEmpty()) << "too short to tell";
}

TEST(Retellings, WhatTheSkeletonGaveIsNotCounted) {
  auto all = strangers();
  const Fingerprint skeleton = hashes(1, 40), answer = joined(skeleton, hashes(600, 30));
  all[3] = joined(skeleton, all[3]);
  EXPECT_THAT(retellings_of(all, answer, std::vector<Fingerprint>{skeleton}), IsEmpty());
  all[3] = answer;
  EXPECT_EQ(retellings_of(all, answer, std::vector<Fingerprint>{skeleton}).size(), 1U);
}

TEST(EarlierTerms, ATextOfThemIsFoundByItsDigestsAlone) {
  auto earlier = strangers();
  auto now = class_of_forms(20, 4);
  now[5] = joined(earlier[7], hashes(50, 4));
  const Digests kept = {{"03-transpose", earlier}};
  const auto read = digests_from_text(to_text(kept), "digests.json");
  ASSERT_TRUE(read) << base::to_string(read.error());
  const auto matches = matches_of(now, read->at("03-transpose"), {});
  ASSERT_EQ(matches.size(), 1U);
  EXPECT_EQ(matches[0].member, 5U);
  EXPECT_DOUBLE_EQ(matches[0].alike, 40.0 / 44);
  EXPECT_FALSE(digests_from_text("{}", "digests.json"));
}

TEST(EarlierTerms, FormsThatBothClassesHaveAreNoMatch) {
  EXPECT_THAT(matches_of(class_of_forms(60, 3), class_of_forms(40, 3), {}), IsEmpty());
}

}  // namespace
}  // namespace membound::similarity
