// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The file of what the reference takes.
#include "grader/harness/measure/bench.hpp"

#include <gtest/gtest.h>

namespace membound::harness {
namespace {

ReferenceTimes some_times() {
  ReferenceTimes times;
  times.lab = "03-transpose";
  times.device = "NVIDIA H200, 33 of 132 multiprocessors (virtual)";
  times.add(1, "float 4 x 4", false, {12.25, 1e12, {{"kernels", nlohmann::json::array()}}});
  times.add(2, "float 4 x 4", false, {1.0 / 3.0, 1e12, nullptr});
  times.add(2, "float 4 x 4", true, {0.25, 1e12, nullptr});
  return times;
}

TEST(ReferenceTimes, ComeBackToTheLastDigit) {
  const auto read = ReferenceTimes::from_text(some_times().to_text(), "times.json");
  ASSERT_TRUE(read) << base::to_string(read.error());
  EXPECT_EQ(read->lab, "03-transpose");
  ASSERT_NE(read->find(2, "float 4 x 4", false), nullptr);
  EXPECT_EQ(read->find(2, "float 4 x 4", false)->time_ns, 1.0 / 3.0);
  EXPECT_EQ(read->find(2, "float 4 x 4", true)->time_ns, 0.25);
  EXPECT_TRUE(read->find(1, "float 4 x 4", false)->counters.contains("kernels"));
  EXPECT_EQ(read->to_text(), some_times().to_text());
}

TEST(ReferenceTimes, AreFoundByStageLabelAndWhetherTheyAreSampled) {
  EXPECT_EQ(some_times().find(3, "float 4 x 4", false), nullptr);
  EXPECT_EQ(some_times().find(1, "double 4 x 4", false), nullptr);
  EXPECT_EQ(some_times().find(1, "float 4 x 4", true), nullptr);
}

TEST(ReferenceTimes, OfALaunchThatCannotBeSampledAreNone) {
  ReferenceTimes times = some_times();
  times.add(1, "float 4 x 4", true, {0, 0, nullptr});
  const auto read = ReferenceTimes::from_text(times.to_text(), "times.json");
  ASSERT_TRUE(read) << base::to_string(read.error());
  EXPECT_EQ(read->find(1, "float 4 x 4", true)->time_ns, 0);
}

TEST(ReferenceTimes, ThatAreNoTimesAreRefused) {
  ReferenceTimes times = some_times();
  times.add(1, "float 4 x 4", false, {0, 1e12, nullptr});
  EXPECT_FALSE(ReferenceTimes::from_text(times.to_text(), "times.json"));
  times.add(1, "float 4 x 4", false, {-1, 1e12, nullptr});
  EXPECT_FALSE(ReferenceTimes::from_text(times.to_text(), "times.json"));
  for (const char* text : {"", "[]", "{}", "{\"schema\": \"membound-reference-times/2\"}"})
    EXPECT_FALSE(ReferenceTimes::from_text(text, "times.json")) << text;
}

}  // namespace
}  // namespace membound::harness
