// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Late days by the calendar of a time zone, and what they cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <random>

#include "grader/classroom/intake/course_rules.hpp"

namespace membound::intake {
namespace {

using testing::HasSubstr;

CourseRules course_of(const std::string& text) {
  std::vector<course::Lab> labs(2);
  labs[0].id = "01-reverse-array";
  labs[1].id = "03-transpose";
  auto rules = read_course_rules(text, "course.yml", labs);
  EXPECT_TRUE(rules) << (rules ? "" : base::to_string(rules.error()));
  return rules ? *rules : CourseRules();
}

std::string refused(const std::string& text) {
  std::vector<course::Lab> labs(1);
  labs[0].id = "01-reverse-array";
  const auto rules = read_course_rules(text, "course.yml", labs);
  return rules ? "" : base::to_string(rules.error());
}

struct LateCase {
  const char* what;
  std::string zone, due, late;  ///< `late`: more of the lab's rules
  std::string handed_in;
  std::int64_t days;
  double factor;
};

TEST(LateDays, AreThoseOfTheCoursesCalendar) {
  const std::string berlin = "Europe/Berlin";
  const std::vector<LateCase> cases = {
      {"23.5 hours of the wall, 24.5 of the clock: summer time ended", berlin, "2026-10-24T20:00",
       "", "2026-10-25T18:30:00Z", 1, 0.9},
      {"24.5 hours of the wall", berlin, "2026-10-24T20:00", "", "2026-10-25T19:30:00Z", 2, 0.8},
      {"in time by a second", berlin, "2026-10-24T20:00", "", "2026-10-24T17:59:59Z", 0, 1},
      {"to the second", berlin, "2026-10-24T20:00", "", "2026-10-24T18:00:00Z", 0, 1},
      {"a second late", berlin, "2026-10-24T20:00", "", "2026-10-24T18:00:01Z", 1, 0.9},
      {"a day of 23 hours", berlin, "2027-03-27T20:00", "", "2027-03-28T18:00:00Z", 1, 0.9},
      {"and a second", berlin, "2027-03-27T20:00", "", "2027-03-28T18:00:01Z", 2, 0.8},
      {"a week over the end of summer time", berlin, "2026-10-20T12:00", "", "2026-10-27T11:00:00Z",
       7, 0.3},
      {"a date alone is the end of that day", berlin, "2026-10-24", "", "2026-10-24T22:00:00Z", 1,
       0.9},
      {"a date with 25 hours ends with it", berlin, "2026-10-25", "", "2026-10-25T22:59:59Z", 0, 1},
      {"the day that the clock never shows 00:00", "Asia/Beirut", "2026-03-28", "",
       "2026-03-28T21:59:59Z", 0, 1},
      {"grace comes first", berlin, "2026-10-24T20:00", "grace_minutes: 15", "2026-10-24T18:15:00Z",
       0, 1},
      {"and a minute", berlin, "2026-10-24T20:00", "grace_minutes: 15", "2026-10-24T18:16:00Z", 1,
       0.9},
      {"a cap", berlin, "2026-11-01", "most_percent: 25", "2026-11-20T12:00Z", 19, 0.75},
      {"a cap that is not reached", berlin, "2026-11-01", "most_percent: 25", "2026-11-03T12:00Z",
       2, 0.8},
      {"the last date", berlin, "2026-11-01", "last_date: 2026-11-08", "2026-11-08T22:59:59Z", 7,
       0.3},
      {"after it", berlin, "2026-11-01", "last_date: 2026-11-08", "2026-11-08T23:00:00Z", 8, 0},
      {"half an hour of summer time", "Australia/Lord_Howe", "2026-04-04T12:00", "",
       "2026-04-05T01:30:00Z", 1, 0.9},
      {"an offset goes before the zone", berlin, "2026-11-01T12:00-08:00", "", "2026-11-01T20:00Z",
       0, 1},
  };
  for (const LateCase& one : cases) {
    const CourseRules rules =
        course_of("zone: " + one.zone + "\nlate: {percent_per_day: 10}\nlabs:\n  reverse: {due: '" +
                  one.due + "'" + (one.late.empty() ? "" : ", " + one.late) + "}\n");
    const auto time = parse_time(one.handed_in);
    ASSERT_TRUE(time) << one.what;
    const Lateness late = lateness(rules.policy("01-reverse-array", {{"s"}}), *time);
    EXPECT_EQ(late.days, one.days) << one.what;
    EXPECT_DOUBLE_EQ(late.factor, one.factor) << one.what;
  }
}

TEST(LateDays, ADueTimeThatTheZoneSkipsOrDoublesIsRefusedWithBothReadings) {
  const std::string twice =
      refused("zone: Europe/Berlin\nlabs: {reverse: {due: 2026-10-25T02:30}}\n");
  EXPECT_THAT(twice, HasSubstr("course.yml:2"));
  EXPECT_THAT(twice, HasSubstr("shown twice by the clock of Europe/Berlin"));
  EXPECT_THAT(twice, HasSubstr("2026-10-25T02:30+02:00 (2026-10-25T00:30:00Z) or "
                               "2026-10-25T02:30+01:00 (2026-10-25T01:30:00Z)"));
  const std::string skipped =
      refused("zone: Europe/Berlin\nlabs: {reverse: {due: 2027-03-28T02:30}}\n");
  EXPECT_THAT(skipped, HasSubstr("passed over by the clock of Europe/Berlin"));
  EXPECT_THAT(skipped, HasSubstr("2027-03-28T02:30+02:00 (2027-03-28T00:30:00Z) or "
                                 "2027-03-28T02:30+01:00 (2027-03-28T01:30:00Z)"));
  for (const char* one : {"2026-10-25T02:30+01:00", "2026-10-25T02:30+02:00", "2026-10-25T03:00",
                          "2026-10-25", "2026-10-25T01:59"})
    EXPECT_EQ(refused("zone: Europe/Berlin\nlabs: {reverse: {due: '" + std::string(one) + "'}}\n"),
              "")
        << one;
  EXPECT_THAT(refused("zone: Europe/Berlin\nextensions: [{student: s, due: 2026-10-25T02:30}]\n"),
              HasSubstr("shown twice"));
  const auto table = read_extensions("student,lab,due\ns,all,2026-10-25T02:30\n", "e.csv", {},
                                     Zone{"Europe/Berlin"});
  ASSERT_FALSE(table);
  EXPECT_THAT(base::to_string(table.error()), HasSubstr("e.csv, row 2"));
}

TEST(LateDays, AZoneThatIsNoneIsRefusedWithTheOneThatIsMeant) {
  EXPECT_THAT(refused("zone: Europe/Berlni\n"), HasSubstr("is Europe/Berlin meant?"));
  EXPECT_THAT(refused("zone: [1]\n"), HasSubstr("course.yml:1"));
}

TEST(LateDays, TheZoneHoldsForTimesAboveItToo) {
  EXPECT_EQ(course_of("labs: {reverse: {due: 2026-11-01T12:00}}\nzone: America/New_York\n")
                .policy("01-reverse-array", {})
                .due,
            parse_time("2026-11-01T17:00Z"));
}

TEST(LateDays, ExtensionsAreAStudentsAGroupsOrASections) {
  const CourseRules rules = course_of(
      "labs: {reverse: {due: 2026-11-01T12:00Z, last_date: 2026-11-05T12:00Z}}\nextensions:\n"
      "  - {student: s1, due: 2026-11-02T12:00Z}\n"
      "  - {group: Red, due: 2026-11-03T12:00Z}\n"
      "  - {section: Monday, lab: reverse, due: 2026-11-08T12:00Z}\n");
  const auto due = [&](const Whom& whom) {
    return utc_text(*rules.policy("01-reverse-array", whom).due).substr(0, 10);
  };
  EXPECT_EQ(due({{"s2"}, "", ""}), "2026-11-01");
  EXPECT_EQ(due({{"s1"}, "", ""}), "2026-11-02");
  EXPECT_EQ(due({{"s1"}, "", "red"}), "2026-11-03") << "the most generous counts";
  EXPECT_EQ(due({{"s2"}, "monday", "red"}), "2026-11-08");
  EXPECT_EQ(due({{"Red"}, "", ""}), "2026-11-01") << "a student of that name is no group";
  EXPECT_EQ(rules.policy("01-reverse-array", {{"s2"}, "Monday", ""}).last,
            parse_time("2026-11-08T12:00Z"))
      << "whoever has more time may use it";
  EXPECT_THAT(refused("extensions: [{student: s, group: g, due: 2026-11-01}]"),
              HasSubstr("an extension for several at once"));
}

TEST(LateDays, ALastDateBeforeTheDueDateIsRefused) {
  EXPECT_THAT(refused("labs: {reverse: {due: 2026-11-05, last_date: 2026-11-01}}"),
              HasSubstr("the last date is before the due date"));
}

/// Late days by another way than the grader's: a walk minute by minute over what the C library's
/// clock of the zone shows.
std::int64_t days_by_walking(std::int64_t start, std::int64_t time) {
  const auto wall = [](std::int64_t moment) {
    const std::time_t now = moment;
    std::tm parts{};
    localtime_r(&now, &parts);
    return static_cast<std::int64_t>(timegm(&parts));
  };
  constexpr std::int64_t kStep = 60, kWallDay = 24 * 60 * kStep;
  if (time <= start) return 0;
  for (std::int64_t days = 1;; ++days) {
    const std::int64_t wanted = wall(start) + days * kWallDay;
    std::int64_t end = 0, before = 0;
    // The last minute that shows it; of a time that is passed over, as long after the jump as it
    // lies after the last time shown.
    for (std::int64_t at = start + (days - 1) * kWallDay; at < start + (days + 1) * kWallDay;
         at += kStep) {
      if (wall(at) == wanted) end = at;
      if (wall(at) < wanted && wall(at + kStep) > wanted) before = at;
    }
    if (end == 0) end = before + (wanted - wall(before));
    if (end >= time) return days;
  }
}

TEST(LateDays, AreThoseOfAWalkOverTheClock) {
  const char* const old = std::getenv("TZ");
  const std::string before = old == nullptr ? "" : old;
  std::mt19937_64 random(20261127);
  for (const char* zone : {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                           "Asia/Kolkata", "America/Santiago", "UTC"}) {
    setenv("TZ", zone, 1);
    tzset();
    for (int round = 0; round < 40; ++round) {
      // Within four days of a change of the clock in 2026 or 2027 as often as elsewhere.
      const std::int64_t base = round % 2 == 0 ? 1792900000 : 1767225600 + 86400 * (random() % 700);
      const auto start = static_cast<std::int64_t>((base + random() % 345600) / 60 * 60);
      const auto time = start + static_cast<std::int64_t>(random() % (5 * 86400)) / 60 * 60;
      const std::int64_t expected = days_by_walking(start, time);
      EXPECT_EQ(days_begun(start, time, Zone{zone}), expected)
          << zone << " " << utc_text(start) << " " << utc_text(time);
      EXPECT_EQ(days_begun(start, time, Zone{}), expected)
          << "by this machine's clock " << zone << " " << utc_text(start) << " " << utc_text(time);
    }
  }
  if (old == nullptr)
    unsetenv("TZ");
  else
    setenv("TZ", before.c_str(), 1);
  tzset();
}

}  // namespace
}  // namespace membound::intake
