// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/progress_page.hpp"

#include <gmock/gmock.h>

namespace membound::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<LabProgress> two_labs() {
  return {{"00-hello",
           "Hello <GPU>",
           {{1, "One", "passed", Tone::kGood, 20, 20}, {2, "Two", "passed", Tone::kGood, 30, 30}}},
          {"03-transpose",
           "Transpose",
           {{1, "Rows", "passed", Tone::kGood, 15, 15},
            {2, "Tiles", "too slow, 0.67 of 0.75", Tone::kBad, 5, 45, true}}}};
}

TEST(ProgressPage, DrawsEachLabWithItsStagesAndPoints) {
  const std::string page = progress_page(two_labs(), "./membound check 03-transpose/2");
  EXPECT_THAT(page, HasSubstr("The course so far: 70 of 110 points"));
  EXPECT_THAT(page, HasSubstr("<span style=\"width:100%\"></span>"));
  EXPECT_THAT(page, HasSubstr("<span style=\"width:33%\"></span>"));
  EXPECT_THAT(page, HasSubstr("title=\"2 Tiles: too slow, 0.67 of 0.75 – next\">✗</span>"));
  EXPECT_THAT(page, AllOf(HasSubstr("Hello &lt;GPU&gt;"), Not(HasSubstr("<GPU>"))));
  EXPECT_THAT(page, HasSubstr("./membound check 03-transpose/2"));
}

TEST(ProgressPage, UnfoldsTheLabThatComesNext) {
  const std::string page = progress_page(two_labs(), "");
  EXPECT_THAT(page, HasSubstr("<details id=\"lab-03-transpose\" open>"));
  EXPECT_THAT(page, HasSubstr("<details id=\"lab-00-hello\">"));
}

TEST(ProgressPage, OfNothingIsAPageToo) {
  EXPECT_THAT(progress_page({{"00-x", "X", {}}}, ""), HasSubstr("0 of 0"));
}

}  // namespace
}  // namespace membound::report
