// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/claims.hpp"

#include <gmock/gmock.h>

#include "grader/base/files.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::authoring {
namespace {

using course::Verdict;
using testing::HasSubstr;

course::Result result_of(const std::vector<std::pair<Verdict, std::string>>& stages) {
  course::Result result;
  for (const auto& [verdict, failed] : stages) {
    course::StageResult stage;
    stage.stage = static_cast<int>(result.stages.size()) + 1;
    stage.verdict = verdict;
    stage.tests = {{"A", true, false, "", "", 0}};
    if (!failed.empty()) stage.tests.push_back({failed, false, false, "", "", 0});
    result.stages.push_back(stage);
  }
  return result;
}

Claim claim(const std::string& fails, int stages = 1) {
  Claim claim;
  claim.fails = fails;
  for (int i = 1; i <= stages; ++i) claim.stages.push_back(i);
  return claim;
}

TEST(Proof, OfAReferenceAnswerIsThatEveryStagePasses) {
  EXPECT_TRUE(
      compare(claim("", 2), result_of({{Verdict::kPassed, ""}, {Verdict::kPassed, ""}})).holds);
  const auto slow =
      compare(claim("", 2), result_of({{Verdict::kPassed, ""}, {Verdict::kSlow, "ReachesItsBar"}}));
  EXPECT_FALSE(slow.holds);
  EXPECT_EQ(slow.shown, "stage 2: slow (ReachesItsBar)");
}

TEST(Proof, OfAReferenceAnswerIsThatEveryStageEarnsAllItsPointsWithBothCompilers) {
  auto first = result_of({{Verdict::kPassed, ""}, {Verdict::kPassed, ""}});
  for (course::StageResult& stage : first.stages) stage.points = stage.max_points = 15;
  auto second = first;
  second.compiler = "clang 14.0.6";
  second.stages.back().points = 14.02;
  Claim reference = claim("", 2);
  reference.earns_all = true;
  auto proof = compare(reference, first);
  EXPECT_TRUE(proof.holds);
  add_second(proof, first, second);
  EXPECT_EQ(proof.shown, "with clang 14.0.6: stage 2: passed, but earns 14.02 of 15.00 points");
  EXPECT_FALSE(proof.holds);
  EXPECT_TRUE(compare(claim("", 2), second).holds) << "a wrong answer that a GPU forgives";
}

TEST(Proof, WithTwoCompilersWantsTheSameVerdictForTheSameReason) {
  auto first = result_of({{Verdict::kWrong, "B"}, {Verdict::kWrong, "B"}});
  auto second = result_of({{Verdict::kWrong, "B"}, {Verdict::kWrong, "C"}});
  first.compiler = "nvcc 13.0.88";
  second.compiler = "clang 14.0.6";
  auto proof = compare(claim(kAnyTest, 2), first);
  add_second(proof, first, first);
  EXPECT_TRUE(proof.holds);
  add_second(proof, first, second);
  EXPECT_FALSE(proof.holds);
  EXPECT_EQ(proof.shown, "stage 2: wrong (B) with nvcc 13.0.88, wrong (C) with clang 14.0.6");
}

TEST(Proof, WithTwoCompilersMustHoldForTheSecondToo) {
  const auto first = result_of({{Verdict::kPassed, ""}});
  auto second = result_of({{Verdict::kSlow, "ReachesItsBar"}});
  second.compiler = "clang 14.0.6";
  auto proof = compare(claim(""), first);
  add_second(proof, first, second);
  EXPECT_FALSE(proof.holds);
  EXPECT_THAT(proof.shown, HasSubstr("with clang 14.0.6: stage 1: slow (ReachesItsBar)"));
}

TEST(Proof, OfAReferenceAnswerIsThatBothCompilersCountWhatStudentsPredict) {
  course::Lab lab;
  lab.stages.resize(1);
  lab.stages[0].number = 1;
  lab.stages[0].question = course::Question{"How many loads?", "loads", "global_load_requests", ""};
  Claim passes = claim("");
  passes.lab = &lab;
  auto first = result_of({{Verdict::kPassed, ""}}), second = first;
  first.compiler = "nvcc 13.0.88";
  second.compiler = "clang 14.0.6";
  first.stages[0].answer = 1024;
  second.stages[0].answer = 1030;
  auto proof = compare(passes, first);
  add_second(proof, first, second);
  EXPECT_TRUE(proof.holds) << "near enough for a student who says the other number";
  second.stages[0].answer = 1792;
  add_second(proof, first, second);
  EXPECT_FALSE(proof.holds);
  EXPECT_EQ(proof.shown,
            "stage 1, \"How many loads?\": 1,024 loads with nvcc 13.0.88, 1,792 loads with clang "
            "14.0.6");
}

TEST(Proof, OfASkeletonIsThatNoStagePasses) {
  EXPECT_TRUE(compare(claim(kAnyTest), result_of({{Verdict::kWrong, "B"}})).holds);
  EXPECT_FALSE(
      compare(claim(kAnyTest, 2), result_of({{Verdict::kWrong, "B"}, {Verdict::kPassed, ""}}))
          .holds);
  EXPECT_FALSE(compare(claim(kAnyTest), result_of({{Verdict::kSkipped, ""}})).holds)
      << "right, and not timed";
}

TEST(Proof, OfAWrongAnswerIsThatTheNamedTestFailsFirst) {
  EXPECT_TRUE(compare(claim("B"), result_of({{Verdict::kWrong, "B"}})).holds);
  EXPECT_TRUE(
      compare(claim("ReachesItsBar"), result_of({{Verdict::kSlow, "ReachesItsBar"}})).holds);
  EXPECT_TRUE(compare(claim("RunsWithoutFault"), result_of({{Verdict::kFault, ""}})).holds);
  EXPECT_TRUE(compare(claim("FinishesInTime"), result_of({{Verdict::kTimeout, ""}})).holds);
  EXPECT_TRUE(compare(claim("Compiles"), result_of({{Verdict::kCompileError, ""}})).holds);
  const auto other = compare(claim("B"), result_of({{Verdict::kWrong, "C"}}));
  EXPECT_FALSE(other.holds);
  EXPECT_EQ(other.shown, "stage 1: fails wrong (C)");
  EXPECT_THAT(compare(claim("B"), result_of({{Verdict::kPassed, ""}})).shown, HasSubstr("passes"));
}

TEST(Proof, IsNeverGivenByOurOwnFaults) {
  for (const char* fails : {"", kAnyTest, "B"})
    EXPECT_FALSE(compare(claim(fails), result_of({{Verdict::kInfraError, "B"}})).holds) << fails;
  EXPECT_FALSE(compare(claim("", 2), result_of({{Verdict::kPassed, ""}})).holds)
      << "a stage is missing";
}

TEST(Claims, AreSkeletonReferenceAndEveryWrongAnswer) {
  const judge::TemporaryFolder folder;
  course::Lab lab;
  lab.id = "01-x";
  lab.folder = folder.path() / "labs/01-x";
  lab.stages.resize(1);
  lab.stages[0].number = 1;
  folder.write("solutions/01-x/wrong/1-b.cu", "// 1-b fails B  \n// Why: so\nint a;\n");
  folder.write("solutions/01-x/wrong/notes.txt", "");
  const judge::Workplace place{folder.path(), "", folder.path() / "state"};
  const auto claims = claims_of(lab, place);
  ASSERT_TRUE(claims);
  ASSERT_EQ(claims->size(), 3u);
  EXPECT_EQ(claims->at(0).fails, kAnyTest);
  EXPECT_EQ(claims->at(1).fails, "");
  EXPECT_TRUE(claims->at(1).earns_all);
  EXPECT_EQ(claims->at(2).fails, "B");
  EXPECT_FALSE(claims->at(2).earns_all);
  folder.write("solutions/01-x/wrong/1-c.cu", "int a;\n// 1-c fails B\n");
  EXPECT_FALSE(claims_of(lab, place)) << "its head does not stand at the head";
}

course::Result with_finding(const std::string& text, int line) {
  course::Result result = result_of({{Verdict::kWrong, "B"}});
  course::Finding failed, found;
  failed.text = "the failed test";
  found.text = text;
  found.line = line;
  found.advice = "what to do";
  result.stages[0].findings = {failed, found};
  return result;
}

TEST(Proof, OfAFindingIsItsKindAtOneOfTheLinesNamed) {
  Claim race = claim("B");
  race.finds = "data race";
  race.lines = {7, 9};
  const auto shown_for = [&](const course::Result& result) {
    Proof proof = compare(race, result);
    add_findings(proof, result);
    return proof.shown;
  };
  EXPECT_EQ(shown_for(with_finding("data race in k, block (0, 0, 0): …", 9)), "as claimed");
  EXPECT_EQ(shown_for(with_finding("data race in k", 8)),
            "the checkers find, in line 8, data race in k");
  EXPECT_EQ(
      shown_for(with_finding(
          "data race in k: reads x, which thread (1, 0, 0) wrote at a.cu:7; nothing orders", 8)),
      "as claimed")
      << "one of its two lines";
  EXPECT_EQ(shown_for(with_finding("uninitialised read in k", 9)),
            "the checkers find, in line 9, uninitialised read in k");
  EXPECT_EQ(shown_for(result_of({{Verdict::kWrong, "B"}})),
            "the checkers find nothing, not a data race");
}

TEST(Proof, WithoutAFindingClaimedIsThatTheCheckersFindNone) {
  const course::Result result = with_finding("data race in k", 9);
  Proof proof = compare(claim("B"), result);
  add_findings(proof, result);
  EXPECT_FALSE(proof.holds);
}

TEST(Claims, KnowTheLinesThatAFindingNames) {
  const judge::TemporaryFolder folder;
  course::Lab lab;
  lab.id = "03-x";
  lab.stages.resize(1);
  lab.stages[0].number = 1;
  judge::Workplace place;
  place.root = folder.path();
  place.state = folder.path() / "state";
  folder.write("solutions/03-x/wrong/1-a.cu",
               "// 1-a fails B\n// Finds: data race in `tile[x] =`\n\n"
               "  tile[x] = 1;\n  y = tile[x];\n  tile[x] = 2;\n");
  const auto claims = claims_of(lab, place);
  ASSERT_TRUE(claims) << base::to_string(claims.error());
  EXPECT_EQ(claims->back().finds, "data race");
  EXPECT_EQ(claims->back().lines, (std::set<int>{4, 6}));
}

TEST(Claims, OfAPatchAreAboutTheWholeFile) {
  const judge::TemporaryFolder folder;
  course::Lab lab;
  lab.id = "03-x";
  lab.stages.resize(1);
  lab.stages[0].number = 1;
  judge::Workplace place;
  place.root = folder.path();
  place.state = folder.path() / "state";
  folder.write("solutions/03-x/kernel.cu", "one\ntwo\n  tile[x] = 1;\n");
  folder.write("solutions/03-x/wrong/stage-1.patch",
               "# 1-a fails B\nFinds: data race in `tile[x] = 2`\nWhy: so\n"
               "@@ -3 +3 @@\n-  tile[x] = 1;\n+  tile[x] = 2;\n");
  const auto claims = claims_of(lab, place);
  ASSERT_TRUE(claims) << base::to_string(claims.error());
  EXPECT_EQ(claims->back().file, place.state / "wrong/03-x/1-a.cu");
  EXPECT_EQ(claims->back().lines, (std::set<int>{3}));
  EXPECT_EQ(*base::read_file(claims->back().file), "one\ntwo\n  tile[x] = 2;\n");
}

/// A lab with one stage of this kind.
course::Lab lab_of(const course::StageKind& kind) {
  course::Lab lab;
  lab.stages.resize(1);
  lab.stages[0].number = 1;
  lab.stages[0].kind = &kind;
  return lab;
}

TEST(Claims, OfProgramsAreTheSameOnAGpuAsTheyAreJudgedOnTheVirtualOne) {
  const course::Lab lab = lab_of(course::kProgramStage);
  std::vector<Claim> claims = {claim("B"), claim("LeavesNothingToLuck")};
  for (Claim& one : claims) one.lab = &lab;
  claims[1].fails_on_gpu = "";
  EXPECT_EQ(claim_of_a_gpu(claims), 0U);
  EXPECT_EQ(claims[1].fails, "LeavesNothingToLuck");
}

TEST(Claims, AreOnAGpuWhatTheirHeadsSayOfIt) {
  const course::Lab lab = lab_of(course::kKernelStage);
  std::vector<Claim> claims = {claim("B"), claim("KeepsItsBudget"), claim("ReachesItsBar"),
                               claim("KeepsItsBudget"), claim("B")};
  claims[2].fails_on_gpu = "";
  claims[3].fails_on_gpu = "ReachesItsBar";
  claims[4].fails_on_gpu = kAnyTest;
  claims.push_back(claim("B"));
  claims[5].fails_on_gpu = kChance;
  for (Claim& one : claims) one.lab = &lab;
  EXPECT_EQ(claim_of_a_gpu(claims), 2U);  // chance, and the counters that no head translates
  ASSERT_EQ(claims.size(), 4U);
  EXPECT_EQ(claims[0].fails, "B");
  EXPECT_EQ(claims[1].fails, "");
  EXPECT_EQ(claims[2].fails, "ReachesItsBar");
  EXPECT_EQ(claims[3].fails, kAnyTest);
}

TEST(Claims, RefuseAFindingAtNoLineOfTheFile) {
  const judge::TemporaryFolder folder;
  course::Lab lab;
  lab.id = "03-x";
  lab.stages.resize(1);
  lab.stages[0].number = 1;
  judge::Workplace place;
  place.root = folder.path();
  place.state = folder.path() / "state";
  folder.write("solutions/03-x/wrong/1-a.cu",
               "// 1-a fails B\n// Finds: data race in `tile[y]`\n  tile[x] = 1;\n");
  EXPECT_FALSE(claims_of(lab, place));
  folder.write("solutions/03-x/wrong/1-a.cu",
               "// 1-a fails B\n// Finds: data race in `tile[x]`\n  tile[x] = 1;\n");
  EXPECT_TRUE(claims_of(lab, place)) << "of a line that is there";
}

}  // namespace
}  // namespace membound::authoring
