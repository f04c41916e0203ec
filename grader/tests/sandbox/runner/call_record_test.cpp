// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/call_record.hpp"

#include <gmock/gmock.h>

namespace membound::runner {
namespace {

const Call kCall{.kind = CallKind::kCopyOut,
                 .code = 700,
                 .host_waits = true,
                 .stream = 3,
                 .event = 4,
                 .second_event = 5,
                 .address = 1ULL << 40,
                 .bytes = 64,
                 .kernel = "_Z3addPi",
                 .start_ns = 1.5,
                 .end_ns = 2.5,
                 .non_blocking = true,
                 .arguments = {1ULL << 41, 0},
                 .graph = 2,
                 .uses = {{1ULL << 40, (1ULL << 40) + 64, true}, {0, 4, false}}};

TEST(CallRecord, ReadsWhatItWrote) {
  const auto calls = calls_from_text(to_line({.kind = CallKind::kLaunch}) + to_line(kCall));
  ASSERT_TRUE(calls) << base::to_string(calls.error());
  ASSERT_EQ(calls->size(), 2U);
  EXPECT_EQ(to_line(calls->back()), to_line(kCall));
  EXPECT_FALSE(calls->back().succeeded());
}

TEST(CallRecord, ALaunchHasItsShape) {
  const Call launch{
      .kind = CallKind::kLaunch, .grid = {2, 3, 4}, .block = {32, 8, 1}, .shared_bytes = 4224};
  const auto calls = calls_from_text(to_line(launch));
  ASSERT_TRUE(calls) << base::to_string(calls.error());
  EXPECT_EQ(calls->front().grid, launch.grid);
  EXPECT_EQ(calls->front().block, launch.block);
  EXPECT_EQ(calls->front().shared_bytes, launch.shared_bytes);
}

TEST(CallRecord, EveryKindHasAWordOfItsOwn) {
  for (int kind = 1; kind <= static_cast<int>(CallKind::kErrorCheck); ++kind) {
    const auto calls = calls_from_text(to_line({.kind = static_cast<CallKind>(kind)}));
    ASSERT_TRUE(calls) << kind;
    EXPECT_EQ(static_cast<int>(calls->front().kind), kind);
  }
}

TEST(CallRecord, ACutOffLastLineIsLeftOut) {
  const std::string line = to_line(kCall);
  for (std::size_t length = 0; length < line.size(); ++length) {
    const auto calls = calls_from_text(line + line.substr(0, length));
    ASSERT_TRUE(calls) << length;
    EXPECT_EQ(calls->size(), 1U) << length;
  }
}

TEST(CallRecord, AnythingElseIsAnErrorThatNamesTheLine) {
  for (const char* bad : {"\n", "{}\n", "[]\n", "{\"call\":\"dance\"}\n", "\xff\xfe\n"}) {
    const auto calls = calls_from_text(to_line(kCall) + bad);
    ASSERT_FALSE(calls) << bad;
    EXPECT_THAT(calls.error().found, testing::HasSubstr("line 2"));
  }
}

}  // namespace
}  // namespace membound::runner
