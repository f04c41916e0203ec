// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/data_flow.hpp"

#include <gmock/gmock.h>

namespace membound::harness {
namespace {

using runner::Call;
using runner::CallKind;
using testing::ElementsAre;

Call copy(CallKind kind, std::uint64_t begin, std::uint64_t end) {
  return {.kind = kind, .address = begin, .bytes = end - begin};
}
Call launch(std::vector<runner::MemoryUse> uses) {
  return {.kind = CallKind::kLaunch, .uses = std::move(uses)};
}
constexpr auto kIn = CallKind::kCopyIn, kOut = CallKind::kCopyOut;

TEST(DataFlow, GoesFromACopyToTheHostBackThroughWhatWroteIt) {
  const std::vector<Call> calls = {copy(kIn, 0, 8), launch({{0, 8, false}, {16, 24, true}}),
                                   copy(kOut, 16, 24)};
  EXPECT_THAT(follow_data(calls, {true}).arrived, ElementsAre(true, true, true));
}

TEST(DataFlow, LeavesOutWorkOnOtherMemory) {
  const std::vector<Call> calls = {copy(kIn, 0, 8), launch({{0, 8, false}, {0, 8, true}}),
                                   launch({{64, 72, true}}), copy(kOut, 0, 8), copy(kOut, 64, 72)};
  EXPECT_THAT(follow_data(calls, {true, false}).arrived,
              ElementsAre(true, true, false, true, false));
}

TEST(DataFlow, LeavesOutWhatWasOverwrittenBeforeItWasRead) {
  const std::vector<Call> calls = {launch({{0, 8, true}}), copy(kIn, 0, 8), copy(kOut, 0, 8)};
  const DataFlow flow = follow_data(calls, {true});
  EXPECT_THAT(flow.arrived, ElementsAre(false, true, true));
  EXPECT_TRUE(flow.took_copied_in);
}

TEST(DataFlow, FollowsPartsOfAStretch) {
  const std::vector<Call> calls = {copy(kIn, 0, 64), launch({{0, 8, false}, {8, 16, true}}),
                                   launch({{40, 48, true}}), copy(kOut, 4, 20)};
  EXPECT_THAT(follow_data(calls, {true}).arrived, ElementsAre(true, true, false, true));
}

TEST(DataFlow, FollowsCopiesOnTheDevice) {
  Call move = copy(CallKind::kCopyOnDevice, 64, 72);
  move.arguments = {0};
  const std::vector<Call> calls = {launch({{0, 8, true}}), move, copy(kOut, 64, 72)};
  EXPECT_THAT(follow_data(calls, {true}).arrived, ElementsAre(true, true, true));
  EXPECT_FALSE(follow_data(calls, {true}).took_copied_in);
  EXPECT_TRUE(follow_data({copy(kIn, 0, 8), move, copy(kOut, 64, 72)}, {true}).took_copied_in);
}

TEST(DataFlow, TakesALaunchThatMayUseAnyMemoryForOneThatDoes) {
  constexpr std::uint64_t kEnd = runner::MemoryUse::kEnd;
  const std::vector<Call> calls = {copy(kIn, 0, 8), launch({{16, 24, true}}),
                                   launch({{0, kEnd, false}, {0, kEnd, true}}), copy(kOut, 16, 24)};
  EXPECT_THAT(follow_data(calls, {true}).arrived, ElementsAre(true, true, true, true));
}

TEST(DataFlow, SaysWhereNobodyWrote) {
  EXPECT_TRUE(follow_data({copy(kIn, 0, 4), copy(kOut, 0, 8)}, {true}).took_unwritten);
  EXPECT_FALSE(follow_data({copy(kIn, 0, 8), copy(kOut, 0, 8)}, {true}).took_unwritten);
  EXPECT_TRUE(follow_data({copy(CallKind::kFill, 0, 8), copy(kOut, 0, 8)}, {true}).took_filled);
}

TEST(DataFlow, LeavesOutCallsThatFailed) {
  Call failed = copy(kIn, 0, 8);
  failed.code = 1;
  EXPECT_THAT(follow_data({failed, copy(kIn, 0, 8), copy(kOut, 0, 8)}, {true}).arrived,
              ElementsAre(true, true));
}

}  // namespace
}  // namespace membound::harness
