// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/checker_rerun.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "grader/base/files.hpp"
#include "grader/device_code/checkers/checkers.hpp"
#include "grader/judge/findings.hpp"
#include "grader/judge/profiling_runs.hpp"
#include "grader/judge/student_progress.hpp"
#include "grader/judge/verdict.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;

course::Lab lab_of_one() {
  course::Lab lab;
  lab.id = "04-x";
  lab.stages.resize(1);
  lab.stages[0].number = 3;
  lab.stages[0].kernel = "reduce_tree";
  return lab;
}

course::Lab lab_of_two() {
  course::Lab lab = lab_of_one();
  lab.stages.push_back(lab.stages[0]);
  lab.stages[1].number = 4;
  lab.stages[1].kernel = "other";
  return lab;
}

/// A test program that appends its arguments, a line a start, to the file "arguments", and these
/// lines to its result file.
std::filesystem::path program_that_says(const TemporaryFolder& folder, const std::string& lines) {
  return folder.script("test", "echo \"$@\" >> " + (folder.path() / "arguments").string() + R"(
while [ $# -gt 0 ]; do case $1 in --result) result=$2;; esac; shift; done
echo ')" + lines + "' >> $result");
}

course::StageMeasurement failing(const std::string& test, const std::string& tag) {
  course::StageMeasurement measurement;
  measurement.stage = 3;
  measurement.kernel = "reduce_tree";
  course::TestOutcome outcome;
  outcome.name = test;
  outcome.hint_tag = tag;
  measurement.tests = {outcome};
  return measurement;
}

json report(const char* checker, const char* kind, int line) {
  return {{"checker", checker},         {"kind", kind},
          {"file", "/x/kernel.cu"},     {"line", line},
          {"block", {0, 0, 0}},         {"thread", {5, 0, 0}},
          {"kernel", "_Z4treeIfEvPT_"}, {"text", "what happened"},
          {"advice", "do this"}};
}

TEST(CountBeside, TakesTheCountersOfRightStagesAndNothingElse) {
  const TemporaryFolder folder;
  const course::Lab lab = lab_of_two();
  RunRequest run;
  run.lab = &lab;
  run.scratch_folder = folder.path() / "tmp";
  run.seconds_per_stage = 20;
  run.program = program_that_says(
      folder, R"({"lab":"04-x","stage":3,"abort":"","counters":{"kernels":[]},"seconds":7})");
  std::vector<course::StageMeasurement> measurements = {failing("SumsOneBlock", ""),
                                                        failing("SumsOneBlock", "")};
  measurements[0].tests[0].passed = true;
  measurements[1].stage = 4;
  count_beside(run, "virtual GPU, vgpu:h200", measurements);
  EXPECT_TRUE(measurements[0].counters.is_object());
  EXPECT_EQ(measurements[0].counted_on, "virtual GPU, vgpu:h200");
  EXPECT_EQ(measurements[0].seconds, 0);
  EXPECT_TRUE(measurements[1].counters.is_null());
  EXPECT_EQ(measurements[1].counted_on, "");
  EXPECT_THAT(*base::read_file(folder.path() / "arguments"),
              testing::AllOf(testing::HasSubstr("--gtest_filter=reduce_tree.ReachesItsBar"),
                             testing::Not(testing::HasSubstr("other.")),
                             testing::HasSubstr("--stages 3 ")));
}

TEST(CheckerRerun, FollowsAWrongResult) {
  EXPECT_TRUE(deserves_checker_rerun(lab_of_one(), failing("SumsOneBlock", "one-block")));
}

TEST(CheckerRerun, IsNotTakenAtWhatWasMerelySlowOrNeverRan) {
  const course::Lab lab = lab_of_one();
  EXPECT_FALSE(deserves_checker_rerun(lab, failing("HasTheRightSignature", "wrong-signature")));
  course::StageMeasurement passed = failing("SumsOneBlock", "");
  passed.tests[0].passed = true;
  EXPECT_FALSE(deserves_checker_rerun(lab, passed));
}

TEST(CheckerRerun, AtARightResultRunsTheEasierTestsAndIsNotEndedByTheClock) {
  const course::Lab lab = lab_of_one();
  course::StageMeasurement measurement = failing("SumsOneBlock", "");
  EXPECT_FALSE(may_be_right_by_luck(lab, measurement));
  measurement.tests[0].passed = true;
  measurement.seconds = 60;
  EXPECT_TRUE(may_be_right_by_luck(lab, measurement));
  measurement.tests.insert(measurement.tests.begin(), measurement.tests[0]);
  measurement.tests[0].name = "LaunchesWithinLimits";
  for (const char* name : {"Primes", "SeveralWaves"}) {
    measurement.tests.push_back(measurement.tests[1]);
    measurement.tests.back().name = name;
  }
  RunRequest run;
  run.lab = &lab;
  run.seconds_per_stage = 1200;
  run.more_arguments = {"--size", "64x64"};
  const RunRequest again = checker_rerun(run, measurement);
  EXPECT_THAT(
      again.more_arguments,
      ElementsAre(
          "--size", "64x64", "--look", "--some-blocks",
          "--gtest_filter=reduce_tree.SumsOneBlock:reduce_tree.Primes:reduce_tree.ReachesItsBar"));
  EXPECT_EQ(again.seconds_per_stage, 1200);
  EXPECT_EQ(again.environment.at("MEMBOUND_CHECK"), checkers::checker_names_at_right_results());
  EXPECT_THAT(again.environment, Contains(testing::Key("MEMBOUND_CHECK_BLOCKS")));
  EXPECT_THAT(again.environment, Contains(testing::Key("MEMBOUND_STEP_LIMIT")));
}

TEST(CheckerRerun, AtRightResultsOfSeveralStagesIsOneStart) {
  const TemporaryFolder folder;
  const course::Lab lab = lab_of_two();
  RunRequest run;
  run.lab = &lab;
  run.scratch_folder = folder.path() / "tmp";
  run.seconds_per_stage = 20;
  run.program = program_that_says(
      folder, R"({"lab":"04-x","stage":3,"abort":"","checks":[{"kind":"data race","line":8}]}
{"lab":"04-x","stage":4,"abort":"","checks":[]})");
  std::vector<course::StageMeasurement> right = {failing("SumsOneBlock", ""),
                                                 failing("SumsOneBlock", "")};
  for (course::StageMeasurement& measurement : right) measurement.tests[0].passed = true;
  right[1].stage = 4;
  right[1].kernel = "other";
  rerun_with_checkers(run, {.at_right_results = true}, right);
  EXPECT_EQ(right[0].checks.size(), 1u);
  EXPECT_EQ(right[1].checks.size(), 0u);
  const std::string arguments = *base::read_file(folder.path() / "arguments");
  EXPECT_EQ(std::count(arguments.begin(), arguments.end(), '\n'), 1);
  EXPECT_THAT(arguments, testing::HasSubstr("--stages 3,4 "));
  EXPECT_THAT(arguments, testing::HasSubstr(
                             "--look --some-blocks "
                             "--gtest_filter=reduce_tree.SumsOneBlock:reduce_tree.ReachesItsBar:"
                             "other.SumsOneBlock:other.ReachesItsBar"));
}

TEST(CheckerRerun, AtRightResultsThatDoesNotComeToItsEndIsTakenOnceMoreAndNamed) {
  const TemporaryFolder folder;
  const course::Lab lab = lab_of_one();
  RunRequest run;
  run.lab = &lab;
  run.scratch_folder = folder.path() / "tmp";
  run.seconds_per_stage = 20;
  run.program =
      folder.script("test", "echo >> " + (folder.path() / "starts").string() + "; exit 3");
  std::vector<course::StageMeasurement> right = {failing("SumsOneBlock", "")};
  right[0].tests[0].passed = true;
  rerun_with_checkers(run, {.at_right_results = true}, right);
  EXPECT_EQ(*base::read_file(folder.path() / "starts"), "\n\n");
  EXPECT_THAT(right[0].notes, ElementsAre(testing::HasSubstr("did not come to its end")));
}

TEST(CheckerRerun, AtAProgramNamesItsTestsAsItsTestProgramDoes) {
  const course::Lab lab = lab_of_one();
  RunRequest run;
  run.lab = &lab;
  run.backend = &program_backend();
  EXPECT_THAT(checker_rerun(run, failing("HandsInOneSum", "")).more_arguments,
              ElementsAre("--tests", "HandsInOneSum"));
  course::StageMeasurement lost = failing("RunsWithoutFault", "fault");
  lost.abort = course::Cause::kFault;
  EXPECT_THAT(checker_rerun(run, lost).more_arguments, ElementsAre()) << "all tests";
}

TEST(CheckerRerun, AtRightResultsOfAProgramIsTakenWhileItsTestsRun) {
  const TemporaryFolder folder;
  course::Lab lab = lab_of_one();
  lab.stages[0].kind = &course::kProgramStage;
  RunRequest run;
  run.lab = &lab;
  run.scratch_folder = folder.path() / "tmp";
  const auto started = folder.path() / "started";
  run.program = folder.script("test", "touch " + started.string());
  std::vector<course::StageMeasurement> right = {failing("HandsInOneSum", "")};
  right[0].tests[0].passed = true;
  run.backend = &program_backend();
  rerun_with_checkers(run, {.at_right_results = true}, right);
  EXPECT_FALSE(exists(started)) << "nothing runs once more";
  EXPECT_THAT(run.backend->arguments(run), testing::Not(Contains("--checked-with")));
  run.checked_with = environment_at_right_results();
  EXPECT_THAT(
      run.backend->arguments(run),
      testing::IsSupersetOf({std::string("--checked-with"),
                             "MEMBOUND_CHECK=" + checkers::checker_names_at_right_results()}));
  run.backend = &kernel_backend();
  rerun_with_checkers(run, {.at_right_results = true}, right);
  EXPECT_TRUE(exists(started));
}

TEST(CheckerRerun, AfterAWrongTimedRunLaunchesWhatWasTimed) {
  const course::Lab lab = lab_of_one();
  RunRequest run;
  run.lab = &lab;
  const RunRequest again = checker_rerun(run, failing("ReachesItsBar", "wrong-in-timed-run"));
  EXPECT_THAT(again.more_arguments,
              ElementsAre("--look", "--gtest_filter=reduce_tree.ReachesItsBar"))
      << "all blocks";
  EXPECT_THAT(again.environment.at("MEMBOUND_CHECK"), testing::HasSubstr("initcheck"));
}

TEST(CheckerRerun, InAGradedRunLooksInTheSubmissionsRunner) {
  const course::Lab lab = lab_of_one();
  course::StageMeasurement measurement = failing("SumsOneBlock", "");
  measurement.tests[0].passed = true;
  RunRequest run;
  run.lab = &lab;
  run.sandbox.emplace();
  run.sandbox->runner_environment = {{"MEMBOUND_SMS", "33"}};
  run.sandbox->reference_times = "times.json";
  const RunRequest again = checker_rerun(run, measurement);
  EXPECT_EQ(again.sandbox->runner_environment.at("MEMBOUND_SMS"), "33");
  EXPECT_EQ(again.sandbox->runner_environment.at("MEMBOUND_CHECK"),
            again.environment.at("MEMBOUND_CHECK"));
  EXPECT_EQ(again.sandbox->reference_times, "times.json");
}

// What is found must not depend on how busy the machine is.
TEST(CheckerRerun, IsTakenHoweverLongTheTestsTook) {
  course::StageMeasurement measurement = failing("SumsOneBlock", "one-block");
  measurement.seconds = 60;
  EXPECT_TRUE(deserves_checker_rerun(lab_of_one(), measurement));
}

TEST(CheckerRerun, RunsTheFailedTestAloneWithCheckers) {
  const course::Lab lab = lab_of_one();
  RunRequest run;
  run.lab = &lab;
  run.stages = {1, 2, 3};
  run.more_arguments = {"--counters"};
  const RunRequest again = checker_rerun(run, failing("SumsOneBlock", "one-block"));
  EXPECT_THAT(again.stages, ElementsAre(3));
  EXPECT_THAT(again.more_arguments,
              ElementsAre("--quick", "--gtest_filter=reduce_tree.SumsOneBlock"));
  EXPECT_THAT(again.environment,
              Contains(testing::Pair("MEMBOUND_CHECK", testing::HasSubstr("racecheck"))));
}

TEST(CheckerRerun, RunsAllTestsAfterAFaultWhichHasNoneOfItsOwn) {
  course::StageMeasurement measurement = failing("RunsWithoutFault", "fault");
  measurement.abort = course::Cause::kFault;
  const course::Lab lab = lab_of_one();
  RunRequest run;
  run.lab = &lab;
  EXPECT_THAT(checker_rerun(run, measurement).more_arguments, ElementsAre("--quick"));
}

TEST(CheckerRerun, EndsAtTheSamePlaceEachTime) {
  const course::Lab lab = lab_of_one();
  RunRequest run;
  run.lab = &lab;
  run.seconds_per_stage = 1200;
  const RunRequest again = checker_rerun(run, failing("SumsOneBlock", "one-block"));
  EXPECT_LT(again.seconds_per_stage, run.seconds_per_stage);
  EXPECT_THAT(again.environment, Contains(testing::Pair("MEMBOUND_STEP_LIMIT", "50000000")));
  const RunRequest timed = checker_rerun(run, failing("ReachesItsBar", "wrong-in-timed-run"));
  EXPECT_THAT(timed.environment, Contains(testing::Pair("MEMBOUND_STEP_LIMIT", "200000000")));
}

course::StageMeasurement right_with(const nlohmann::json& found) {
  course::StageMeasurement measurement = failing("SumsOneBlock", "");
  measurement.tests[0].passed = true;
  measurement.checks = {found};
  return measurement;
}

TEST(CheckerFindings, TurnARightResultUnsafe) {
  course::Lab lab = lab_of_one();
  lab.stages[0].points = 20;
  const auto result =
      judge_stage(lab, lab.stages[0], right_with(report("racecheck", "data race", 8)));
  EXPECT_EQ(result.verdict, course::Verdict::kUnsafe);
  EXPECT_FALSE(result.correct);
  EXPECT_EQ(result.points, 0);
  EXPECT_EQ(failed_test(result), "LeavesNothingToLuck");
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].line, 8);
  lab.unsafe.points_share = 0.25;  // not timed: half of the points are for being right
  EXPECT_EQ(judge_stage(lab, lab.stages[0], right_with(report("racecheck", "data race", 8))).points,
            2.5);
}

