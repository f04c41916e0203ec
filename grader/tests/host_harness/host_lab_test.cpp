// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The test lab's answers and wrong answers, checked and graded as a real lab's would be. Attacks
/// are the corpus's (grader/tests/attacks/I-host-code).
#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "grader/base/check.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/check.hpp"
#include "grader/judge/verdict.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

const fs::path kHere = fs::path(MEMBOUND_SOURCE_DIR) / "grader/tests/host_harness";
constexpr const char* kLab = "90-host-program";

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// What stands behind "// KEY" in the file's head.
std::string claim(const fs::path& file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with("// " + key))
      return line.substr(line.find_first_not_of(' ', key.size() + 3));
  return "";
}

/// Some wait for a limit, the others compile.
void two_at_once(const std::vector<fs::path>& files,
                 const std::function<void(const fs::path&)>& body) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++) body(files[i]);
  };
  const std::jthread beside(work);
  work();
}

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

class HostLab : public testing::Test {
 protected:
  void SetUp() override {
    auto lab = course::read_lab(kHere / "labs" / kLab / "lab.json");
    ASSERT_TRUE(lab) << base::to_string(lab.error());
    lab_ = *std::move(lab);
    const auto compiler = find_compiler(DeviceCompiler::kNvcc, compiler_places(source()));
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
    request.device = "vgpu:h200";
    request.environment = {{"LD_LIBRARY_PATH", (fs::path(MEMBOUND_BUILD_DIR) / "vgpu").string()},
                           {"MEMBOUND_DEVICE", "vgpu:h200"}};
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
  CompilerInfo compiler_;
};

TEST_F(HostLab, TheReferenceAnswerPassesEveryStageWithAllPoints) {
  const Outcome outcome = run(request_for(kHere / "solutions" / kLab / "kernel.cu", {1, 2, 3}));
  ASSERT_EQ(outcome.result.stages.size(), 3U);
  EXPECT_TRUE(outcome.result.passed()) << outcome.text();
  EXPECT_EQ(outcome.result.points(), lab_.max_points());
}

TEST_F(HostLab, TheSkeletonPassesNoStage) {
  const Outcome outcome = run(request_for(kHere / "labs" / kLab / "kernel.cu", {1, 2, 3}));
  ASSERT_EQ(outcome.result.stages.size(), 3U);
  for (const course::StageResult& stage : outcome.result.stages)
    EXPECT_EQ(course::to_string(stage.verdict), "wrong") << outcome.text();
}

TEST_F(HostLab, EveryWrongAnswerFailsForItsNamedReason) {
  const auto files = files_in(kHere / "solutions" / kLab / "wrong");
  ASSERT_GE(files.size(), 4U);
  two_at_once(files, [&](const fs::path& file) {
    const Outcome outcome = run(request_for(file, {std::stoi(claim(file, "Stage:"))}));
    ASSERT_EQ(outcome.result.stages.size(), 1U) << file;
    EXPECT_EQ(failed_test(outcome.result.stages[0]), claim(file, "Fails:")) << file << "\n"
                                                                            << outcome.text();
  });
}

/// In jails: elsewhere nobody is graded who is not trusted.
class GradedHostLab : public HostLab {
 protected:
  void SetUp() override {
    if (!jail::probe().untrusted_ok()) GTEST_SKIP() << jail::probe().describe();
    HostLab::SetUp();
  }
};

TEST_F(GradedHostLab, TheReferenceAnswerPasses) {
  CheckRequest request = request_for(kHere / "solutions" / kLab / "kernel.cu", {1, 2, 3});
  grade(request);
  const Outcome outcome = run(request);
  ASSERT_EQ(outcome.result.stages.size(), 3U);
  EXPECT_TRUE(outcome.result.passed()) << outcome.text();
}

}  // namespace
}  // namespace membound::judge
