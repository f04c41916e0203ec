// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The test lab's answer, and one to a lab of kernels and a program, graded as a stranger's. What a
/// check says of it, of the skeleton and of the wrong answers, `membound dev check --run` proves;
/// attacks are the corpus's (grader/tests/attacks/I-host-code).
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/judge.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

const fs::path kHere = fs::path(MEMBOUND_SOURCE_DIR) / "grader/tests/harness/program";
constexpr const char* kLab = "90-host-program";

struct Outcome {
  CompiledSubmission code;
  course::Result result;

  [[nodiscard]] std::string text() const {
    std::string all;
    for (const CompiledPart& part : code.parts)
      all += part.submission.output + part.submission.rejected;
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
    auto sandbox = sandbox_options(request);
    MEMBOUND_CHECK(sandbox.ok());
    request.sandbox = *std::move(sandbox);
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
  for (const char* test :
       {"TakesALittle", "TakesMuch", "FreesItsMemory", "ResultsComeFromTheDevice"})
    EXPECT_TRUE(passed(test)) << test << "\n" << outcome.text();
}

TEST_F(GradedHostLab, AGraphThatAPassedProgramKeepsIsNamedBesideWhatItSaved) {
  const fs::path lab12 = source() / "labs/12-streams";
  auto lab = course::read_lab(lab12 / "lab.json");
  ASSERT_TRUE(lab) << base::to_string(lab.error());
  lab_ = *std::move(lab);
  std::string text = base::read_file(source() / "solutions/12-streams/kernel.cu").value();
  const std::string_view line = "    check_cuda(cudaGraphDestroy(whole_round));\n";
  ASSERT_NE(text.find(line), std::string::npos);
  text.erase(text.find(line), line.size());
  const fs::path file = folder_.path() / "kernel.cu";
  MEMBOUND_CHECK(base::write_file(file, text).ok());
  const Outcome outcome = run(request_for(file, {4}));
  ASSERT_EQ(outcome.result.stages.size(), 1U) << outcome.text();
  EXPECT_TRUE(outcome.result.passed()) << outcome.text();
  std::string notes;
  for (const std::string& note : outcome.result.stages[0].notes) notes += note + "\n";
  EXPECT_NE(notes.find("1 graph was never given back: cudaGraphDestroy"), std::string::npos)
      << notes;
  EXPECT_NE(notes.find("49 % saved of an ideal 49 %"), std::string::npos) << notes;
}

TEST_F(GradedHostLab, CheckersLeaveAProgramsTimelineAsItIs) {
  for (const auto& [id, stages] : {std::pair("00-hello-gpu", std::vector{4}),
                                   std::pair("12-streams", std::vector{1, 2, 3, 4})}) {
    auto lab = course::read_lab(source() / "labs" / id / "lab.json");
    ASSERT_TRUE(lab) << base::to_string(lab.error());
    lab_ = *std::move(lab);
    CheckRequest request = request_for(source() / "solutions" / id / "kernel.cu", stages);
    const Outcome without = run(request);
    request.reruns.at_right_results = true;
    const Outcome with = run(request);
    ASSERT_EQ(with.result.stages.size(), stages.size());
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const course::StageResult &one = with.result.stages[i], &other = without.result.stages[i];
      EXPECT_EQ(one.verdict, course::Verdict::kPassed) << with.text();
      EXPECT_EQ(one.notes, other.notes) << id << stages[i];
      EXPECT_EQ(one.answer, other.answer) << id << stages[i];
    }
  }
}

TEST_F(GradedHostLab, AProgramThatNeverEndsWaitsForItsLimitOnceAndTellsItsLine) {
  const fs::path file = folder_.path() / "kernel.cu";
  MEMBOUND_CHECK(base::write_file(file,
                                  "#include <cuda_runtime.h>\n#include <unistd.h>\n"
                                  "int main() { for (;;) sleep(1); }\n")
                     .ok());
  CheckRequest request = request_for(file, {1});
  request.reruns.at_right_results = true;
  const Outcome outcome = run(request);
  ASSERT_EQ(outcome.result.stages.size(), 1U) << outcome.text();
  EXPECT_EQ(outcome.result.stages[0].verdict, course::Verdict::kTimeout) << outcome.text();
  const double wait_seconds =
      course::ProgramLimits::kWallSecondsPerCpuSecond * lab_.stages[0].program.seconds;
  EXPECT_GE(outcome.result.stages[0].seconds, wait_seconds);
  EXPECT_LT(outcome.result.stages[0].seconds, 2 * wait_seconds);
  EXPECT_NE(outcome.text().find("its host code was in a call of line 3"), std::string::npos)
      << outcome.text();
}

