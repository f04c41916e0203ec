// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/student_progress.hpp"

#include <gmock/gmock.h>

#include "grader/base/files.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

course::Result result_with(course::Verdict verdict, double points) {
  course::Result result;
  result.lab = "01-x";
  result.created_at = "2026-01-02T03:04:05Z";
  course::StageResult stage;
  stage.lab = "01-x";
  stage.stage = 2;
  stage.verdict = verdict;
  stage.points = points;
  stage.findings = {{"failed-test", "", "edge-guard", "", "", 0}};
  stage.timings.resize(1);
  stage.timings[0].student_ns = {1, 2, 3};
  result.stages = {stage};
  return result;
}

TEST(State, RemembersTheLastResultAndTheBest) {
  const TemporaryFolder folder;
  const StateFolder states(folder.path());
  EXPECT_FALSE(states.read("01-x", 2).last);
  ASSERT_TRUE(states.remember(result_with(course::Verdict::kPassed, 20)));
  ASSERT_TRUE(states.remember(result_with(course::Verdict::kWrong, 0)));
  const StageState state = states.read("01-x", 2);
  ASSERT_TRUE(state.last);
  EXPECT_EQ(state.last->verdict, course::Verdict::kWrong);
  EXPECT_TRUE(state.last->timings[0].student_ns.empty());
  EXPECT_TRUE(state.ever_passed);
  EXPECT_EQ(state.best_points, 20);
  EXPECT_EQ(state.checked_at, "2026-01-02T03:04:05Z");
}

/// A check of a stage that is limited by operations: 64 a request of `sectors` sectors.
course::Result check_of_a_product(double sectors) {
  course::Result result = result_with(course::Verdict::kPassed, 20);
  course::StageResult& stage = result.stages[0];
  stage.device = "vgpu:h200";
  stage.bound = course::Bound::kOperations;
  stage.speed = 5e12;
  stage.ceiling = 60e12;
  stage.timings[0].label = "64 x 64";
  stage.timings[0].useful_operations = 6400;
  course::KernelProfile kernel;
  kernel.label = "64 x 64";
  kernel.launches = 2;
  kernel.dram_bytes = 8000;
  kernel.bounds = {{"DRAM bandwidth", 2}};
  stage.profiles = {kernel};
  stage.source_lines = {{"kernel.cu", 3, "", "load", "sectors", 200, sectors, 1},
                        {"kernel.cu", 4, "", "store", "sectors", 900, 4, 4}};
  return result;
}

TEST(State, RemembersTheWayOnTheRooflineOnceForEachThingThatWasNew) {
  const TemporaryFolder folder;
  const StateFolder states(folder.path());
  for (const double sectors : {4, 4, 1}) ASSERT_TRUE(states.remember(check_of_a_product(sectors)));
  const std::vector<course::RooflineDot> dots = states.read("01-x", 2).history;
  ASSERT_EQ(dots.size(), 2U);
  EXPECT_EQ(dots[0].device, "vgpu:h200");
  EXPECT_DOUBLE_EQ(dots[0].operations_per_byte, 0.5);  // 2 launches of 6,400 by 200 * 4 * 32 bytes
  EXPECT_DOUBLE_EQ(dots[1].operations_per_byte, 2);
  EXPECT_DOUBLE_EQ(dots[1].operations_per_second, 5e12);
  EXPECT_DOUBLE_EQ(dots[1].roof, 60e12);
  EXPECT_DOUBLE_EQ(dots[1].bytes_per_second, 4e12);
}

TEST(State, HasNoDotForWhatIsLimitedByBandwidth) {
  const TemporaryFolder folder;
  const StateFolder states(folder.path());
  course::Result copy = check_of_a_product(4);
  copy.stages[0].bound = course::Bound::kBandwidth;
  ASSERT_TRUE(states.remember(copy));
  EXPECT_TRUE(states.read("01-x", 2).history.empty());
}

TEST(State, KeepsTheLastChecksAlone) {
  const TemporaryFolder folder;
  const StateFolder states(folder.path());
  for (int sectors = 1; sectors <= 20; ++sectors)
    ASSERT_TRUE(states.remember(check_of_a_product(sectors)));
  const std::vector<course::RooflineDot> dots = states.read("01-x", 2).history;
  ASSERT_EQ(dots.size(), 16U);
  EXPECT_DOUBLE_EQ(dots.back().operations_per_byte, 0.1);
}

TEST(State, RemembersTheSameWhetherOrNotAPageWasMade) {
  const TemporaryFolder folder;
  const StateFolder states(folder.path());
  course::Result traced = result_with(course::Verdict::kPassed, 20);
  course::KernelProfile profile;
  profile.name = "stage";
  traced.stages[0].profiles = {profile};
  ASSERT_TRUE(states.remember(traced));
  const auto plain = base::read_file(folder.path() / "01-x" / "2.json");
  profile.accesses.resize(2);
  profile.traced_block = {1, 2, 3};
  profile.traced_warp = 4;
  profile.traced_label = "64 x 64";
  traced.stages[0].profiles = {profile};
  ASSERT_TRUE(states.remember(traced));
  EXPECT_EQ(*base::read_file(folder.path() / "01-x" / "2.json"), *plain);
}

