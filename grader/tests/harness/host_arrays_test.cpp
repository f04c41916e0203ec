// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arrays of a timed case on the host: drawing and comparing them without a device.
#include "grader/harness/cases/timed_case.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace membound::harness {
namespace {

TimedBuffer floats(std::size_t count) { return {.type = ElementType::kFloat, .count = count}; }

TEST(HostArrays, ValuesSurviveTheWayThroughBytes) {
  const std::vector<double> values = {1.5, -0.0, 1e300};
  EXPECT_EQ(values_of<double>(bytes_of(values)), values);
  EXPECT_TRUE(bytes_of(std::vector<int>{}).empty());
}

TEST(HostArrays, OneSeedDrawsOneArray) {
  EXPECT_EQ(drawn(floats(100), 7), drawn(floats(100), 7));
  EXPECT_NE(drawn(floats(100), 7), drawn(floats(100), 8));
  EXPECT_EQ(drawn(floats(100), 7).size(), 400u);
}

TEST(HostArrays, WholeNumbersStayInTheirRange) {
  const TimedBuffer buffer{
      .type = ElementType::kInt32, .count = 1000, .integers = IntegerRange{-3, 5}};
  for (const int value : values_of<int>(drawn(buffer, 1))) {
    EXPECT_GE(value, -3);
    EXPECT_LE(value, 5);
  }
}

TEST(HostArrays, ADifferenceTellsHowManyAndTheFirst) {
  const HostArray expected = bytes_of(std::vector<float>{1, 2, 3, 4});
  const HostArray got = bytes_of(std::vector<float>{1, 9, 3, 9});
  const Difference found = difference_of(floats(4), got, expected, {});
  EXPECT_EQ(found.wrong, 2u);
  EXPECT_EQ(found.first, 1u);
}

TEST(HostArrays, AToleranceIsOne) {
  const HostArray expected = bytes_of(std::vector<float>{100});
  const HostArray got = bytes_of(std::vector<float>{100.5F});
  EXPECT_EQ(difference_of(floats(1), got, expected, {.absolute = 1}).wrong, 0u);
  EXPECT_EQ(difference_of(floats(1), got, expected, {.absolute = 0.1}).wrong, 1u);
}

TEST(HostArrays, NotANumberIsNoAnswer) {
  const HostArray expected = bytes_of(std::vector<float>{1});
  const HostArray got = bytes_of(std::vector<float>{std::numeric_limits<float>::quiet_NaN()});
  EXPECT_EQ(difference_of(floats(1), got, expected, {.absolute = 1e30}).wrong, 1u);
}

}  // namespace
}  // namespace membound::harness
