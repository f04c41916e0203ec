// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/verdict.hpp"

#include <gmock/gmock.h>

namespace membound::judge {
namespace {

using course::CounterBar;
using course::StageMeasurement;
using course::Verdict;
using nlohmann::json;

course::Lab lab_with_bar(CounterBar bar) {
  course::Lab lab;
  lab.id = "08-local-memory";
  course::Stage stage;
  stage.number = 1;
  stage.points = 20;
  stage.counters = {std::move(bar)};
  lab.stages = {stage};
  lab.hints["local-memory"] = {"a", "b", "c"};
  return lab;
}

json counted_kernel(const char* name, json counters, json lines = json::array()) {
  return {{"name", name}, {"counters", std::move(counters)}, {"lines", std::move(lines)}};
}

/// Right, and as fast as the reference answer, on 8 multiprocessors.
StageMeasurement counted(const std::vector<json>& kernels) {
  StageMeasurement measurement;
  measurement.stage = 1;
  measurement.device.sm_count = 8;
  measurement.device.virtual_name = "vgpu:h200";
  measurement.tests = {{"A", true, false, "", "", 0}, {"ReachesItsBar", true, false, "", "", 0}};
  course::Timing timing;
  timing.ratio = timing.ratio_low = timing.ratio_high = 1;
  measurement.timings = {timing};
  measurement.counters["kernels"] = kernels;
  return measurement;
}

std::string missed(const CounterBar& bar, const std::vector<json>& kernels) {
  const course::Lab lab = lab_with_bar(bar);
  const auto finding = missed_counter_bar(lab, lab.stages[0], counted(kernels));
  return finding ? finding->text : "nothing";
}

const CounterBar kNoLocalLoads = {"local_load_requests", 0, "", "local-memory"};

TEST(CounterBars, ACountAboveItsBarIsTold) {
  EXPECT_EQ(missed(kNoLocalLoads, {counted_kernel("_Z1fPi", {{"local_load_requests", 3}})}),
            "f takes 3 local load requests in the timed run; this stage allows 0.");
  EXPECT_EQ(missed(kNoLocalLoads, {counted_kernel("_Z1fPi", {{"local_load_requests", 0}})}),
            "nothing");
}

TEST(CounterBars, TheSharedMemoryOfABlockIsKnownOnEveryDevice) {
  const CounterBar bar = {std::string(kSharedBytesOfABlock), 4096, "", ""};
  const course::Lab lab = lab_with_bar(bar);
  StageMeasurement measurement = counted({});
  measurement.counters = nullptr;  // as on a GPU
  course::KernelFacts facts;
  facts.name = "f";
  facts.static_shared_bytes = 4000;
  facts.dynamic_shared_bytes = 96;
  measurement.kernels = {facts};
  EXPECT_EQ(missed_counter_bar(lab, lab.stages[0], measurement), std::nullopt);
  measurement.kernels[0].dynamic_shared_bytes = 224;
  const auto finding = missed_counter_bar(lab, lab.stages[0], measurement);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->text, "A block of f has 4224 bytes of shared memory; this stage allows 4096.");
  const auto result = judge_stage(lab, lab.stages[0], measurement);
  EXPECT_EQ(result.verdict, Verdict::kOverBudget);
}

TEST(CounterBars, AQuotientIsHeldAgainstItsBar) {
  const CounterBar bar = {"shared_wavefronts", 1, "ideal_shared_wavefronts", ""};
  EXPECT_EQ(missed(bar, {counted_kernel(
                            "f", {{"shared_wavefronts", 329}, {"ideal_shared_wavefronts", 100}})}),
            "f takes 3.29 shared wavefronts for each of its ideal shared wavefronts in the timed "
            "run; this stage allows 1.");
  EXPECT_EQ(missed(bar, {counted_kernel(
                            "f", {{"shared_wavefronts", 100}, {"ideal_shared_wavefronts", 100}})}),
            "nothing");
  EXPECT_EQ(missed(bar, {counted_kernel("f", {{"shared_wavefronts", 0}})}), "nothing");
}

TEST(CounterBars, CompareWhatThePtxHasSoThatNoVerdictHangsOnTheMachineCode) {
  const CounterBar bar = {"shared_load_requests", 100, "", ""};
  EXPECT_EQ(missed(bar, {counted_kernel("f", {{"shared_load_requests", 30},
                                              {"ptx_shared_load_requests", 120}})}),
            "f takes 120 shared load requests in the timed run; this stage allows 100.");
  EXPECT_EQ(missed(bar, {counted_kernel("f", {{"shared_load_requests", 120},
                                              {"ptx_shared_load_requests", 90}})}),
            "nothing");
}

TEST(CounterBars, ThreadsAreCountedForEachMultiprocessor) {
  const CounterBar bar = {"threads", 512, "multiprocessors", ""};
  EXPECT_EQ(missed(bar, {counted_kernel("f", {{"threads", 8 * 512 + 8}})}),
            "f takes 513 threads for each of the multiprocessors in the timed run; this stage "
            "allows 512.");
  EXPECT_EQ(missed(bar, {counted_kernel("f", {{"threads", 8 * 512}})}), "nothing");
}

TEST(CounterBars, EveryKernelButTheHarnesssOwnIsHeldAgainstThem) {
  EXPECT_EQ(missed(kNoLocalLoads, {counted_kernel("membound_fill", {{"local_load_requests", 9}}),
                                   counted_kernel("first", {{"local_load_requests", 0}}),
                                   counted_kernel("_Z6secondv", {{"local_load_requests", 2}})}),
            "second takes 2 local load requests in the timed run; this stage allows 0.");
}

TEST(CounterBars, TheWorstLineIsNamed) {
  const json lines = {
      {{"file", "kernel.cu"}, {"line", 7}, {"counters", {{"local_load_requests", 1}}}},
      {{"file", "kernel.cu"}, {"line", 9}, {"counters", {{"local_load_requests", 5}}}},
      "no line"};
  const course::Lab lab = lab_with_bar(kNoLocalLoads);
  const auto finding = missed_counter_bar(
      lab, lab.stages[0], counted({counted_kernel("f", {{"local_load_requests", 6}}, lines)}));
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->file, "kernel.cu");
  EXPECT_EQ(finding->line, 9);
  EXPECT_EQ(finding->hint_tag, "local-memory");
}

