// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/verdict.hpp"

#include <gtest/gtest.h>

#include "grader/judge/student_progress.hpp"

namespace membound::judge {
namespace {

using course::StageMeasurement;
using course::TestOutcome;
using course::Timing;
using course::Verdict;

course::Lab lab_with(const std::vector<std::string>& tags) {
  course::Lab lab;
  lab.id = "03-transpose";
  course::Stage stage;
  stage.number = 1;
  stage.name = "tiled";
  stage.kernel = "transpose_tiled";
  stage.points = 20;
  stage.pass_ratio = 0.75;
  stage.full_ratio = 0.90;
  lab.stages = {stage};
  for (const std::string& tag : tags) lab.hints[tag] = {"a", "b", "c"};
  return lab;
}

TestOutcome passed(const std::string& name) { return {name, true, false, "", "", 0}; }
TestOutcome failed(const std::string& name, const std::string& tag = "") {
  return {name, false, false, "message of " + name, tag, 0};
}
TestOutcome skipped(const std::string& name) { return {name, false, true, "", "", 0}; }

Timing timing(double low, double ratio, double high) {
  Timing timing;
  timing.useful_bytes = 1000;
  timing.student_median_ns = 1000 / ratio;
  timing.reference_median_ns = 1000;
  timing.student_ns = {1, 2, 3};
  timing.ratio = ratio;
  timing.ratio_low = low;
  timing.ratio_high = high;
  return timing;
}

StageMeasurement measured(std::vector<TestOutcome> tests, std::vector<Timing> timings = {}) {
  StageMeasurement measurement;
  measurement.lab = "03-transpose";
  measurement.stage = 1;
  measurement.tests = std::move(tests);
  measurement.timings = std::move(timings);
  return measurement;
}

struct Row {
  const char* what;
  StageMeasurement measurement;
  Verdict verdict;
  bool correct;
  double points;
  const char* failed_test;
};

std::vector<Row> table() {
  const auto good = {passed("HasTheRightSignature"), passed("A")};
  StageMeasurement fault = measured({passed("A"), failed("RunsWithoutFault", "fault")});
  fault.abort = course::Cause::kFault;
  StageMeasurement wrong_then_fault = measured({failed("B"), failed("RunsWithoutFault", "fault")});
  wrong_then_fault.abort = course::Cause::kFault;
  StageMeasurement hang = measured({failed("FinishesInTime", "timeout")});
  hang.abort = course::Cause::kTimeout;
  StageMeasurement silent = measured({});
  silent.abort = course::Cause::kTimeout;
  StageMeasurement crash = measured({passed("A")});
  crash.abort = course::Cause::kCrash;
  Timing impossible = timing(3, 3, 3);
  impossible.suspicious = true;
  Timing wrong_run = timing(1, 1, 1);
  wrong_run.runs_wrong = 2;
  StageMeasurement not_all_known = measured(good, {timing(0.99, 1, 1.01)});
  not_all_known.no_full_points = "to compute all of them was given up";
  StageMeasurement lucky = measured(good, {timing(1, 1, 1)});
  lucky.checks = {{{"checker", "racecheck"}, {"kind", "data race"}, {"text", "two threads"}}};
  StageMeasurement slow_and_lucky = measured(good, {timing(0.5, 0.5, 0.5)});
  slow_and_lucky.checks = lucky.checks;
  return {
      {"right by luck", lucky, Verdict::kUnsafe, false, 0, "LeavesNothingToLuck"},
      {"slow, and right by luck", slow_and_lucky, Verdict::kUnsafe, false, 0,
       "LeavesNothingToLuck"},
      {"at the bar for all points", measured(good, {timing(0.89, 0.90, 0.91)}), Verdict::kPassed,
       true, 20, ""},
      {"faster than the reference", measured(good, {timing(1.1, 1.2, 1.3)}), Verdict::kPassed, true,
       20, ""},
      {"between the bars", measured(good, {timing(0.80, 0.81, 0.82)}), Verdict::kPassed, true, 19,
       ""},
      {"interval ends at the bar", measured(good, {timing(0.75, 0.8, 0.85)}), Verdict::kPassed,
       true, 10 + 10 * 0.8 / 0.9, ""},
      {"fast, and not all results are known", not_all_known, Verdict::kPassed, true,
       10 + 10 * 0.75 / 0.9, ""},
      {"interval around the bar", measured(good, {timing(0.74, 0.76, 0.78)}), Verdict::kAmbiguous,
       true, 10 + 10 * 0.76 / 0.9, "ReachesItsBar"},
      {"below the bar",
       measured({passed("A"), failed("ReachesItsBar", "slow")}, {timing(0.70, 0.72, 0.74)}),
       Verdict::kSlow, true, 10, "ReachesItsBar"},
      {"the slowest case decides", measured(good, {timing(1, 1, 1), timing(0.5, 0.5, 0.5)}),
       Verdict::kSlow, true, 10, "ReachesItsBar"},
      {"no interval", measured(good, {timing(0, 0.8, 0)}), Verdict::kPassed, true,
       10 + 10 * 0.8 / 0.9, ""},
      {"wrong", measured({passed("A"), failed("B"), failed("C")}), Verdict::kWrong, false, 0, "B"},
      {"wrong and fast", measured({failed("B")}, {timing(1, 1, 1)}), Verdict::kWrong, false, 0,
       "B"},
      {"right, and not as asked",
       measured({passed("A"), passed("LaunchesItsKernel"), failed("UsesItsStreams", "streams")}),
       Verdict::kNotAsAsked, false, 0, "UsesItsStreams"},
      {"wrong, and not as asked", measured({failed("B"), failed("UsesItsStreams", "streams")}),
       Verdict::kWrong, false, 0, "B"},
      {"a tag of the lab called fault", measured({failed("B", "fault")}), Verdict::kWrong, false, 0,
       "B"},
      {"wrong in a timed run",
       measured({failed("ReachesItsBar", "wrong-in-timed-run")}, {wrong_run}), Verdict::kWrong,
       false, 0, "ReachesItsBar"},
      {"no kernel", measured({failed("HasTheRightSignature", "missing-kernel"), skipped("A")}),
       Verdict::kMissingKernel, false, 0, "HasTheRightSignature"},
      {"other parameters", measured({failed("HasTheRightSignature", "wrong-signature")}),
       Verdict::kWrongSignature, false, 0, "HasTheRightSignature"},
      {"an illegal launch", measured({failed("LaunchesWithinLimits", "illegal-launch")}),
       Verdict::kIllegalLaunch, false, 0, "LaunchesWithinLimits"},
      {"an illegal launch in a test", measured({failed("B", "illegal-launch")}),
       Verdict::kIllegalLaunch, false, 0, "B"},
      {"a fault", fault, Verdict::kFault, false, 0, "RunsWithoutFault"},
      {"wrong, and a fault later", wrong_then_fault, Verdict::kWrong, false, 0, "B"},
      {"silence", silent, Verdict::kTimeout, false, 0, "FinishesInTime"},
      {"a launch without end", hang, Verdict::kTimeout, false, 0, "FinishesInTime"},
      {"our program died", crash, Verdict::kInfraError, false, 0, ""},
      {"faster than the device", measured(good, {impossible}), Verdict::kSuspicious, false, 0,
       "ReachesItsBar"},
      {"nothing ran", measured({skipped("A")}), Verdict::kSkipped, false, 0, ""},
      {"right, and not timed", measured(good), Verdict::kSkipped, true, 10, ""},
  };
}

TEST(Verdict, FollowsTheTable) {
  const course::Lab lab = lab_with({});
  for (const Row& row : table()) {
    SCOPED_TRACE(row.what);
    const auto result = judge_stage(lab, lab.stages[0], row.measurement);
    EXPECT_EQ(course::to_string(result.verdict), course::to_string(row.verdict));
    EXPECT_EQ(result.correct, row.correct);
    EXPECT_DOUBLE_EQ(result.points, row.points);
    EXPECT_EQ(failed_test(result), row.failed_test);
  }
}

TEST(Verdict, GivesPointsInProportionFromThePassRatioOn) {
  const course::Stage stage = lab_with({}).stages[0];
  EXPECT_DOUBLE_EQ(points_for(stage, 0), 10);
  EXPECT_DOUBLE_EQ(points_for(stage, 0.7499), 10);
  EXPECT_DOUBLE_EQ(points_for(stage, 0.75), 10 + 10 * 0.75 / 0.9);
  EXPECT_DOUBLE_EQ(points_for(stage, 0.9), 20);
  EXPECT_DOUBLE_EQ(points_for(stage, 5), 20);
  EXPECT_DOUBLE_EQ(points_for(stage, std::numeric_limits<double>::quiet_NaN()), 10);
}

TEST(Verdict, NeverFallsAsTheRatioRises) {
  const course::Stage stage = lab_with({}).stages[0];
  for (double ratio = 0; ratio < 2; ratio += 0.001)
    EXPECT_LE(points_for(stage, ratio), points_for(stage, ratio + 0.001)) << ratio;
}

TEST(Verdict, CountsInBytesOrOperationsPerSecond) {
  course::Lab lab = lab_with({});
  Timing one = timing(1, 1, 1);
  one.useful_operations = 5000;
  EXPECT_DOUBLE_EQ(*judge_stage(lab, lab.stages[0], measured({passed("A")}, {one})).speed, 1e9);
  lab.stages[0].bound = course::Bound::kOperations;
  EXPECT_DOUBLE_EQ(*judge_stage(lab, lab.stages[0], measured({passed("A")}, {one})).speed, 5e9);
}

struct HintRow {
  const char* what;
  std::vector<std::string> known;
  StageMeasurement measurement;
  const char* tag;
};

StageMeasurement slow(const nlohmann::json& counters = nullptr) {
  auto measurement =
      measured({passed("A"), failed("ReachesItsBar", "slow")}, {timing(0.5, 0.5, 0.5)});
  measurement.counters = counters;
  return measurement;
}

nlohmann::json bank_conflicts() {
  return {{"kernels",
           {{{"name", "transpose_tiled"},
             {"lines",
              {{{"file", "kernel.cu"},
                {"line", 24},
                {"counters",
                 {{"shared_load_requests", 10},
                  {"shared_load_wavefronts", 320},
                  {"shared_load_ideal_wavefronts", 10}}}}}}}}}};
}

TEST(Verdict, ChoosesTheHintThatFitsTheFault) {
  StageMeasurement fault = measured({failed("RunsWithoutFault", "edge-guard")});
  fault.abort = course::Cause::kFault;
  const std::vector<HintRow> rows = {
      {"the failed test's own",
       {"edge-guard", "slow"},
       measured({failed("B", "edge-guard")}),
       "edge-guard"},
      {"only the first failed test's",
       {"one", "two"},
       measured({failed("B", "one"), failed("C", "two")}),
       "one"},
      {"a tag nobody wrote hints for", {"slow"}, measured({failed("B", "edge-guard")}), ""},
      {"the fault before the test", {"fault", "edge-guard"}, fault, "fault"},
      {"the test where there is none for the fault", {"edge-guard"}, fault, "edge-guard"},
      {"this stage's own for slowness",
       {"slow", "slow-tiled", "bank-conflicts"},
       slow(bank_conflicts()),
       "slow-tiled"},
      {"the measured waste before the general one",
       {"slow", "bank-conflicts"},
       slow(bank_conflicts()),
       "bank-conflicts"},
      {"the general one", {"slow"}, slow(), "slow"},
      {"none", {}, slow(), ""},
  };
  for (const HintRow& row : rows) {
    SCOPED_TRACE(row.what);
    const course::Lab lab = lab_with(row.known);
    EXPECT_EQ(hint_tag(judge_stage(lab, lab.stages[0], row.measurement)), row.tag);
  }
}

TEST(Verdict, SaysNothingOfWasteThatTheReferenceSharesOrOnAPassedStage) {
  const course::Lab lab = lab_with({"slow", "bank-conflicts"});
  nlohmann::json both = bank_conflicts();
  both["reference"] = bank_conflicts();
  EXPECT_EQ(hint_tag(judge_stage(lab, lab.stages[0], slow(both))), "slow");
  auto fast = measured({passed("A")}, {timing(1, 1, 1)});
  fast.counters = bank_conflicts();
  const auto result = judge_stage(lab, lab.stages[0], fast);
  EXPECT_TRUE(result.findings.empty());
  ASSERT_EQ(result.source_lines.size(), 1u);
  EXPECT_EQ(result.source_lines[0].per_request, 32);
}

TEST(Verdict, ExplainsAStageThatCouldNotRun) {
  const course::Lab lab = lab_with({"compile"});
  const auto result = not_run(lab, lab.stages[0], Verdict::kCompileError, "a ';' is missing");
  EXPECT_EQ(failed_test(result), "Compiles");
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].text, "a ';' is missing");
  EXPECT_EQ(result.findings[0].hint_tag, "compile");
  EXPECT_EQ(result.max_points, 20);
}

}  // namespace
}  // namespace membound::judge
