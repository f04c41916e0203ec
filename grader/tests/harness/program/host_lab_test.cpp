// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The test lab's answer, graded as a stranger's. What a check says of it, of the skeleton and of
/// the wrong answers, `membound dev check --run` proves; attacks are the corpus's
/// (grader/tests/attacks/I-host-code).
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "grader/base/check.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/judge.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

const fs::path kHere = fs::path(MEMBOUND_SOURCE_DIR) / "grader/tests/harness/program";
constexpr const char* kLab = "90-host-program";

struct Outcome {
  CompiledPair code;
  course::Result result;

  [[nodiscard]] std::string text() const {
    std::string all = code.submission.output + code.submission.rejected;
    for (const course::StageResult& stage : result.stages) {
      all += stage.name + ": " + std::string(course::to_string(stage.verdict)) + "\n";
      for (const course::TestOutcome& test : stage.tests)
        if (!test.passed) all += test.name + ": " + test.message + "\n";
      for (const course::Finding& finding : stage.findings) all += finding.text + "\n";
    }
    return all;
  }
};

/// In jails: elsewhere nobody is graded who is not trusted.
class GradedHostLab : public testing::Test {
 protected:
  void SetUp() override {
    if (!jail::probe().untrusted_ok()) GTEST_SKIP() << jail::probe().describe();
    auto lab = course::read_lab(kHere / "labs" / kLab / "lab.json");
    ASSERT_TRUE(lab) << base::to_string(lab.error());
    lab_ = *std::move(lab);
    const auto compiler = compilers::find_compiler(compilers::DeviceCompiler::kNvcc,
                                                   compilers::compiler_places(source()));
    if (!compiler) GTEST_SKIP() << base::to_string(compiler.error());
    compiler_ = *compiler;
  }

  static fs::path source() { return MEMBOUND_SOURCE_DIR; }

  CheckRequest request_for(const fs::path& kernel, std::vector<int> stages) {
    CheckRequest request;
    request.place = {source(), MEMBOUND_BUILD_DIR, folder_.path()};
    request.lab = &lab_;
    request.stages = std::move(stages);
    request.submission = kernel;
    request.compiler = compiler_;
    request.device = virtual_gpu("h200", MEMBOUND_BUILD_DIR);
    return request;
  }
  /// As a stranger's.
  void grade(CheckRequest& request) {
    request.graded = GradedCompile{};
    auto split = split_options(request);
    MEMBOUND_CHECK(split.ok());
    request.split = *std::move(split);
  }
  static Outcome run(const CheckRequest& request) {
    const auto code = compile_submission(request);
    EXPECT_TRUE(code) << base::to_string(code.error());
    if (!code) return {};
    auto result = run_and_judge(request, *code);
    EXPECT_TRUE(result) << base::to_string(result.error());
    return {*code, result ? *std::move(result) : course::Result{}};
  }

  TemporaryFolder folder_;
  course::Lab lab_;
  compilers::CompilerInfo compiler_;
};

TEST_F(GradedHostLab, TheReferenceAnswerPassesEveryStageWithAllPoints) {
  CheckRequest request = request_for(kHere / "solutions" / kLab / "kernel.cu", {1, 2, 3});
  grade(request);
  const Outcome outcome = run(request);
  ASSERT_EQ(outcome.result.stages.size(), 3U);
  EXPECT_TRUE(outcome.result.passed()) << outcome.text();
  EXPECT_EQ(outcome.result.points(), lab_.max_points());
}

TEST_F(GradedHostLab, TheCallsThatProgramsUsuallyMakeAreForwarded) {
  CheckRequest request = request_for(kHere / "programs" / "usual_calls.cu", {1});
  grade(request);
  const Outcome outcome = run(request);
  ASSERT_EQ(outcome.result.stages.size(), 1U) << outcome.text();
  const auto passed = [&](const std::string& name) {
    for (const course::TestOutcome& test : outcome.result.stages[0].tests)
      if (test.name == name) return test.passed;
    return false;
  };
  for (const char* test : {"TakesALittle", "TakesMuch", "FreesItsMemory"})
    EXPECT_TRUE(passed(test)) << test << "\n" << outcome.text();
}

}  // namespace
}  // namespace membound::judge
