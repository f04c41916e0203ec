// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/calibration/calibration.hpp"

#include <gmock/gmock.h>

#include "grader/base/files.hpp"

namespace membound::vgpu::calibration {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Readings readings_of(const std::string& text) {
  auto readings = read_readings(text, "readings.csv");
  EXPECT_TRUE(readings) << base::to_string(readings.error());
  return std::move(readings).value();
}

Calibration calibrated(const std::string& text, const std::string& like = "k80") {
  auto made = calibrate(*timing::find_machine_file(like, {}), "mine", readings_of(text));
  EXPECT_TRUE(made) << base::to_string(made.error());
  return std::move(made).value();
}

timing::Machine machine_in(const Calibration& made) {
  return std::move(timing::read_machine(made.json, "mine.json")).value();
}

TEST(Calibration, TakesOverWhatTheDeviceReports) {
  const Calibration made =
      calibrated("# NVIDIA X9, CUDA driver 13.0\ndevice,sm_count,77\ndevice,clock_ghz,1.5\n");
  const timing::Machine machine = machine_in(made);
  EXPECT_EQ(machine.id, "mine");
  EXPECT_EQ(machine.name, "NVIDIA X9");
  EXPECT_EQ(machine.sm_count, 77u);
  EXPECT_DOUBLE_EQ(machine.clock_ghz, 1.5);
  EXPECT_EQ(made.numbers.size(), 2u);
}

TEST(Calibration, ALinkOfAChainIsItsTimeLessAnEmptyLaunch) {
  // 2 clocks a GHz: 1,024 links of 4 ns are 4.096 µs; 64 × 512 of half a clock are 8.192.
  const std::string readings =
      "# X, now\ndevice,sm_count,10\ndevice,clock_ghz,2\ndispatch,empty 1 256,2\n"
      "dispatch,empty 10 1024,3\nlatency,shfl,7.096\nthroughput,shfl,11.192\n";
  const Calibration made = calibrated(readings);
  const auto costs = timing::read_cost_sources(made.json);
  const auto shuffle = std::find_if(costs.begin(), costs.end(),
                                    [](const auto& cost) { return cost.name == "shuffle"; });
  ASSERT_NE(shuffle, costs.end());
  EXPECT_DOUBLE_EQ(shuffle->latency_clocks, 8);
  EXPECT_DOUBLE_EQ(shuffle->slots, 2);
  EXPECT_EQ(shuffle->source, "[measured] X, now: shfl");
}

TEST(Calibration, WhatIsNotMeasuredStaysTheBasesAndIsNotCalledMeasured) {
  const Calibration made = calibrated("# X, now\ndevice,sm_count,10\n", "h200");
  EXPECT_EQ(machine_in(made).shared_atomic_lane_clocks, 11.8);
  for (const auto& number : timing::read_sources(made.json))
    if (number.field == "sm_count")
      EXPECT_THAT(number.source, StartsWith("[measured] X, now"));
    else
      EXPECT_THAT(number.source, testing::Not(StartsWith("[measured]"))) << number.field;
  EXPECT_THAT(made.json, HasSubstr("[recalled] of h200: reduction stage 2"));
}

/// The H200's instruction costs were made from these readings by another script.
TEST(Calibration, GivesTheH200TheInstructionCostsOfItsFile) {
  const auto text = base::read_file(MEMBOUND_TEST_DATA "/clock_instructions_h200.csv");
  ASSERT_TRUE(text);
  const auto built_in = *timing::find_machine_file("h200", {});
  const auto made = calibrate(built_in, "mine", readings_of(*text));
  ASSERT_TRUE(made) << base::to_string(made.error());
  const auto expected = timing::read_cost_sources(built_in.json);
  const auto costs = timing::read_cost_sources(made->json);
  ASSERT_EQ(costs.size(), expected.size());
  for (std::size_t i = 0; i < costs.size(); ++i) {
    EXPECT_EQ(costs[i].name, expected[i].name);
    // Both have three digits, of readings less other launches' times: 1 % beside each other.
    EXPECT_NEAR(costs[i].slots, expected[i].slots, 0.01 * expected[i].slots) << costs[i].name;
    EXPECT_NEAR(costs[i].latency_clocks, expected[i].latency_clocks,
                0.01 * expected[i].latency_clocks)
        << costs[i].name;
  }
}

TEST(Readings, ABrokenLineIsNamedWithItsNumber) {
  const auto broken = read_readings("# X, now\nlatency,shfl,7.0\nlatency,shfl\n", "r.csv");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().where, "r.csv:3");
  EXPECT_FALSE(read_readings("# X, now\nlatency,shfl,fast\n", "r.csv"));
}

TEST(Readings, WithoutAGpusNameAreRefused) {
  EXPECT_FALSE(read_readings("latency,shfl,7.0\n", "r.csv"));
  EXPECT_FALSE(read_readings("", "r.csv"));
}

}  // namespace
}  // namespace membound::vgpu::calibration