TEST(CounterBars, ARealGpuCountsNothingAndMeetsThem) {
  const course::Lab lab = lab_with_bar(kNoLocalLoads);
  StageMeasurement measurement = counted({});
  measurement.counters = nullptr;
  EXPECT_FALSE(missed_counter_bar(lab, lab.stages[0], measurement));
}

TEST(CounterBars, WhatTheVirtualGpuCountedBesideARealOneExplainsAndMissesNoBar) {
  const course::Lab lab = lab_with_bar(kNoLocalLoads);
  StageMeasurement measurement = counted({counted_kernel("_Z1fPi", {{"local_load_requests", 3}})});
  EXPECT_EQ(judge_stage(lab, lab.stages[0], measurement).verdict, Verdict::kOverBudget);
  measurement.counted_on = "virtual GPU, vgpu:h200";
  const course::StageResult result = judge_stage(lab, lab.stages[0], measurement);
  EXPECT_EQ(result.verdict, Verdict::kPassed);
  for (const course::TestOutcome& test : result.tests) EXPECT_NE(test.name, "KeepsItsBudget");
}

TEST(CounterBars, AFastKernelOverItsBudgetDoesNotPass) {
  const course::Lab lab = lab_with_bar(kNoLocalLoads);
  const auto result =
      judge_stage(lab, lab.stages[0], counted({counted_kernel("f", {{"local_load_requests", 6}})}));
  EXPECT_EQ(result.verdict, Verdict::kOverBudget);
  EXPECT_TRUE(result.correct);
  EXPECT_EQ(result.points, 10) << "for being right";
  EXPECT_EQ(failed_test(result), "KeepsItsBudget");
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].kind, "over-budget");
}

