// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runners that hang or are killed: every stage still gets a verdict, none of them "passed" by
/// mistake, and nothing is left running.
#include <sys/stat.h>

#include "grader/base/files.hpp"
#include "grader/sandbox/jail/jail.hpp"
#include "grader/tests/judge/sandboxed/processes.hpp"
#include "grader/tests/judge/sandboxed/sandboxed_fixture.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

class LostRunner : public Sandboxed {
 protected:
  /// A runner program of our own name, so that we can look for survivors.
  fs::path own_runner(const CheckRequest& request) {
    const fs::path runner = folder_.path() / "membound_runner";
    fs::copy_file(request.sandbox->runner, runner);
    return runner;
  }
};

TEST_F(LostRunner, AKernelThatNeverEndsIsATimeoutAndEndsWithItsRunner) {
  CheckRequest request =
      request_for("03-transpose", wrong_answer("03-transpose", "5-counts-down-for-ever"));
  // The lab with a shorter patience.
  const fs::path lab_folder = folder_.path() / "03-transpose";
  fs::create_directories(lab_folder);
  fs::copy_file(source() / "labs/03-transpose/kernel.cuh", lab_folder / "kernel.cuh");
  std::string text = *base::read_file(source() / "labs/03-transpose/lab.json");
  const std::string old_limit = "\"timeout_seconds\": 20";
  for (auto at = text.find(old_limit); at != std::string::npos; at = text.find(old_limit, at))
    text.replace(at, old_limit.size(), "\"timeout_seconds\": 1");
  std::ofstream(lab_folder / "lab.json") << text;
  lab_->folder = lab_folder;
  request.stages = {5};
  request.more_arguments = {"--quick"};
  sandbox(request);
  const fs::path runner = request.sandbox->runner = own_runner(request);
  const course::Result result = run(request);
  ASSERT_EQ(result.stages.size(), 1U);
  EXPECT_EQ(course::to_string(result.stages[0].verdict), "timeout");
  EXPECT_TRUE(processes_of(runner).empty());
}

TEST_F(LostRunner, KilledAtAnyMomentNoStageIsLostOrPassedByMistake) {
  CheckRequest request =
      request_for("01-reverse-array", source() / "labs/01-reverse-array/kernel.cu");
  request.more_arguments = {"--quick"};
  sandbox(request);
  const fs::path real = request.sandbox->runner;
  const fs::path wrapper = folder_.path() / "mortal_runner";
  request.sandbox->runner = wrapper;
  for (const char* seconds : {"0.01", "0.05", "0.1", "0.2", "0.4"}) {
    std::ofstream(wrapper) << "#!/bin/sh\nexec timeout -s KILL " << seconds << " " << real.string()
                           << " \"$@\"\n";
    chmod(wrapper.c_str(), 0755);
    const course::Result result = run(request);
    ASSERT_EQ(result.stages.size(), request.stages.size()) << seconds;
    // The skeleton passes nothing, with or without its runner.
    for (const course::StageResult& stage : result.stages)
      EXPECT_FALSE(stage.passed()) << seconds << " s, stage " << stage.stage;
  }
}

/// What a submission has broken in its runner may show only when it ends.
class RunnerThatCrashesAtItsEnd : public LostRunner {
 protected:
  /// The reference as a submission, timed; `crashes` is a condition of the shell.
  std::vector<std::string> verdicts(const std::string& crashes) {
    CheckRequest request =
        request_for("01-reverse-array", source() / "solutions/01-reverse-array/kernel.cu");
    request.more_arguments = {"--size", "65536"};
    sandbox(request);
    const fs::path real = request.sandbox->runner;
    const fs::path wrapper = request.sandbox->runner = folder_.path() / "crashing_runner";
    std::ofstream(wrapper) << "#!/bin/sh\n"
                           << real.string() << " \"$@\"\n"
                           << crashes << " && kill -SEGV $$\nexit 0\n";
    chmod(wrapper.c_str(), 0755);
    std::vector<std::string> all;
    for (const course::StageResult& stage : run(request).stages)
      all.emplace_back(course::to_string(stage.verdict));
    return all;
  }
};

TEST_F(RunnerThatCrashesAtItsEnd, HasSaidNothing) {
  EXPECT_EQ(verdicts("true"), std::vector<std::string>(3, "fault"));
}

TEST_F(RunnerThatCrashesAtItsEnd, CostsNoStageThatRunsWellInOneOfItsOwn) {
  const fs::path crashed = folder_.path() / "crashed";
  fs::create_directories(crashed);
  // The reference's runner and the submission's, once each.
  EXPECT_EQ(verdicts("cd " + crashed.string() + " && [ $(ls | wc -l) -lt 2 ] && touch $$"),
            std::vector<std::string>(3, "passed"));
}

TEST_F(LostRunner, ItsLastWordsAreInTheFinding) {
  CheckRequest request =
      request_for("01-reverse-array", source() / "labs/01-reverse-array/kernel.cu");
  request.stages = {1};
  sandbox(request);
  const fs::path wrapper = folder_.path() / "runner_without_a_device";
  request.sandbox->runner = wrapper;
  std::ofstream(wrapper) << "#!/bin/sh\necho no device: unknown error >&2\nexit 3\n";
  chmod(wrapper.c_str(), 0755);
  const course::Result result = run(request);
  ASSERT_EQ(result.stages.size(), 1U);
  EXPECT_EQ(course::to_string(result.stages[0].verdict), "infra_error");
  ASSERT_FALSE(result.stages[0].findings.empty());
  EXPECT_NE(result.stages[0].findings[0].text.find(
                "the submission's runner ended with exit code 3: no device: unknown error"),
            std::string::npos)
      << result.stages[0].findings[0].text;
}

