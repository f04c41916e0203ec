// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound report of a class with a group: whose work is like whose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/tests/classroom/queue/fake_class.hpp"

namespace membound::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// "red" are a and b, of whom a handed in; c, d and e work alone. Code is as like as its first
/// word.
class ReportOfAGroup : public testing::Test {
 protected:
  void hand_in(const std::string& student, const std::string& code) {
    queue::write_text(folder_.path() / "in" / student / "kernel.cu",
                      "// " + code + "\n__global__ void quick(int*);  // " + student + "\n");
  }
  /// The page of the lab after all is graded and reported.
  std::string page() {
    queue::make_fake_class(folder_.path(), 0);
    course_ = queue::fake_course(folder_.path());
    queue::BatchRequest request =
        queue::fake_batch(folder_.path(), course_, folder_.path() / "out");
    request.intake.roster =
        *intake::Roster::from_text("id,group\na,red\nb,red\nc,\nd,\ne,\n", "class.csv");
    request.grade_one = [](const queue::OneRequest& one) {
      queue::OneOutcome outcome = queue::fake_grade(one);
      const std::string code = base::read_file(one.source)->substr(3, 3);
      for (char i = 'a'; i < 'a' + 20; ++i)
        outcome.grade.fingerprint.push_back(std::hash<std::string>()(code + i));
      std::sort(outcome.grade.fingerprint.begin(), outcome.grade.fingerprint.end());
      return outcome;
    };
    EXPECT_TRUE(queue::run_batch(request));
    const auto outcome = base::run_process(
        {.arguments = {MEMBOUND_PROGRAM, "report", (folder_.path() / "out").string()}});
    EXPECT_TRUE(outcome && outcome->exit_code == 0) << (outcome ? outcome->output : "");
    const auto text = base::read_file(folder_.path() / "out" / "report" / "labs" / "01-quick.html");
    return text ? *text : "no page";
  }

  const base::ScratchFolder folder_{"report"};
  course::Course course_;
};

TEST_F(ReportOfAGroup, ItsMembersAreNoCopiesOfOneAnother) {
  hand_in("a", "own");
  hand_in("c", "two");
  hand_in("d", "six");
  EXPECT_THAT(page(), Not(HasSubstr("More alike than the task makes them")));
}

TEST_F(ReportOfAGroup, WhoCopiesFromItIsNamedWithAllOfIt) {
  hand_in("a", "own");
  hand_in("c", "own");
  hand_in("d", "six");
  EXPECT_THAT(page(), HasSubstr("<li>a, b, c "));
}

}  // namespace
}  // namespace membound::cli