TEST(State, RemembersTheCompilerOfTheLastCheck) {
  const TemporaryFolder folder;
  const StateFolder states(folder.path());
  course::Result result = result_with(course::Verdict::kPassed, 20);
  result.compiler = "clang 14.0.6";
  ASSERT_TRUE(states.remember(result));
  EXPECT_EQ(states.read("01-x", 2).compiler, "clang 14.0.6");
}

TEST(State, KeepsHintsWhenAResultIsRemembered) {
  const TemporaryFolder folder;
  const StateFolder states(folder.path());
  StageState state;
  state.hints_used["edge-guard"] = 2;
  ASSERT_TRUE(states.write("01-x", 2, state));
  ASSERT_TRUE(states.remember(result_with(course::Verdict::kWrong, 0)));
  EXPECT_EQ(states.read("01-x", 2).hints_used.at("edge-guard"), 2);
}

TEST(State, StartsAnewWhenTheFileIsBroken) {
  const TemporaryFolder folder;
  const StateFolder states(folder.path());
  for (const char* text : {"", "{", "[]", "{\"last\": {}}", "{\"hints_used\": 3}"}) {
    folder.write("01-x/2.json", text);
    EXPECT_FALSE(states.read("01-x", 2).last) << text;
  }
  ASSERT_TRUE(states.remember(result_with(course::Verdict::kPassed, 1)));
  EXPECT_TRUE(states.read("01-x", 2).last);
}

TEST(State, ForgetsAStageUntilItIsBroughtBack) {
  const TemporaryFolder folder;
  const StateFolder states(folder.path() / "state");
  ASSERT_TRUE(states.remember(result_with(course::Verdict::kPassed, 1)));
  states.forget("01-x", 2);
  EXPECT_FALSE(states.read("01-x", 2).last);
  states.bring_back("01-x", 2);
  EXPECT_EQ(states.read("01-x", 2).best_points, 1);

  states.forget("01-x", 2);
  ASSERT_TRUE(states.remember(result_with(course::Verdict::kPassed, 5)));
  states.bring_back("01-x", 2);
  EXPECT_EQ(states.read("01-x", 2).best_points, 5);
}

TEST(State, SaysWhyItCannotBeWritten) {
  EXPECT_FALSE(StateFolder("/proc/membound").remember(result_with(course::Verdict::kPassed, 1)));
}

course::Lab lab_with_hints() {
  course::Lab lab;
  lab.id = "01-x";
  lab.hints["edge-guard"] = {"nudge", "where", "line"};
  lab.stages.resize(1);
  lab.stages[0].number = 2;
  return lab;
}

TEST(Hint, GoesOneTierFurtherEachTime) {
  const course::Lab lab = lab_with_hints();
  StageState state;
  state.last = result_with(course::Verdict::kWrong, 0).stages[0];
  for (const char* text : {"nudge", "where", "line"}) {
    const auto hint = next_hint(lab, lab.stages[0], state);
    ASSERT_TRUE(hint);
    EXPECT_EQ(hint->text, text);
    EXPECT_TRUE(hint->is_new);
    state.hints_used[hint->key] = hint->tier;
  }
  const auto again = next_hint(lab, lab.stages[0], state);
  EXPECT_EQ(again->text, "line");
  EXPECT_FALSE(again->is_new);
}

TEST(Hint, TellsOfSpeedWhereAPassedStageHasNotAllPoints) {
  course::Lab lab = lab_with_hints();
  lab.hints["slow-x"] = {"several loads in flight"};
  lab.stages[0].name = "x";
  lab.stages[0].points = 30;
  StageState state;
  state.last = result_with(course::Verdict::kPassed, 27.95).stages[0];
  EXPECT_EQ(next_hint(lab, lab.stages[0], state)->text, "several loads in flight");
  state.last->points = 30;
  EXPECT_FALSE(next_hint(lab, lab.stages[0], state));
}

TEST(Hint, AStageIsToldItsOwnPartOfATier) {
  const std::string tier =
      "Count. Stage 1: k | 1. Stages 2, 3 and 5: bytes, as in stage 1. Stage 12: x.";
  EXPECT_EQ(hint_for_stage(tier, 1), "Count. k | 1.");
  EXPECT_EQ(hint_for_stage(tier, 3), "Count. bytes, as in stage 1.");
  EXPECT_EQ(hint_for_stage(tier, 5), "Count. bytes, as in stage 1.");
  EXPECT_EQ(hint_for_stage(tier, 2), "Count. bytes, as in stage 1.");
  EXPECT_EQ(hint_for_stage(tier, 4), "Count.");
  EXPECT_EQ(hint_for_stage("Look at the loop of stage 2: it ends.", 3),
            "Look at the loop of stage 2: it ends.");
}

TEST(Hint, SaysWhyThereIsNone) {
  const course::Lab lab = lab_with_hints();
  StageState state;
  EXPECT_THAT(next_hint(lab, lab.stages[0], state).error().advice, "membound check 01-x/2");
  state.last = result_with(course::Verdict::kPassed, 0).stages[0];
  EXPECT_THAT(next_hint(lab, lab.stages[0], state).error().found, testing::HasSubstr("passed"));
  state.last = result_with(course::Verdict::kFault, 0).stages[0];
  state.last->findings.clear();
  EXPECT_THAT(next_hint(lab, lab.stages[0], state).error().found, testing::HasSubstr("fault"));
}

}  // namespace
}  // namespace membound::judge
