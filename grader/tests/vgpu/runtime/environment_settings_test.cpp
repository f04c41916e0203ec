// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/environment_settings.hpp"

#include <gmock/gmock.h>

#include <map>

namespace membound::vgpu::runtime {
namespace {

base::Result<Settings> read(std::map<std::string, std::string> variables) {
  return read_settings([variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
}

TEST(Settings, NothingSetIsAnH200WithoutChecks) {
  const auto settings = read({});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->machine_id, "h200");
  EXPECT_FALSE(settings->checks.any());
  EXPECT_EQ(settings->scheduling, exec::Scheduling::kIndependent);
  EXPECT_FALSE(settings->shuffle_seed);
}

TEST(Settings, NoSmsMeansAllOfThem) {
  const auto unset = read({}), zero = read({{"MEMBOUND_SMS", "0"}});
  ASSERT_TRUE(unset && zero);
  EXPECT_EQ(zero->sm_count, unset->sm_count);
}

TEST(Settings, EveryVariableIsRead) {
  const auto settings = read({{"MEMBOUND_DEVICE", "vgpu:k80"},
                              {"MEMBOUND_SMS", "16"},
                              {"MEMBOUND_COUNTERS", "c.json"},
                              {"MEMBOUND_CHECK", "memcheck,racecheck"},
                              {"MEMBOUND_SCHEDULING", "lockstep"},
                              {"MEMBOUND_SHUFFLE", "7"},
                              {"MEMBOUND_STEP_LIMIT", "1000"},
                              {"MEMBOUND_WORKERS", "3"},
                              {"MEMBOUND_WORK", "on"}});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->machine_id, "k80");
  EXPECT_EQ(settings->sm_count, 16u);
  EXPECT_EQ(settings->counters_file, "c.json");
  EXPECT_TRUE(settings->checks.memcheck);
  EXPECT_TRUE(settings->checks.racecheck);
  EXPECT_FALSE(settings->checks.initcheck);
  EXPECT_EQ(settings->scheduling, exec::Scheduling::kLockstep);
  EXPECT_EQ(settings->shuffle_seed, 7u);
  EXPECT_EQ(settings->step_limit, 1000u);
  EXPECT_EQ(settings->workers, 3u);
  EXPECT_TRUE(settings->tell_work);
  EXPECT_FALSE(read({})->tell_work);
  EXPECT_FALSE(read({{"MEMBOUND_WORK", "some"}}));
}

TEST(Settings, OfWhatIsDrawnTheLanesOrWarpsOfSomeLinesCanBeChosen) {
  const auto orders = [](const char* text) { return read({{"MEMBOUND_ORDERS", text}})->orders; };
  for (const char* all : {"", "all"})
    EXPECT_TRUE(orders(all).lanes && orders(all).warps && !orders(all).at_lines) << all;
  EXPECT_FALSE(orders("none").lanes || orders("none").warps);
  EXPECT_TRUE(orders("lanes").lanes && !orders("lanes").warps && !orders("lanes").at_lines);
  EXPECT_TRUE(orders("warps").warps && !orders("warps").lanes);
  EXPECT_EQ(orders("lanes:42").at_lines, (exec::LineRange{42, 42}));
  EXPECT_EQ(orders("warps:40-50").at_lines, (exec::LineRange{40, 50}));
  for (const char* text : {"lines", "lanes:", "lanes:0", "lanes:x", "lanes:4 ", "lanes42",
                           "warps:5-4", "warps:5-", "all:3", "none:3"})
    EXPECT_FALSE(read({{"MEMBOUND_ORDERS", text}})) << text;
}

TEST(Settings, TracesTheWarpThatIsNamed) {
  const auto settings = read({{"MEMBOUND_TRACE", "3,1,0:2:5"}});
  ASSERT_TRUE(settings);
  EXPECT_TRUE(settings->trace.on);
  EXPECT_EQ(settings->trace.block, (Dim3{3, 1, 0}));
  EXPECT_EQ(settings->trace.warp, 2u);
  EXPECT_EQ(settings->trace.occurrences, 5u);
}

TEST(Settings, TracesTheFirstWarpOnceUnlessToldOtherwise) {
  const auto settings = read({{"MEMBOUND_TRACE", "on"}});
  ASSERT_TRUE(settings);
  EXPECT_TRUE(settings->trace.on);
  EXPECT_EQ(settings->trace.block, (Dim3{0, 0, 0}));
  EXPECT_EQ(settings->trace.occurrences, 1u);
  EXPECT_FALSE(read({})->trace.on);
}

TEST(Settings, RefusesATraceThatNamesNoWarp) {
  for (const char* text : {"yes", "1,", "0,0,0:x", "0,0,0:1:2:3", "0;0;0", "-1,0,0"})
    EXPECT_FALSE(read({{"MEMBOUND_TRACE", text}})) << text;
}

TEST(Settings, AllSwitchesEveryCheckerOn) {
  const auto settings = read({{"MEMBOUND_CHECK", "all"}});
  ASSERT_TRUE(settings);
  EXPECT_TRUE(settings->checks.memcheck && settings->checks.initcheck &&
              settings->checks.racecheck && settings->checks.synccheck &&
              settings->checks.leakcheck);
}

TEST(Settings, AMisspeltCheckerIsNamed) {
  const auto settings = read({{"MEMBOUND_CHECK", "memcheck,racechek"}});
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().where, "MEMBOUND_CHECK");
  EXPECT_THAT(settings.error().found, testing::HasSubstr("racechek"));
  EXPECT_EQ(settings.error().kind, base::ErrorKind::kUsage);
}

TEST(Settings, NumbersMustBeNumbers) {
  EXPECT_FALSE(read({{"MEMBOUND_SHUFFLE", "often"}}));
  EXPECT_FALSE(read({{"MEMBOUND_STEP_LIMIT", "12k"}}));
  EXPECT_FALSE(read({{"MEMBOUND_WORKERS", "few"}}));
}

TEST(Settings, OnlyVirtualDevicesAreOurs) { EXPECT_FALSE(read({{"MEMBOUND_DEVICE", "gpu"}})); }

}  // namespace
}  // namespace membound::vgpu::runtime
