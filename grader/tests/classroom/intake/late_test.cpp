// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/course_rules.hpp"

#include <gtest/gtest.h>

#include <random>

namespace membound::intake {
namespace {

constexpr std::int64_t kHour = 3600, kDay = 24 * kHour;

TEST(ParseTime, ReadsTimesWithAnOffset) {
  EXPECT_EQ(parse_time("2026-11-21T06:18:13Z"), 1795241893);
  EXPECT_EQ(parse_time("2026-11-21T07:18:13+01:00"), 1795241893);
  EXPECT_EQ(parse_time("2026-11-20 22:18:13.250 -0800"), 1795241893);
  EXPECT_EQ(parse_time("2026-11-21 06:18:13 UTC"), 1795241893);
}

TEST(ParseTime, ADateAloneIsTheEndOfThatDay) {
  const auto day = parse_time("2026-11-21"), minute = parse_time("2026-11-21T23:59");
  ASSERT_TRUE(day && minute);
  EXPECT_EQ(*day - *minute, 59);
}

TEST(ParseTime, OtherTextsAreNoTimes) {
  for (const char* text : {"", "tomorrow", "2026-13-01", "2026-02-30", "2026-11-21T25:00",
                           "2026-11-21T06:18:13Zulu", "21.11.2026", "2026-11-21T06"})
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
}

TEST(ParseTime, ItsOwnTextReadsBack) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 1000; ++round) {
    const auto time = static_cast<std::int64_t>(1 + random() % 250'000'000'000ULL);
    EXPECT_EQ(parse_time(utc_text(time)), time);
  }
}

TEST(Lateness, InTimeCostsNothing) {
  const LatePolicy policy{1000 * kDay, 0, 10};
  EXPECT_EQ(lateness(policy, 1000 * kDay).factor, 1);
  EXPECT_EQ(lateness(policy, 1000 * kDay).by_seconds, 0);
}

TEST(Lateness, EachDayBegunCosts) {
  const LatePolicy policy{1000 * kDay, 0, 10};
  EXPECT_DOUBLE_EQ(lateness(policy, 1000 * kDay + 1).factor, 0.9);
  EXPECT_DOUBLE_EQ(lateness(policy, 1001 * kDay).factor, 0.9);
  EXPECT_DOUBLE_EQ(lateness(policy, 1001 * kDay + 1).factor, 0.8);
}

TEST(Lateness, GraceComesFirst) {
  const LatePolicy policy{1000 * kDay, kHour, 10};
  EXPECT_EQ(lateness(policy, 1000 * kDay + kHour).factor, 1);
  EXPECT_EQ(lateness(policy, 1000 * kDay + kHour + 5).by_seconds, 5);
}

TEST(Lateness, NobodyLosesMoreThanAll) {
  EXPECT_EQ(lateness({1000 * kDay, 0, 50}, 2000 * kDay).factor, 0);
}

TEST(Lateness, AnUnknownTimeIsNotLate) { EXPECT_EQ(lateness({kDay, 0, 10}, 0).factor, 1); }

}  // namespace
}  // namespace membound::intake
