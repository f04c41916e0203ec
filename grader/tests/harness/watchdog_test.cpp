// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/watchdog.hpp"

#include <gtest/gtest.h>

#include <future>

namespace membound::harness {
namespace {

using namespace std::chrono_literals;

constexpr auto kLongEnough = 30s;  // a bound for a machine under load, never waited for normally

TEST(Watchdog, ReportsWhatTakesTooLong) {
  std::promise<std::string> reported;
  Watchdog watchdog([&](const std::string& what, double) { reported.set_value(what); });
  const auto watch = watchdog.watch(0.01, "a launch of reverse_direct");
  auto what = reported.get_future();
  ASSERT_EQ(what.wait_for(kLongEnough), std::future_status::ready);
  EXPECT_EQ(what.get(), "a launch of reverse_direct");
}

TEST(Watchdog, StaysQuietWhenTheWatchEndsInTime) {
  int reports = 0;
  {
    Watchdog watchdog([&](const std::string&, double) { ++reports; });
    for (int i = 0; i < 1000; ++i) const auto watch = watchdog.watch(600, "short");
  }
  EXPECT_EQ(reports, 0);
}

/// What is reported where a watch of `second_seconds` begins when one of `first_seconds` has ended
/// in time.
std::string reported_after(double first_seconds, double second_seconds) {
  std::promise<std::string> reported;
  Watchdog watchdog([&](const std::string& what, double) { reported.set_value(what); });
  { const auto watch = watchdog.watch(first_seconds, "first"); }
  const auto watch = watchdog.watch(second_seconds, "second");
  auto what = reported.get_future();
  return what.wait_for(kLongEnough) == std::future_status::ready ? what.get() : "nothing";
}

TEST(Watchdog, AnEarlierWatchDoesNotCutALaterOneShort) {
  EXPECT_EQ(reported_after(600, 0.01), "second");
}

TEST(Watchdog, AnEarlierWatchHidesNoLaterEnd) { EXPECT_EQ(reported_after(0.05, 0.1), "second"); }

TEST(Watchdog, EndsWithoutEverHavingWatched) {
  Watchdog watchdog([](const std::string&, double) {});
}

}  // namespace
}  // namespace membound::harness