TEST(CounterBars, ASlowKernelOverItsBudgetIsToldOfTheBudget) {
  const course::Lab lab = lab_with_bar(kNoLocalLoads);
  StageMeasurement measurement = counted({counted_kernel("f", {{"local_load_requests", 6}})});
  measurement.tests.back().passed = false;
  measurement.timings[0].ratio = measurement.timings[0].ratio_low =
      measurement.timings[0].ratio_high = 0.3;
  const auto result = judge_stage(lab, lab.stages[0], measurement);
  EXPECT_EQ(result.verdict, Verdict::kOverBudget);
  EXPECT_EQ(failed_test(result), "KeepsItsBudget");
}

TEST(CounterBars, AWrongKernelIsWrongFirst) {
  const course::Lab lab = lab_with_bar(kNoLocalLoads);
  StageMeasurement measurement = counted({counted_kernel("f", {{"local_load_requests", 6}})});
  measurement.tests[0].passed = false;
  const auto result = judge_stage(lab, lab.stages[0], measurement);
  EXPECT_EQ(result.verdict, Verdict::kWrong);
  EXPECT_EQ(failed_test(result), "A");
}

TEST(CounterBars, AKernelWithinItsBudgetPassesTheTest) {
  const course::Lab lab = lab_with_bar(kNoLocalLoads);
  const auto result =
      judge_stage(lab, lab.stages[0], counted({counted_kernel("f", {{"local_load_requests", 0}})}));
  EXPECT_TRUE(result.passed());
  ASSERT_EQ(result.tests.size(), 3U);
  EXPECT_EQ(result.tests[1].name, "KeepsItsBudget");
  EXPECT_TRUE(result.tests[1].passed);
}

std::optional<double> answer_to(course::Question question, const std::vector<json>& kernels) {
  course::Stage stage;
  stage.question = std::move(question);
  return counted_answer(stage, counted(kernels));
}

TEST(Questions, AreAnsweredFromTheKernelsOfTheFirstCase) {
  json floats =
      counted_kernel("_Z1fPi", {{"global_load_sectors", 40}, {"global_load_requests", 10}});
  json doubles =
      counted_kernel("_Z1gPi", {{"global_load_sectors", 80}, {"global_load_requests", 10}});
  floats["case"] = "float";
  doubles["case"] = "double";
  const course::Question sectors = {"?", "sectors", "global_load_sectors", "global_load_requests"};
  EXPECT_EQ(answer_to(sectors, {floats, doubles}), 4);
  EXPECT_EQ(answer_to({"?", "sectors", "global_load_sectors", ""}, {floats, floats}), 80);
  EXPECT_EQ(answer_to({"?", "sectors", "global_load_sectors", "multiprocessors"}, {floats}), 5);
}

// nvcc knows the address as global memory's and makes a reduction, clang has an atomic operation.
TEST(Questions, AboutAtomicOperationsHaveOneAnswerForEveryCompiler) {
  const course::Question question = {"?", "requests", "reduction_requests", "blocks"};
  for (const char* made : {"atomic_requests", "reduction_requests"})
    EXPECT_EQ(answer_to(question, {counted_kernel("_Z1fPi", {{made, 16}, {"blocks", 2}})}), 8)
        << made;
}

TEST(Questions, AboutAProgramAreAnsweredFromItsRun) {
  course::Stage stage;
  stage.kind = &course::kProgramStage;
  stage.question = {"?", "percent", "copy_time_percent", ""};
  StageMeasurement measurement;
  EXPECT_EQ(counted_answer(stage, measurement), std::nullopt);
  measurement.counters = {{"program", {{"copy_time_percent", 12.5}}}};
  EXPECT_EQ(counted_answer(stage, measurement), 12.5);
}

TEST(Questions, StayOpenWhereNothingIsCountedOrNothingIsThereToDivideBy) {
  const course::Question barriers = {"?", "barriers", "block_barriers", "warps"};
  EXPECT_EQ(answer_to(barriers, {}), std::nullopt);
  EXPECT_EQ(answer_to(barriers, {counted_kernel("_Z1fPi", {{"block_barriers", 3}})}), std::nullopt);
  EXPECT_EQ(counted_answer(course::Stage{}, counted({})), std::nullopt);
}

}  // namespace
}  // namespace membound::judge
