// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/result_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "grader/report/progress_bar.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::Verdict;
using testing::HasSubstr;
using testing::Not;

course::StageResult slow_stage() {
  course::StageResult stage;
  stage.stage = 4;
  stage.name = "padded";
  stage.title = "A padded tile";
  stage.verdict = Verdict::kSlow;
  stage.correct = true;
  stage.speed = 1.05e12;
  stage.reference_speed = 2.1e12;
  stage.ceiling = 4.2e12;
  stage.ratio = 0.5;
  stage.ratio_low = 0.49;
  stage.ratio_high = 0.51;
  stage.samples = 12;
  stage.pass_ratio = 0.75;
  stage.full_ratio = 0.9;
  stage.points = 5;
  stage.max_points = 10;
  stage.tests = {{.name = "MovesOneElement", .passed = true},
                 {.name = "ReachesItsBar", .passed = false, .message = "0.50 < 0.75"}};
  stage.source_lines = {{.line = 40,
                         .access = "load",
                         .unit = "sectors",
                         .requests = 8,
                         .per_request = 4,
                         .ideal_per_request = 4},
                        {.line = 44,
                         .access = "shared load",
                         .unit = "wavefronts",
                         .requests = 8,
                         .per_request = 32,
                         .ideal_per_request = 1}};
  return stage;
}

course::Result result_with(course::StageResult stage) {
  course::Result result;
  result.lab = "03-transpose";
  result.title = "Transpose a matrix";
  result.device.name = "NVIDIA H200";
  result.compiler = "nvcc 13.0.88";
  result.stages = {std::move(stage)};
  return result;
}

TEST(Terminal, ALineSaysVerdictRatioSpeedAndPoints) {
  EXPECT_EQ(render_line(slow_stage(), {}),
            "  x 4 padded                 too slow         0.50 of ref.  1,050 GB/s   5/10\n");
}

TEST(Terminal, TheHeadSaysHowMuchOfAVirtualGpuItWas) {
  course::Result result = result_with(slow_stage());
  result.device.virtual_name = "vgpu:h200";
  result.device.name = "NVIDIA H200, 8 of 132 multiprocessors (virtual)";
  EXPECT_THAT(render(result, {}),
              HasSubstr("on vgpu:h200 (times are predicted), 8 of 132 multiprocessors, compiled"));
  result.device.name = "NVIDIA H200 (virtual)";
  EXPECT_THAT(render(result, {}), HasSubstr("on vgpu:h200 (times are predicted), compiled"));
}

TEST(Terminal, DetailNamesTheBarTheIntervalAndTheCeiling) {
  const std::string text = render_detail(slow_stage(), {});
  EXPECT_THAT(text, HasSubstr("ratio      0.50 (0.49 to 0.51, 12 pairs); the bar is 0.75"));
  EXPECT_THAT(text, HasSubstr("reference  2,100 GB/s"));
  EXPECT_THAT(text, HasSubstr("ceiling    4,200 GB/s"));
}

TEST(Terminal, AProgramHasATimeInPlaceOfASpeed) {
  course::StageResult stage = slow_stage();
  stage.speed = stage.reference_speed = stage.ceiling = std::nullopt;
  stage.timings = {{.label = "5 x 601 (sound, sample)",
                    .student_median_ns = 214000,
                    .reference_median_ns = 107000,
                    .ratio = 0.5}};
  EXPECT_THAT(render_line(stage, {}), HasSubstr("0.50 of ref.  214 us "));
  const std::string text = render_detail(stage, {});
  EXPECT_THAT(text, HasSubstr("yours      214 us for 5 x 601 (sound, sample), on the GPU\n"));
  EXPECT_THAT(text, HasSubstr("reference  107 us\n"));
  EXPECT_THAT(text, HasSubstr("the bar is 0.75"));
  EXPECT_THAT(render(result_with(stage), {}), HasSubstr("measured on the GPU"));
  EXPECT_THAT(render(result_with(slow_stage()), {}), Not(HasSubstr("measured on the GPU")));
}