/// In the jail, where it limits memory: elsewhere there is nothing to test.
class JailedRunner : public LostRunner {
 protected:
  void SetUp() override {
    if (!jail::probe().untrusted_ok()) GTEST_SKIP() << jail::probe().describe();
  }
};

TEST_F(JailedRunner, TheReferencePassesInIt) {
  CheckRequest request =
      request_for("01-reverse-array", source() / "solutions/01-reverse-array/kernel.cu");
  request.more_arguments = {"--quick"};
  sandbox(request);
  request.sandbox->use_jail = true;
  for (const course::StageResult& stage : run(request).stages)
    EXPECT_TRUE(stage.correct) << (stage.findings.empty() ? "" : stage.findings.front().text);
}

TEST_F(JailedRunner, ScratchBeyondTheLimitIsAMemoryVerdict) {
  std::string text = *base::read_file(source() / "solutions/04-reduction/kernel.cu");
  const std::string call = "plan_with_scratch(";
  const auto place = text.find(call);
  ASSERT_NE(place, std::string::npos);
  text.insert(place + call.size(), "(4LL << 30) + ");
  CheckRequest request = request_for("04-reduction", kernel_of(text));
  request.more_arguments = {"--quick"};
  sandbox(request);
  request.sandbox->use_jail = true;
  request.sandbox->limits.memory_bytes = std::size_t{1} << 30;
  request.sandbox->limits.limit_address_space = false;  // the virtual GPU reserves far more
  bool any_memory = false;
  for (const course::StageResult& stage : run(request).stages)
    any_memory = any_memory || stage.verdict == course::Verdict::kMemory;
  EXPECT_TRUE(any_memory);
}

/// Lab 01's first stage with `line` in its kernel and `before` in front of it.
std::string reverse_with(const std::string& before, const std::string& line) {
  return "#include \"kernel.cuh\"\n" + before +
         "\n__global__ void reverse_direct(int* out, const int* in, long long n) {\n"
         "  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;\n  " +
         line +
         "\n  if (i < n) out[n - 1 - i] = in[i];\n}\n"
         "LAUNCH_SHAPE(reverse_direct, long long n) {\n"
         "  return {.grid = dim3(ceil_div(n, kThreads)), .block = dim3(kThreads)};\n}\n";
}

TEST_F(JailedRunner, PrintingBeyondTheLimitIsAnOutputVerdict) {
  CheckRequest request = request_for(
      "01-reverse-array",
      kernel_of(reverse_with("#include <cstdio>",
                             R"(printf("%lld 0123456789012345678901234567890123456789\n", i);)")));
  request.stages = {1};
  request.more_arguments = {"--quick"};
  sandbox(request);
  request.sandbox->use_jail = true;
  request.sandbox->limits.output_bytes = 10'000;
  const course::Result result = run(request);
  ASSERT_EQ(result.stages.size(), 1U);
  EXPECT_EQ(course::to_string(result.stages[0].verdict), "output_limit");
}

TEST_F(JailedRunner, PrintingAFewPagesIsAllowed) {
  CheckRequest request = request_for(
      "01-reverse-array", kernel_of(reverse_with("#include <cstdio>", R"(printf("%lld\n", i);)")));
  request.stages = {1};
  request.more_arguments = {"--quick"};
  sandbox(request);
  request.sandbox->use_jail = true;
  const course::Result result = run(request);
  ASSERT_EQ(result.stages.size(), 1U);
  EXPECT_TRUE(result.stages[0].correct) << course::to_string(result.stages[0].verdict);
}

TEST_F(JailedRunner, ComputingBeyondTheLimitIsATimeout) {
  CheckRequest request = request_for(
      "01-reverse-array", kernel_of(reverse_with("", "for (volatile int k = 0; k == 0;) {}")));
  request.stages = {1};
  request.more_arguments = {"--quick"};
  sandbox(request);
  request.sandbox->use_jail = true;
  request.sandbox->limits.cpu_seconds = 1;
  const course::Result result = run(request);
  ASSERT_EQ(result.stages.size(), 1U);
  EXPECT_EQ(course::to_string(result.stages[0].verdict), "timeout");
}

TEST_F(JailedRunner, AllStagesTogetherHaveABudgetOfDeviceTime) {
  CheckRequest request = request_for(
      "01-reverse-array", kernel_of(reverse_with("", "for (volatile int k = 0; k == 0;) {}")));
  request.more_arguments = {"--quick"};
  sandbox(request);
  request.sandbox->use_jail = true;
  request.sandbox->device_seconds = 1;
  const course::Result result = run(request);
  ASSERT_EQ(result.stages.size(), 3U);
  for (const course::StageResult& stage : result.stages)
    EXPECT_EQ(course::to_string(stage.verdict), "timeout") << stage.stage;
  ASSERT_FALSE(result.stages[2].findings.empty());
  EXPECT_NE(result.stages[2].findings[0].text.find("used up the submission's 1 s"),
            std::string::npos)
      << result.stages[2].findings[0].text;
}

TEST_F(JailedRunner, CodeThatTheDeviceCannotLoadIsNobodyElsesFault) {
  // More than the device has: it compiles, and then there is no room for it.
  CheckRequest request =
      request_for("01-reverse-array", kernel_of(reverse_with("__device__ char hoard[1LL << 40];",
                                                             "if (n < 0) out[0] = hoard[-n];")));
  request.stages = {1, 2};
  request.more_arguments = {"--quick"};
  sandbox(request);
  request.sandbox->use_jail = true;
  for (const course::StageResult& stage : run(request).stages)
    EXPECT_EQ(course::to_string(stage.verdict), "fault");
}

}  // namespace
}  // namespace membound::judge
