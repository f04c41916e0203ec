// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/counters/counters.hpp"

#include <gtest/gtest.h>

#include <regex>
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

TEST(Counters, StepsAddEveryField) {
  StepCounts a, b;
#define MEMBOUND_TALLY(name, what) b.name = 2;
#define MEMBOUND_COUNTED(name, unit, certainty, meaning, formed, metric) b.name = 2;
#include "grader/vgpu/counters/counters.def"
  a += b;
  a += b;
#define MEMBOUND_TALLY(name, what) EXPECT_EQ(a.name, 4u) << what;
#define MEMBOUND_COUNTED(name, unit, certainty, meaning, formed, metric) EXPECT_EQ(a.name, 4u);
#include "grader/vgpu/counters/counters.def"
}

TEST(Counters, EveryTallyIsUsedByARow) {
  std::string sources;
#define MEMBOUND_COUNTER(name, unit, certainty, meaning, formed, metric, source) \
  sources += " " #source " ";
#include "grader/vgpu/counters/counters.def"
#define MEMBOUND_TALLY(name, what) \
  EXPECT_TRUE(std::regex_search(sources, std::regex("[( ]" #name "[) ]"))) << #name;
#include "grader/vgpu/counters/counters.def"
}

TEST(Counters, JsonLeavesOutZerosOnRequest) {
  Counters counters;
  counters.blocks = 3;
  EXPECT_EQ(to_json(counters, true), "{\"blocks\": 3}");
  EXPECT_NE(to_json(counters, false).find("\"warps\": 0"), std::string::npos);
}

}  // namespace
}  // namespace membound::vgpu::counters