TEST(CheckerFindings, ThatAreRemarksAreToldAndCostNothing) {
  course::Lab lab = lab_of_one();
  nlohmann::json remark = report("synccheck", "return before a barrier", 8);
  remark["remark"] = true;
  const auto result = judge_stage(lab, lab.stages[0], right_with(remark));
  EXPECT_NE(result.verdict, course::Verdict::kUnsafe);
  EXPECT_TRUE(result.correct);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].kind, course::kRemark);
  EXPECT_EQ(result.findings[0].line, 8);
}

TEST(CheckerFindings, NeverTurnAWrongResult) {
  const course::Lab lab = lab_of_one();
  course::StageMeasurement wrong = failing("SumsOneBlock", "");
  wrong.checks = {report("racecheck", "data race", 8)};
  EXPECT_EQ(judge_stage(lab, lab.stages[0], wrong).verdict, course::Verdict::kWrong);
}

TEST(CheckerFindings, ThatALabAllowsCostNothing) {
  course::Lab lab = lab_of_one();
  const auto measurement = right_with(report("racecheck", "data race", 8));
  const auto verdict = [&] { return judge_stage(lab, lab.stages[0], measurement).verdict; };
  for (const auto& [kind, stage] : {std::pair("data race", 0), std::pair("data race", 3)}) {
    lab.unsafe.allowed = {{kind, stage, "why"}};
    EXPECT_NE(verdict(), course::Verdict::kUnsafe) << kind << stage;
  }
  for (const auto& [kind, stage] :
       {std::pair("data race", 4), std::pair("out of bounds read", 0)}) {
    lab.unsafe.allowed = {{kind, stage, "why"}};
    EXPECT_EQ(verdict(), course::Verdict::kUnsafe) << kind << stage;
  }
}

