// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/failure_text.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <string>

namespace membound::harness {
namespace {

TEST(TestMessage, TheTextOfAFailedAssertionResultIsUnwrapped) {
  EXPECT_EQ(unwrap_message("Value of: arrays_equal(a, b)\n  Actual: false (first wrong: row 1\n"
                           "2 of 6 elements are wrong\n)\nExpected: true"),
            "first wrong: row 1\n2 of 6 elements are wrong");
}

TEST(TestMessage, WhatWasStreamedStaysOnALineOfItsOwn) {
  EXPECT_EQ(unwrap_message("Value of: x\n  Actual: false (wrong)\nExpected: true\n\nfor 5 ints"),
            "wrong\nfor 5 ints");
}

TEST(TestMessage, ScopedTracesFollowWithoutTheirLinesInTheLab) {
  EXPECT_EQ(unwrap_message("Value of: x\n  Actual: false (wrong)\nExpected: true\n"
                           "Google Test trace:\nlabs/01/test.cpp:30: for 5 ints\n"
                           "labs/01/test.cpp:90: in the second of two launches\n"),
            "wrong\nfor 5 ints\nin the second of two launches");
}

TEST(TestMessage, WhatStopsATestAfterAFailureSaysNothingMore) {
  testing::TestPartResultArray parts;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &parts);
    [] { ASSERT_NO_FATAL_FAILURE([] { FAIL() << "wrong"; }()); }();
  }
  std::string said;
  for (int i = 0; i < parts.size(); ++i)
    said += unwrap_message(parts.GetTestPartResult(i).message());
  EXPECT_NE(said.find("wrong"), std::string::npos);
  EXPECT_EQ(said.find("fatal"), std::string::npos) << said;
}

TEST(TestMessage, OtherMessagesStayAsTheyAre) {
  EXPECT_EQ(unwrap_message("Expected equality of these values:\n  1\n  2\n"),
            "Expected equality of these values:\n  1\n  2");
}

TEST(TestMessage, ABareFalseStaysReadable) {
  const std::string text = "Value of: flag\n  Actual: false\nExpected: true";
  EXPECT_EQ(unwrap_message(text), text);
}

TEST(ChooseTag, AnUnusableOrSlowKernelIsToldAsSuch) {
  EXPECT_EQ(choose_tag("edge-guard", course::Cause::kIllegalLaunch), "illegal-launch");
  EXPECT_EQ(choose_tag("", course::Cause::kSlow), "slow");
}

TEST(ChooseTag, ALabKnowsBestWhatAWriteOutsideMeans) {
  EXPECT_EQ(choose_tag("edge-guard", course::Cause::kGuardZone), "edge-guard");
  EXPECT_EQ(choose_tag("", course::Cause::kGuardZone), "guard-zone");
  EXPECT_EQ(choose_tag("edge-guard", course::Cause::kNone), "edge-guard");
}

}  // namespace
}  // namespace membound::harness
