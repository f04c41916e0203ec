// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A student's check in one process: what a kernel prints, and one test alone.
#include "grader/judge/checker_rerun.hpp"
#include "grader/judge/stage_runs.hpp"
#include "grader/tests/judge/sandboxed/sandboxed_fixture.hpp"

namespace membound::judge {
namespace {

using OneCheck = Sandboxed;

/// Stage 1 of lab 01 whose every thread prints its number and which then does nothing.
constexpr char kPrints[] = R"(#include "kernel.cuh"
#include <cstdio>
__global__ void reverse_direct(int* out, const int* in, long long n) {
  printf("thread %d of block %d\n", threadIdx.x, blockIdx.x);
}
LAUNCH_SHAPE(reverse_direct, long long n) {
  return {.grid = dim3(ceil_div(n, kThreads)), .block = dim3(kThreads)};
}
)";

TEST_F(OneCheck, ShowsWhatTheKernelOfAFailedTestPrints) {
  CheckRequest request = request_for("01-reverse-array", kernel_of(kPrints));
  request.stages = {1};
  request.more_arguments = {"--quick", "--gtest_filter=*.ReversesOneBlock"};
  const course::Result result = run(request);
  ASSERT_EQ(result.stages.size(), 1U);
  std::vector<std::string> failed;
  for (const course::TestOutcome& test : result.stages[0].tests) {
    if (!test.failed()) continue;
    failed.push_back(test.name);
    // Which warp comes first is drawn.
    EXPECT_THAT(test.message,
                testing::ContainsRegex("Your kernels printed:\n  thread [0-9]+ of block 0\n"));
    EXPECT_THAT(test.message, testing::HasSubstr("of block 0\n  … and 236 more lines"));
  }
  EXPECT_THAT(failed, testing::ElementsAre("ReversesOneBlock")) << "the named test alone";
}

TEST_F(OneCheck, LooksAtTheSameTestsBeforeTheirResultsAreKnownAndAfter) {
  CheckRequest request =
      request_for("03-transpose", source() / "solutions" / "03-transpose" / "kernel.cu");
  request.stages = {2};
  const auto code = compile_submission(request);
  ASSERT_TRUE(code.ok()) << base::to_string(code.error());
  const CompiledPart& part = code->parts.front();
  RunRequest run;
  run.program = test_program(request.place, *request.lab, *part.kind);
  run.lab_json = request.lab->folder / "lab.json";
  run.submission = part.submission.file;
  run.parts = run.backend->parts(request.place, part.reference);
  run.lab = request.lab;
  run.stages = request.stages;
  run.environment = request.device.environment;
  run.scratch_folder = request.place.state / "tmp";
  const auto tests_of = [](const base::Result<RunOutcome>& outcome) {
    std::vector<std::string> names;
    if (outcome && outcome->measurements.size() == 1)
      for (const course::TestOutcome& test : outcome->measurements.front().tests)
        names.push_back(test.name);
    return names;
  };
  const auto all = run_stages(run);
  ASSERT_TRUE(all.ok()) << base::to_string(all.error());
  const auto after =
      tests_of(run_stages(rerun_at_right_results(run, {&all->measurements.front()})));
  EXPECT_THAT(after,
              testing::SizeIs(testing::AllOf(testing::Gt(1), testing::Lt(tests_of(all).size()))));
  EXPECT_EQ(tests_of(run_stages(rerun_before_results(run))), after);
}

}  // namespace
}  // namespace membound::judge
