// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/failure_text.hpp"

#include <gtest/gtest.h>

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
