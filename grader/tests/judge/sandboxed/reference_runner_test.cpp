// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One runner for the reference of several graded runs, as on a GPU: what changes is how many are
/// started, never a verdict.
#include "grader/judge/sandboxed_run.hpp"

#include <sys/stat.h>

#include <csignal>
#include <sstream>

#include "grader/base/files.hpp"
#include "grader/tests/judge/sandboxed/processes.hpp"
#include "grader/tests/judge/sandboxed/sandboxed_fixture.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

class KeptReference : public Sandboxed {
 protected:
  void SetUp() override {
    request_ = request_for("01-reverse-array", source() / "solutions/01-reverse-array/kernel.cu");
    request_.stages = {1, 2};
    sandbox(request_);
    program_ = folder_.path() / "membound_runner";  // its name tells it from other tests' runners
    fs::copy_file(request_.sandbox->runner, program_);
    const fs::path wrapper = folder_.path() / "runner";
    std::ofstream(wrapper) << "#!/bin/sh\necho \"$1\" >> " << log().string() << "\nexec "
                           << program_.string() << " \"$@\"\n";
    chmod(wrapper.c_str(), 0755);
    request_.sandbox->runner = wrapper;
  }
  [[nodiscard]] fs::path log() const { return folder_.path() / "log"; }

  /// How many runners were started with this option.
  [[nodiscard]] int started(const std::string& option) const {
    const auto text = base::read_file(log());
    std::istringstream lines(text ? *text : "");
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += line == option ? 1 : 0;
    return count;
  }

  CheckRequest request_;
  fs::path program_;
};

TEST_F(KeptReference, ServesOneRunAfterTheOtherAndChangesNothing) {
  const course::Result alone = run(request_);
  EXPECT_EQ(started("--socket"), 2);
  ReferenceRunner reference;
  request_.sandbox->reference_runner = &reference;
  for (int i = 0; i < 3; ++i) {
    const course::Result kept = run(request_);
    ASSERT_EQ(kept.stages.size(), alone.stages.size());
    for (std::size_t stage = 0; stage < alone.stages.size(); ++stage) {
      EXPECT_TRUE(kept.stages[stage].passed());
      EXPECT_EQ(kept.stages[stage].verdict, alone.stages[stage].verdict);
      EXPECT_EQ(kept.stages[stage].ratio, alone.stages[stage].ratio);
      EXPECT_EQ(kept.stages[stage].points, alone.stages[stage].points);
    }
    EXPECT_EQ(processes_of(program_).size(), 1U) << "the reference's, and none of a submission";
  }
  EXPECT_EQ(started("--socket"), 2 + 3) << "one for each submission";
  EXPECT_EQ(started("--sessions"), 1);
}

TEST_F(KeptReference, EndsWithWhoeverKeepsIt) {
  {
    ReferenceRunner reference;
    request_.sandbox->reference_runner = &reference;
    static_cast<void>(run(request_));
    EXPECT_EQ(processes_of(program_).size(), 1U);
  }
  EXPECT_TRUE(processes_of(program_).empty());
}

TEST_F(KeptReference, OneThatDiesBetweenTwoRunsIsReplaced) {
  ReferenceRunner reference;
  request_.sandbox->reference_runner = &reference;
  static_cast<void>(run(request_));
  const std::vector<int> there = processes_of(program_);
  ASSERT_EQ(there.size(), 1U);
  kill(there.front(), SIGKILL);
  while (!processes_of(program_).empty()) usleep(1000);
  usleep(200'000);  // for us to hear of it
  const course::Result after = run(request_);
  EXPECT_TRUE(after.stages.at(0).passed());
  EXPECT_EQ(started("--sessions"), 2);
}

TEST_F(KeptReference, OneThatDiesInARunIsNotTheSubmissionsFaultAndIsReplaced) {
  const fs::path real = request_.sandbox->runner;
  const fs::path mortal = folder_.path() / "mortal";
  std::ofstream(mortal) << "#!/bin/sh\ncase $1 in --sessions) exec timeout -s KILL 0.02 "
                        << real.string() << " \"$@\";; esac\nexec " << real.string() << " \"$@\"\n";
  chmod(mortal.c_str(), 0755);
  ReferenceRunner reference;
  request_.sandbox->reference_runner = &reference;
  request_.sandbox->runner = mortal;
  const course::Result during = run(request_);
  EXPECT_EQ(course::to_string(during.stages.back().verdict), "infra_error");
  request_.sandbox->runner = real;
  const course::Result after = run(request_);
  for (const course::StageResult& stage : after.stages) EXPECT_TRUE(stage.passed());
}

}  // namespace
}  // namespace membound::judge