TEST(CheckerFindings, TellMemoryErrorsFirst) {
  course::StageMeasurement measurement;
  measurement.checks = {report("initcheck", "uninitialised read", 9),
                        report("racecheck", "data race", 8),
                        report("memcheck", "out of bounds read", 7)};
  const auto all = checker_findings(lab_of_one(), measurement, false);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].kind, "memcheck");
  EXPECT_EQ(all[0].line, 7);
  EXPECT_EQ(all[0].text,
            "out of bounds read in tree, block (0, 0, 0), thread (5, 0, 0): what happened");
  EXPECT_EQ(all[0].advice, "do this");
  EXPECT_EQ(all[1].kind, "racecheck");
}

TEST(CheckerFindings, TakeTheLabsHintForTheirKind) {
  course::Lab lab = lab_of_one();
  lab.hints["data-race"] = {"first"};
  course::StageMeasurement measurement;
  measurement.checks = {report("racecheck", "data race", 8)};
  EXPECT_EQ(checker_findings(lab, measurement, false)[0].hint_tag, "data-race");
}

TEST(CheckerFindings, AreNoneWhereNobodyLooked) {
  EXPECT_TRUE(checker_findings(lab_of_one(), {}, false).empty());
}

TEST(CheckerHint, ComesOnceAndBeforeTheLabsOwn) {
  course::Lab lab = lab_of_one();
  lab.hints["one-block"] = {"nudge"};
  StageState state;
  state.last.emplace();
  state.last->verdict = course::Verdict::kWrong;
  course::Finding failed, race;
  failed.hint_tag = "one-block";
  race.kind = "racecheck";
  race.file = "/x/kernel.cu";
  race.line = 8;
  race.text = "data race";
  race.advice = "put __syncthreads() between";
  state.last->findings = {failed, race};
  const auto first = next_hint(lab, lab.stages[0], state);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->text, "kernel.cu:8: data race. Try: put __syncthreads() between.");
  EXPECT_TRUE(first->is_new);
  state.hints_used[first->key] = first->tier;
  EXPECT_EQ(first->number, 1);
  EXPECT_EQ(first->count, 2) << "one count over the checkers' and the lab's own";
  const auto second = next_hint(lab, lab.stages[0], state);
  EXPECT_EQ(second->text, "nudge");
  EXPECT_EQ(second->number, 2);
  EXPECT_EQ(second->count, 2);

  state.last->findings[1].line = 11;
  EXPECT_EQ(next_hint(lab, lab.stages[0], state)->text, "nudge") << "the same, some lines below";
  state.last->findings[1].text = "data race of two other threads";
  EXPECT_THAT(next_hint(lab, lab.stages[0], state)->text, testing::HasSubstr("two other threads"))
      << "a second fault of the same kind has its own hint";
}

