// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/result.hpp"

#include <gtest/gtest.h>

namespace membound::base {
namespace {

TEST(Error, PrintsItsFourPartsInOrder) {
  const Error error{ErrorKind::kInput, "lab.json:3", "no \"stages\"", "a list of stages",
                    "add one"};
  EXPECT_EQ(to_string(error),
            "lab.json:3: no \"stages\"\n  expected: a list of stages\n  try: add one");
}

TEST(Error, LeavesOutEmptyParts) {
  EXPECT_EQ(to_string(Error{.kind = ErrorKind::kMachine, .found = "disk full"}), "disk full");
}

TEST(Error, OnlyTheUsersMistakesExitWithTwo) {
  EXPECT_EQ(exit_code_of(ErrorKind::kUsage), 2);
  EXPECT_EQ(exit_code_of(ErrorKind::kInput), 2);
  EXPECT_EQ(exit_code_of(ErrorKind::kMachine), 3);
  EXPECT_EQ(exit_code_of(ErrorKind::kInternal), 3);
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> value = 7;
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, 7);
  const Result<int> none = Error{.found = "nothing"};
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().found, "nothing");
}

TEST(ResultDeathTest, AskingForAMissingValueIsOurBug) {
  const Result<int> none = Error{.found = "nothing"};
  EXPECT_EXIT((void)none.value(), testing::ExitedWithCode(3), "internal error");
}

}  // namespace
}  // namespace membound::base
