// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/gradebook/page_parts.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace membound::gradebook {
namespace {

int total(const nlohmann::json& chart) {
  int sum = 0;
  for (const auto& bar : chart.at("bars")) sum += std::stoi(bar.at("count").get<std::string>());
  return sum;
}

TEST(Histogram, PutsABorderIntoTheUpperBin) {
  const auto chart = histogram("", std::vector<double>{0.0, 0.5, 1.0}, {0, 1, 2, 1});
  EXPECT_EQ(chart["bars"][0]["count"], "1");
  EXPECT_EQ(chart["bars"][1]["count"], "2");
  EXPECT_EQ(chart["bars"][0]["range"], "0.0 to 0.5");
}

TEST(Histogram, LosesNoValue) {
  std::mt19937 random(5);
  std::vector<double> values(500);
  for (double& value : values) value = std::normal_distribution<double>(0.5, 2)(random);
  EXPECT_EQ(total(histogram("", values, {0, 1, 10, 1})), 500);
}

TEST(Histogram, TheTallestBarFillsThePicture) {
  const auto chart = histogram("", std::vector<double>{0.1, 0.1, 0.9}, {0, 1, 2, 1});
  EXPECT_EQ(chart["bars"][0]["height"], "100.0");
  EXPECT_EQ(chart["bars"][1]["height"], "50.0");
}

TEST(Histogram, OfALabWithoutPointsStands) {
  EXPECT_EQ(total(histogram("", std::vector<double>{0, 0}, {0, 0, 10, 0})), 2);
}

}  // namespace
}  // namespace membound::gradebook