TEST(Terminal, SpeedsSayOfWhichCaseTheyAre) {
  course::StageResult stage = slow_stage();
  stage.timings = {{.label = "float 64 x 64", .ratio = 0.8},
                   {.label = "double 64 x 64", .ratio = 0.5}};
  EXPECT_THAT(render_detail(stage, {}),
              HasSubstr("yours      1,050 GB/s for double 64 x 64, the lowest ratio of 2 cases\n"));
  course::Result result = result_with(stage);
  result.stages.push_back(stage);
  std::swap(result.stages[1].timings[0].ratio, result.stages[1].timings[1].ratio);
  result.stages[1].stage = 5;
  EXPECT_THAT(render(result, {}),
              HasSubstr("Speeds shown: the case of the lowest ratio, double 64 x 64 in "
                        "stage 4; float"));
  stage.timings.resize(1);
  EXPECT_THAT(render(result_with(stage), {}), Not(HasSubstr("lowest ratio")));
}

TEST(Terminal, AFindingIsFollowedByTheLineThatItIsAbout) {
  course::StageResult stage;
  stage.verdict = Verdict::kWrong;
  stage.findings = {{"racecheck", "a data race", "", "", "kernel.cu", 2, "put a barrier between"}};
  const auto read = [](const std::string& file) {
    return file == "kernel.cu" ? SourceText{"first", "  sum += in[i];"} : SourceText();
  };
  EXPECT_THAT(render_detail(stage, {}, read),
              HasSubstr("a data race\n     2 |   sum += in[i];\n       |   ^~~~~~~~~~~~~\n"));
  stage.findings[0].file = "elsewhere.cu";
  EXPECT_THAT(render_detail(stage, {}, read), HasSubstr("a data race\n    try: "));
}

TEST(Terminal, APredictedCeilingSaysWhatItIs) {
  course::StageResult stage = slow_stage();
  stage.device = "vgpu:h200";
  stage.samples = 1;
  EXPECT_THAT(render_detail(stage, {}),
              HasSubstr("ceiling    4,200 GB/s, predicted for a copy or the reference"));
}

TEST(Terminal, TheCostliestSourceLineComesFirst) {
  const std::string text = render_detail(slow_stage(), {});
  EXPECT_THAT(text, HasSubstr("line 44: shared load, 32.0 wavefronts per request, ideal 1.00"));
  EXPECT_LT(text.find("line 44"), text.find("line 40"));
}

TEST(Terminal, OnlyTheFirstFailureIsToldInFull) {
  course::StageResult stage;
  stage.verdict = Verdict::kWrong;
  stage.tests = {{.name = "First", .message = "element (3, 2): expected 7, got 9"},
                 {.name = "Second", .message = "something else"}};
  const std::string text = render_detail(stage, {});
  EXPECT_THAT(text, HasSubstr("failed: First"));
  EXPECT_THAT(text, HasSubstr("element (3, 2): expected 7, got 9"));
  EXPECT_THAT(text, Not(HasSubstr("something else")));
  EXPECT_THAT(text, HasSubstr("1 more test"));
}

TEST(Terminal, WhyAStageIsRightByLuckIsToldInFull) {
  course::StageResult lucky = slow_stage();
  lucky.verdict = Verdict::kPassed;
  course::Result result = result_with(lucky);
  lucky.verdict = Verdict::kUnsafe;
  result.stages.push_back(lucky);
  result.stages[1].findings = {
      {"racecheck", "data race in tree", "", "", "/x/kernel.cu", 44, "put a barrier between"}};
  const std::string text = render(result, Style{});
  EXPECT_THAT(text, HasSubstr("right by luck"));
  EXPECT_THAT(text, HasSubstr("/x/kernel.cu:44:1: error: data race in tree"));
  EXPECT_THAT(text, Not(HasSubstr("yours")));  // how fast it ran
}

TEST(Terminal, WhatTheSourceShowsOfAFailedTestIsToldBelowIt) {
  course::StageResult stage = slow_stage();
  stage.verdict = Verdict::kWrong;
  stage.tests = {{.name = "First", .message = "sum 3 is wrong"}};
  stage.findings = {{"failed-test", "sum 3 is wrong", "", "First", "/x/kernel.cu", 9, "set it"}};
  EXPECT_THAT(
      render_detail(stage, {}),
      HasSubstr(
          "sum 3 is wrong\n  - /x/kernel.cu:9:1: error: the test First fails\n    try: set it\n"));
}

