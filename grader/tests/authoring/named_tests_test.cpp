// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tests that grader/tests/attacks/defended.md names: those of the tree, and what is said of one
/// that is not there.
#include "grader/authoring/house.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/base/files.hpp"

namespace membound::authoring {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(NamedTests, AreSuitesAttacksWrongAnswersAndScripts) {
  EXPECT_THAT(
      tests_named_in("E-semantics/84b-a-warp, `04/3-b`, `Stack.HoldsIt`, `Owner.*`, `k.sh`"),
      ElementsAre("E-semantics/84b-a-warp", "04/3-b", "Stack.HoldsIt", "Owner.*", "k.sh"));
  EXPECT_THAT(tests_named_in("not closed: see the text"), IsEmpty());
}

TEST(NamedTests, AreAllThere) {
  std::string all;
  for (const Drift& drift : check_named_tests(MEMBOUND_SOURCE_DIR)) all += to_string(drift) + "\n";
  EXPECT_EQ(all, "");
}

TEST(NamedTests, AreMissedWithTheLineOfTheirRow) {
  const base::ScratchFolder folder("named-tests");
  const auto write = [&](const char* file, const std::string& text) {
    ASSERT_TRUE(base::write_file(folder.path() / file, text));
  };
  write("grader/tests/a_test.cpp", "TEST(Stack, HoldsIt) {}\n");
  write("grader/tests/attacks/defended.md",
        "| did | now | test |\n| --- | --- | --- |\n| a `x|y` | b | `Stack.HoldsIt` |\n"
        "| c | d | the same |\n| e | f | `Stack.HoldsNothing` |\n| g | h | |\n"
        "| i | j | not closed: why |\n\n| word | means |\n| --- | --- |\n| a | b |\n");
  const std::vector<Drift> drifts = check_named_tests(folder.path());
  ASSERT_EQ(drifts.size(), 2u);
  EXPECT_THAT(to_string(drifts[0]),
              HasSubstr("grader/tests/attacks/defended.md:5: Stack.HoldsNothing"));
  EXPECT_THAT(to_string(drifts[1]), HasSubstr("grader/tests/attacks/defended.md:6: no test"));
}

}  // namespace
}  // namespace membound::authoring
