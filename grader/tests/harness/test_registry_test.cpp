// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/test_registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace membound::harness {
namespace {

using testing::ElementsAre;

/// A lab whose files and lines are in any order but that of its tests; one line has two of them.
const bool kLabAdded = [] {
  for (const auto& [name, file, line] : {std::tuple{"Easiest", "m.cpp", 40},
                                         {"Easy", "m.cpp", 40},
                                         {"Hard", "a.cpp", 7},
                                         {"Hardest", "z.cpp", 90}})
    detail::add_lab_test({name, "", file, line, nullptr});
  return true;
}();

/// As GoogleTest 1.16 sorts a suite before it runs it.
std::vector<detail::LabTestEntry> sorted_by_place(std::vector<detail::LabTestEntry> tests) {
  std::stable_sort(tests.begin(), tests.end(), [](const auto& a, const auto& b) {
    if (const int files = std::strcmp(a.file, b.file)) return files < 0;
    return a.line < b.line;
  });
  return tests;
}

std::vector<std::string> names_of(const std::vector<detail::LabTestEntry>& tests) {
  std::vector<std::string> names;
  for (const detail::LabTestEntry& test : tests) names.emplace_back(test.name);
  return names;
}

TEST(TestRegistry, TheLabsTestsRunAsItsAuthorWroteThemAndTheTimedOneLast) {
  ASSERT_TRUE(kLabAdded);
  EXPECT_THAT(names_of(tests_in_turn({})),
              ElementsAre("HasTheRightSignature", "LaunchesWithinLimits", "Easiest", "Easy", "Hard",
                          "Hardest", "ReachesItsBar"));
}

TEST(TestRegistry, TheOrderIsTheSameWhereGoogleTestSortsByFileAndLine) {
  for (const bool half : {false, true}) {
    Options options;
    options.easier_half = half;
    const auto tests = tests_in_turn(options);
    EXPECT_EQ(names_of(sorted_by_place(tests)), names_of(tests));
    auto reversed = tests;
    std::reverse(reversed.begin(), reversed.end());
    EXPECT_EQ(names_of(sorted_by_place(reversed)), names_of(tests))
        << "two tests have the same place";
  }
}

TEST(TestRegistry, ATestKeepsItsLineWhereTheOrderAllows) {
  const auto tests = tests_in_turn({});
  ASSERT_EQ(tests.size(), 7U);
  EXPECT_STREQ(tests[2].file, "m.cpp");
  EXPECT_EQ(tests[2].line, 40);
  EXPECT_EQ(tests[5].line, 90);
}

TEST(TestRegistry, LeavesOutWhatIsNotAskedFor) {
  Options quick;
  quick.quick = true;
  EXPECT_EQ(names_of(tests_in_turn(quick)).back(), "Hardest");
  Options half;
  half.easier_half = true;
  EXPECT_THAT(names_of(tests_in_turn(half)), ElementsAre("Easiest", "Easy", "ReachesItsBar"));
}

}  // namespace
}  // namespace membound::harness