/// Lab 01 with a fourth stage: a whole program, in the same kernel.cu, that copies `a` to `c` by
/// way of the device.
class MixedLab : public GradedHostLab {
 protected:
  static constexpr const char* kMixed = "01-reverse-array";

  void SetUp() override {
    GradedHostLab::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    auto json = nlohmann::json::parse(*base::read_file(source() / "labs" / kMixed / "lab.json"));
    json.erase("host_code");
    json["stages"].push_back({{"number", 4},
                              {"name", "program"},
                              {"kernel", "copy_all"},
                              {"title", "A program"},
                              {"points", 10},
                              {"host_code", {{"seconds", 6}}},
                              {"calls", {{{"rule", "frees-memory"}}}}});
    auto lab = course::lab_from_text(json.dump(), "lab.json", folder_.path() / "labs" / kMixed);
    ASSERT_TRUE(lab) << base::to_string(lab.error());
    lab_ = *std::move(lab);
    lay_out(json.dump());
  }

  /// A course of this lab, and a build folder in which the tests of 90-host-program are its.
  void lay_out(const std::string& lab_json) {
    const fs::path built = MEMBOUND_BUILD_DIR;
    fs::create_directories(lab_.folder);
    fs::copy_file(source() / "labs" / kMixed / "kernel.cuh", lab_.folder / "kernel.cuh");
    MEMBOUND_CHECK(base::write_file(lab_.folder / "lab.json", lab_json).ok());
    fs::create_symlink(source() / "grader", folder_.path() / "grader");
    const fs::path build = folder_.path() / "build";
    fs::create_directories(build / "labs" / kMixed);
    for (const char* name : {"vgpu", "forward", "libexec", "grader"})
      fs::create_symlink(built / name, build / name);
    for (const char* name : {"test", "reference.fatbin"})
      fs::create_symlink(built / "labs" / kMixed / name, build / "labs" / kMixed / name);
    fs::create_symlink(built / "labs" / kLab / "program_test",
                       build / "labs" / kMixed / "program_test");
  }

  /// The reference answers with this text behind them.
  Outcome graded(const std::string& program) {
    const auto kernels = base::read_file(source() / "solutions" / kMixed / "kernel.cu");
    const fs::path file = folder_.path() / "kernel.cu";
    MEMBOUND_CHECK(base::write_file(file, *kernels + program).ok());
    CheckRequest request = request_for(file, {1, 2, 3, 4});
    request.place = {folder_.path(), folder_.path() / "build", folder_.path() / "state"};
    request.more_arguments = {"--size", "65536"};
    grade(request);
    return run(request);
  }
};

TEST_F(MixedLab, OneTextAnswersStagesAboutKernelsAndOneAboutAProgram) {
  const Outcome outcome = graded(R"(
#ifdef MEMBOUND_PROGRAM
#include "program.hpp"
__global__ void copy_all(const int* a, int* c, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) c[i] = a[i];
}
int main(int argc, char** argv) {
  const membound::Program program(argc, argv);
  std::vector<int> a = program.read<int>("a");
  const std::size_t bytes = a.size() * sizeof(int);
  int *in = nullptr, *out = nullptr;
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, bytes);
  cudaMemcpy(in, a.data(), bytes, cudaMemcpyHostToDevice);
  copy_all<<<1, 32>>>(in, out, static_cast<int>(a.size()));
  cudaMemcpy(a.data(), out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  program.write("c", a);
}
#endif
)");
  ASSERT_EQ(outcome.result.stages.size(), 4U) << outcome.text();
  EXPECT_TRUE(outcome.result.passed()) << outcome.text();
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(outcome.result.stages[stage].stage, stage + 1);
    EXPECT_EQ(outcome.result.stages[stage].ratio.has_value(), stage < 3);
  }
  EXPECT_EQ(outcome.result.points(), lab_.max_points());
}

TEST_F(MixedLab, AProgramThatDoesNotCompileTakesNoKernelWithIt) {
  const Outcome outcome = graded("#ifdef MEMBOUND_PROGRAM\nint main() { return x; }\n#endif\n");
  ASSERT_EQ(outcome.result.stages.size(), 4U) << outcome.text();
  EXPECT_EQ(outcome.result.stages[0].verdict, course::Verdict::kPassed) << outcome.text();
  EXPECT_EQ(outcome.result.stages[3].verdict, course::Verdict::kCompileError);
  EXPECT_NE(outcome.result.compiler_output.find("\"x\""), std::string::npos);
}

}  // namespace
}  // namespace membound::judge
