// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What Gradescope takes as results.json, written anew from its specification.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace membound::exchange {

/// Known keys only, texts in a known format, and either a score or, for a failure that a person
/// looks at, neither a score nor tests.
inline void expect_gradescope_accepts(const nlohmann::json& results, bool scored = true) {
  static const std::set<std::string> kTop = {
      "score",           "execution_time", "output",     "output_format", "test_output_format",
      "visibility",      "tests",          "extra_data", "leaderboard",   "stdout_visibility",
      "test_name_format"};
  static const std::set<std::string> kOfTest = {
      "score",  "max_score",   "status", "name",       "number",    "output_format",
      "output", "name_format", "tags",   "visibility", "extra_data"};
  static const std::set<std::string> kFormats = {"text", "html", "simple_format", "md", "ansi"};
  static const std::set<std::string> kVisibilities = {"hidden", "after_due_date", "after_published",
                                                      "visible"};
  ASSERT_TRUE(results.is_object());
  for (const auto& [key, value] : results.items()) EXPECT_TRUE(kTop.contains(key)) << key;
  EXPECT_TRUE(kFormats.contains(results.at("output_format")));
  EXPECT_TRUE(kVisibilities.contains(results.at("visibility")));
  EXPECT_EQ(results.contains("score"), scored);
  if (!scored) {
    EXPECT_FALSE(results.contains("tests"));
    return;
  }
  EXPECT_TRUE(results.at("score").is_number());
  for (const nlohmann::json& test : results.at("tests")) {
    for (const auto& [key, value] : test.items()) EXPECT_TRUE(kOfTest.contains(key)) << key;
    const std::string status = test.at("status");
    EXPECT_TRUE(status == "passed" || status == "failed") << status;
    EXPECT_LE(test.at("score").get<double>(), test.at("max_score").get<double>());
    EXPECT_TRUE(kVisibilities.contains(test.value("visibility", "visible")));
  }
}

}  // namespace membound::exchange
