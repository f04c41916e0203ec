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

TEST(Watchdog, AnEarlierWatchDoesNotCutALaterOneShort) {
  std::promise<std::string> reported;
  Watchdog watchdog([&](const std::string& what, double) { reported.set_value(what); });
  { const auto watch = watchdog.watch(600, "first"); }
  const auto watch = watchdog.watch(0.01, "second");
  auto what = reported.get_future();
  ASSERT_EQ(what.wait_for(kLongEnough), std::future_status::ready);
  EXPECT_EQ(what.get(), "second");
}

TEST(Watchdog, AnEarlierWatchHidesNoLaterEnd) {
  std::promise<std::string> reported;
  Watchdog watchdog([&](const std::string& what, double) { reported.set_value(what); });
  { const auto watch = watchdog.watch(0.05, "first"); }
  const auto watch = watchdog.watch(0.1, "second");
  auto what = reported.get_future();
  ASSERT_EQ(what.wait_for(kLongEnough), std::future_status::ready);
  EXPECT_EQ(what.get(), "second");
}

TEST(Watchdog, EndsWithoutEverHavingWatched) {
  Watchdog watchdog([](const std::string&, double) {});
}

}  // namespace
}  // namespace membound::harness