TEST(Terminal, WhatAProgramsRunToldIsShownOfAPassedStage) {
  course::StageResult program = slow_stage();
  program.verdict = Verdict::kPassed;
  program.notes = {"25 % saved", "It printed:\ntook 3 ms"};
  course::Result result = result_with(program);
  result.stages.push_back(program);
  EXPECT_THAT(render(result, {}), Not(HasSubstr("25 % saved")));  // kernels
  result.stages[1].speed.reset();
  EXPECT_THAT(render(result, {}),
              HasSubstr("    Stage 4: 25 % saved\n    Stage 4: It printed:\n    took 3 ms\n"));
}

TEST(Terminal, CompilerOutputIsShownWithPlacesThatEditorsKnow) {
  course::StageResult stage;
  stage.verdict = Verdict::kCompileError;
  course::Result result = result_with(stage);
  result.compiler_output = "kernel.cu(7): error: expected a \";\"";
  EXPECT_THAT(render(result, {}), HasSubstr("\nkernel.cu:7:1: error: expected a \";\"\n"));
}

TEST(Terminal, AStageThatWasNotBegunIsNotCalledWrong) {
  course::StageResult skeleton = slow_stage();
  skeleton.stage = 5;
  skeleton.verdict = Verdict::kWrong;
  course::Result result = result_with(skeleton);
  const std::string alone = render(result, {}, {5});
  EXPECT_THAT(alone, HasSubstr("- 5 padded                 not started"));
  EXPECT_THAT(alone, HasSubstr("./membound next"));
  EXPECT_THAT(alone, Not(HasSubstr("wrong result")));
  result.stages.push_back(slow_stage());
  EXPECT_THAT(render(result, {}, {5}), HasSubstr("Stage 4, A padded tile: too slow"));
}

TEST(Terminal, AStageThatWasNotRunSaysWhyAndIsNotCalledPassed) {
  course::StageResult kernel = slow_stage();
  kernel.verdict = Verdict::kPassed;
  course::StageResult program;
  program.stage = 5;
  program.verdict = Verdict::kSkipped;
  course::Result result = result_with(kernel);
  result.stages.push_back(program);
  EXPECT_THAT(render(result, {}, {}, {}, {.stages = 2}), HasSubstr("All stages passed."));
  EXPECT_THAT(render(result, {}, {}, {}, {.stages = 2, .is_explained = true}),
              testing::AllOf(HasSubstr("All stages passed. The lab's explanation is open now"),
                             Not(HasSubstr("solution"))));
  EXPECT_THAT(render(result, {}, {}, {}, {.stages = 2, .is_explained = true, .has_answers = true}),
              HasSubstr("our answers: ./membound solution "));
  EXPECT_THAT(render(result, {}, {}, {}, {.stages = 6}),
              HasSubstr("The 2 stages of this check passed."));
}

TEST(Terminal, AScreenHasTheVerdictOnTop) {
  const std::string text = render_one(result_with(slow_stage()), {});
  EXPECT_EQ(text.find("  x 4 padded                 too slow"), 0u);
  EXPECT_THAT(text, HasSubstr("the bar is 0.75"));
}

TEST(Progress, NeverRunsBackwards) {
  Progress progress("checking", 4, {}, false);
  progress.now("stage 2", 3);
  progress.now("stage 1, again", 1);
  EXPECT_THAT(progress.line(), HasSubstr("] 3/4 stage 1, again"));
}

TEST(Terminal, TheNextStepIsAHintUnlessTheGraderItselfFailed) {
  EXPECT_THAT(render(result_with(slow_stage()), {}), HasSubstr("./membound hint 03/4"));
  course::StageResult broken;
  broken.verdict = Verdict::kInfraError;
  EXPECT_THAT(render(result_with(broken), {}), HasSubstr("./membound doctor"));
}

TEST(Terminal, WithoutColourThereIsNoEscape) {
  EXPECT_THAT(render(result_with(slow_stage()), {}), Not(HasSubstr("\033")));
  EXPECT_THAT(render(result_with(slow_stage()), {.colour = true}), HasSubstr("\033[31m"));
}

TEST(Terminal, NoLineIsWiderThanEightyColumns) {
  course::StageResult stage = slow_stage();
  stage.tests[1].message = std::string(300, 'w') + " and many more words that go on and on";
  stage.findings = {
      {.kind = "similar-stage", .text = std::string(30, 'a') + std::string(200, ' ') + "b"}};
  std::istringstream lines(render(result_with(stage), {.unicode = true}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns(line), 80u) << line;
}

}  // namespace
}  // namespace membound::report
