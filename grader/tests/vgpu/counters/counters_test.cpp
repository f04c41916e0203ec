// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/counters/counters.hpp"

#include <gtest/gtest.h>

#include <set>

namespace membound::vgpu::counters {
namespace {

TEST(Counters, EveryRowSaysHowSureItIs) {
  std::set<std::string_view> names;
  for (const CounterInfo& row : all_counters()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.certainty == "exact" || row.certainty == "ptx" || row.certainty == "modelled")
        << row.name;
    EXPECT_FALSE(row.meaning.empty()) << row.name;
  }
}

TEST(Counters, SumsAddEveryRow) {
  Counters a, b;
  for (const CounterInfo& row : all_counters()) b.*row.member = 2;
  a += b;
  a += b;
  for (const CounterInfo& row : all_counters()) EXPECT_EQ(a.*row.member, 4u) << row.name;
}

TEST(Counters, JsonLeavesOutZerosOnRequest) {
  Counters counters;
  counters.blocks = 3;
  EXPECT_EQ(to_json(counters, true), "{\"blocks\": 3}");
  EXPECT_NE(to_json(counters, false).find("\"warps\": 0"), std::string::npos);
}

}  // namespace
}  // namespace membound::vgpu::counters
