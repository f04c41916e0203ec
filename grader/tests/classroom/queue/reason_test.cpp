// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "grader/classroom/queue/one_submission.hpp"

namespace membound::queue {
namespace {

using course::Verdict;

course::Grade graded(const std::vector<std::pair<Verdict, std::string>>& stages) {
  course::Result result;
  for (const auto& [verdict, text] : stages) {
    course::StageResult& stage = result.stages.emplace_back();
    stage.stage = static_cast<int>(result.stages.size());
    stage.verdict = verdict;
    if (!text.empty()) stage.findings.push_back({"failed-test", text, "", "SomeTest", "", 0});
  }
  course::Grade grade;
  grade.take(std::move(result), course::Lab{});
  return grade;
}

TEST(Reason, IsTheFindingOfTheFirstStageThatIsAsBadAsTheWhole) {
  EXPECT_EQ(reason(graded({{Verdict::kSlow, "0.5 of the reference"},
                           {Verdict::kWrong, "out[1] is 0, not 7\nand more"},
                           {Verdict::kWrong, "out[2] is 0"}})),
            "stage 2: out[1] is 0, not 7");
}

TEST(Reason, EndsWithTheLastWordsWhereWeFailedOurselves) {
  EXPECT_EQ(reason(graded({{Verdict::kInfraError, "it ended\nterminate called\n"}})),
            "stage 1: terminate called");
}

TEST(Reason, IsTheVerdictInWordsWhereNothingWasFound) {
  EXPECT_EQ(reason(graded({{Verdict::kPassed, ""}, {Verdict::kTimeout, ""}})),
            "stage 2: did not end");
}

TEST(Reason, IsTheCompilersFirstError) {
  course::Grade grade = graded({{Verdict::kCompileError, "Begin with the first error."}});
  grade.result.compiler_output =
      "k.cu:1: warning: \"x\" redefined\nkernel.cu:3:10: fatal error: a.cuh: No such file\n    3 |";
  EXPECT_EQ(reason(grade), "kernel.cu:3:10: fatal error: a.cuh: No such file");
}

TEST(Reason, NamesNoFileOfTheMachine) {
  for (const char* said : {"fatal error: /proc/1/environ: Permission denied",
                           "fatal error: cannot open file '/proc/1/environ': Permission denied",
                           "error: could not open source file \"/etc/shadow/x\" (no such file)"}) {
    course::Grade grade = graded({{Verdict::kCompileError, ""}});
    grade.result.compiler_output = "kernel.cu:3:10: " + std::string(said) + "\n    3 |";
    EXPECT_EQ(reason(grade).find("/proc"), std::string::npos) << reason(grade);
    EXPECT_EQ(reason(grade).find("denied"), std::string::npos);
    EXPECT_EQ(reason(grade).find("kernel.cu:3:10: "), 0u) << "where it is, its author can act on";
  }
  course::Grade grade = graded({{Verdict::kCompileError, ""}});
  grade.result.compiler_output = "kernel.cu:3:10: error: expected ';' before '/' token a/b/c";
  EXPECT_EQ(reason(grade), grade.result.compiler_output);
}

TEST(Reason, IsWhatTheCompilerWasEndedFor) {
  course::Grade grade = graded({{Verdict::kCompileError, "kernel.cu:25: trap is not allowed"}});
  for (const auto verdict :
       {course::GradeVerdict::kPolicyReject, course::GradeVerdict::kCompileLimit}) {
    grade.verdict = verdict;
    EXPECT_EQ(reason(grade), "stage 1: kernel.cu:25: trap is not allowed");
  }
}

TEST(Reason, ShowsControlCharactersAndIsEmptyForAPass) {
  EXPECT_EQ(reason(graded({{Verdict::kWrong, "\033[2J"}})), "stage 1: \\x1b[2J");
  EXPECT_EQ(reason(graded({{Verdict::kPassed, "fine"}})), "");
}

TEST(StagesToLookAt, AreThePassedStagesWhosePredictionTellsLittle) {
  course::Grade grade = graded({{Verdict::kPassed, "a"},
                                {Verdict::kPassed, "b"},
                                {Verdict::kPassed, "c"},
                                {Verdict::kSlow, "d"}});
  for (course::StageResult& stage : grade.result.stages)
    stage.findings[0].kind = course::kMostlyIdleSms;
  grade.result.stages[1].findings[0].kind = course::kBeyondReference;
  grade.result.stages[2].findings[0].kind = course::kNearCeiling;
  EXPECT_EQ(stages_to_look_at(grade), "look at stage 1: a; look at stage 2: b")
      << "being as fast as the reference answer is what is wanted";
}

}  // namespace
}  // namespace membound::queue