// As in a check on a GPU, where nothing is counted: what the compiler says still decides.
TEST(HintOfASlowStage, IsAboutTheLocalMemoryThatWasFoundAndNotTheLabsGuess) {
  course::Lab lab = lab_of_one();
  lab.hints["slow-" + lab.stages[0].name] = {"pad the rows"};
  course::StageMeasurement measurement;
  measurement.stage = 1;
  const std::string speed(to_string(course::BuiltInTest::kSpeed));
  measurement.tests = {{"Works", true, false, "", "", 0},
                       {speed, false, false, "a tenth as fast", "", 0}};
  measurement.timings.resize(1);
  measurement.timings[0].student_ns = {200};
  measurement.timings[0].ratio = 0.1;
  measurement.kernels.resize(1);
  measurement.kernels[0].name = "k";
  measurement.kernels[0].local_bytes = 64;
  StageState state;
  state.last = judge_stage(lab, lab.stages[0], measurement);
  ASSERT_EQ(state.last->verdict, course::Verdict::kSlow);
  const auto first = next_hint(lab, lab.stages[0], state);
  ASSERT_TRUE(first);
  EXPECT_THAT(first->text,
              testing::HasSubstr("registers. Try: index such an array with constants"));
  state.hints_used[first->key] = first->tier;
  EXPECT_EQ(next_hint(lab, lab.stages[0], state)->text, "pad the rows");
}

