// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A check that times programs as on a GPU: stages of lab 12, where the runtime that a GPU's check
/// would find is the virtual GPU's, so that the clock says the same every time.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "grader/base/files.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/profiling_runs.hpp"
#include "grader/judge/stage_runs.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class TimedPrograms : public testing::Test {
 protected:
  void SetUp() override {
    const auto compiler = compilers::find_compiler(compilers::DeviceCompiler::kNvcc,
                                                   compilers::compiler_places(source()));
    if (!compiler) GTEST_SKIP() << base::to_string(compiler.error());
    compiler_ = *compiler;
    auto lab = course::read_lab(source() / "labs/12-streams/lab.json");
    ASSERT_TRUE(lab) << base::to_string(lab.error());
    lab_ = *std::move(lab);
    const auto answer = base::read_file(source() / "solutions/12-streams/kernel.cu");
    ASSERT_TRUE(answer);
    answer_ = *answer;
    setenv("LD_LIBRARY_PATH", vgpu_folder(MEMBOUND_BUILD_DIR).c_str(), 1);
  }

  static fs::path source() { return MEMBOUND_SOURCE_DIR; }

  CheckRequest request_for(const std::string& text) {
    CheckRequest request;
    request.place = {source(), MEMBOUND_BUILD_DIR, folder_.path()};
    request.lab = &lab_;
    request.stages = {1};
    request.submission = folder_.write("kernel.cu", text);
    request.compiler = compiler_;
    request.device = real_gpu();
    request.device.environment["MEMBOUND_DEVICE"] = "vgpu:h200";
    return request;
  }
  static course::StageResult stage_of(const CheckRequest& request) {
    const auto result = check(request);
    EXPECT_TRUE(result) << base::to_string(result.error());
    if (!result || result->stages.size() != 1) return {};
    return result->stages.front();
  }
  /// The answer with a kernel more, which no demand is about, behind the first of the five.
  [[nodiscard]] std::string lingering() const {
    std::string text = answer_;
    const std::string launch =
        "echo<<<blocks_for(n), kThreads, 0, streams[i]>>>(d_sounds + i * n, n);";
    const std::string kernel = "__global__ void echo(";
    text.insert(text.find(launch) + launch.size(),
                "\n    if (i == 0) linger<<<1, 32, 0, streams[0]>>>(d_sounds);\n");
    text.insert(text.find(kernel),
                "__global__ void linger(int* sound) {\n  int value = threadIdx.x;\n"
                "  for (int i = 0; i < 60000; ++i) value = value - (value >> 2) + i;\n"
                "  if (value == 1) sound[0] = 0;\n}\n");
    return text;
  }

  TemporaryFolder folder_;
  course::Lab lab_;
  compilers::CompilerInfo compiler_;
  std::string answer_;
};

TEST_F(TimedPrograms, TheReferenceAnswerIsAsFastAsItself) {
  // Where it lies, so that it is compiled once.
  CheckRequest request = request_for(answer_);
  request.submission = reference_source(request.place, lab_);
  const course::StageResult stage = stage_of(request);
  EXPECT_EQ(stage.verdict, course::Verdict::kPassed);
  ASSERT_TRUE(stage.ratio);
  EXPECT_NEAR(*stage.ratio, 1, 0.01);
  ASSERT_EQ(stage.timings.size(), 1U);
  EXPECT_EQ(stage.timings[0].label, "5 x 601 (sound, sample)");
  EXPECT_GT(stage.timings[0].student_median_ns, 0);
  EXPECT_EQ(stage.points, stage.max_points);
  // Five kernels of one length, side by side.
  EXPECT_THAT(stage.notes, Contains(HasSubstr("0.7")));

  // A GPU on which not even that runs says nothing about a submission.
  const auto code = compile_submission(request);
  ASSERT_TRUE(code);
  RunRequest run;
  run.program = test_program(request.place, lab_, course::kProgramStage);
  run.lab_json = lab_.folder / "lab.json";
  run.submission = code->file();
  run.backend = &program_backend();
  run.parts = run.backend->parts(request.place, "/bin/false");
  run.lab = &lab_;
  run.environment = request.device.environment;
  run.scratch_folder = folder_.path();
  std::vector<course::StageMeasurement> measured(1);
  measured[0].stage = 1;
  ASSERT_TRUE(time_programs(run, measured));
  EXPECT_THAT(measured[0].notes, ElementsAre(HasSubstr("not timed: /bin/false: ended with")));
  EXPECT_TRUE(measured[0].tests.empty());
  EXPECT_TRUE(measured[0].timings.empty());
  EXPECT_EQ(measured[0].abort, course::Cause::kNone);
}

TEST_F(TimedPrograms, WhatLiesSideBySideInAGraphIsOneOperationAtATimeByItself) {
  CheckRequest request = request_for(answer_);
  request.submission = reference_source(request.place, lab_);
  request.stages = {4};
  // Two kernels beside two others in each of 40 launches.
  EXPECT_THAT(stage_of(request).notes,
              Contains(testing::AllOf(HasSubstr("its operations one at a time"), HasSubstr("0.48"),
                                      HasSubstr("of that is saved"))));
}

TEST_F(TimedPrograms, WhatMeetsEveryDemandAndTakesLongerIsSlowButNotInAGradedRun) {
  CheckRequest request = request_for(lingering());
  const course::StageResult stage = stage_of(request);
  EXPECT_EQ(stage.verdict, course::Verdict::kSlow);
  ASSERT_TRUE(stage.ratio);
  EXPECT_LT(*stage.ratio, stage.pass_ratio);
  EXPECT_LT(stage.points, stage.max_points);
  EXPECT_THAT(stage.findings,
              Contains(testing::Field(&course::Finding::text,
                                      HasSubstr("of the reference program's speed"))));

  request.graded = GradedCompile{.confined = false};
  const course::StageResult graded = stage_of(request);
  EXPECT_EQ(graded.verdict, course::Verdict::kPassed);
  EXPECT_FALSE(graded.ratio);
  EXPECT_EQ(graded.points, graded.max_points);
}

}  // namespace
}  // namespace membound::judge