TEST(HintOfAFault, IsNoGuessAboutAddressesWhereAnAssertFailed) {
  course::Lab lab = lab_of_one();
  lab.hints["fault"] = {"which address?"};
  course::StageMeasurement measurement;
  measurement.stage = 1;
  const std::string fault(to_string(course::BuiltInTest::kFault));
  measurement.tests = {
      {fault, false, false, "cudaErrorAssert: kernel.cu:5: `i < n` failed.", "", 0}};
  measurement.abort = course::Cause::kFault;
  StageState state;
  state.last = judge_stage(lab, lab.stages[0], measurement);
  auto hint = next_hint(lab, lab.stages[0], state);
  ASSERT_TRUE(hint) << base::to_string(hint.error());
  EXPECT_THAT(hint->text, testing::HasSubstr("`i < n` failed. Try: find the threads"));
  EXPECT_EQ(hint->count, 1);

  measurement.tests[0].message = "cudaErrorIllegalAddress: an illegal memory access";
  state.last = judge_stage(lab, lab.stages[0], measurement);
  hint = next_hint(lab, lab.stages[0], state);
  ASSERT_TRUE(hint) << base::to_string(hint.error());
  EXPECT_EQ(hint->text, "which address?");
}

}  // namespace
}  // namespace membound::judge
