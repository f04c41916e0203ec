// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A runner that scrubs takes all memory of a GPU for a moment. The other one must have its context
/// by then and want no more: it is opened first.
#include <poll.h>
#include <sys/stat.h>

#include <array>
#include <sstream>
#include <thread>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/sandbox/runner/channel.hpp"
#include "grader/tests/judge/sandboxed/sandboxed_fixture.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

class Scrubbing : public Sandboxed {};

TEST_F(Scrubbing, IsTheSubmissionsRunnersWork) {
  CheckRequest request =
      request_for("01-reverse-array", source() / "labs/01-reverse-array/kernel.cu");
  request.stages = {1};
  request.more_arguments = {"--quick"};
  sandbox(request);
  request.sandbox->scrub = true;
  const fs::path wrapper = folder_.path() / "runner", log = folder_.path() / "log";
  std::ofstream(wrapper) << "#!/bin/sh\necho \"$@\" >> " << log.string() << "\nexec "
                         << request.sandbox->runner.string() << " \"$@\"\n";
  chmod(wrapper.c_str(), 0755);
  request.sandbox->runner = wrapper;
  ASSERT_EQ(run(request).stages.size(), 1U);
  std::istringstream lines(*base::read_file(log));
  int runners = 0, scrubbing = 0;
  for (std::string line; std::getline(lines, line); ++runners)
    if (line.find("--scrub") != std::string::npos) ++scrubbing;
  EXPECT_EQ(runners, 2);
  EXPECT_EQ(scrubbing, 1);
}

TEST_F(Scrubbing, WaitsUntilTheReferencesRunnerHasAnswered) {
  auto reference = runner::make_socket_pair(), submission = runner::make_socket_pair();
  ASSERT_TRUE(reference.ok() && submission.ok());
  const std::array<int, 2> passed_on = {reference->first.get(), submission->first.get()};
  const fs::path lab = source() / "labs/01-reverse-array/lab.json";
  std::thread program([&] {
    static_cast<void>(base::run_process(
        {.arguments = {(build() / "labs/01-reverse-array/test").string(), "--lab", lab.string(),
                       "--submission", lab.string(), "--reference", lab.string(),
                       "--harness-kernels", lab.string(), "--student-device", "1"},
         .environment = {{"LD_LIBRARY_PATH", (build() / "forward").string()},
                         {"MEMBOUND_REMOTE_SOCKETS",
                          std::to_string(passed_on[0]) + "," + std::to_string(passed_on[1])}},
         .timeout_seconds = 60,
         .descriptors = {passed_on[0], passed_on[1]}}));
  });
  std::array<pollfd, 2> ends = {pollfd{reference->second.get(), POLLIN, 0},
                                pollfd{submission->second.get(), POLLIN, 0}};
  EXPECT_EQ(poll(ends.data(), ends.size(), 60000), 1);
  EXPECT_NE(ends[0].revents & POLLIN, 0);
  EXPECT_EQ(ends[1].revents, 0);
  *reference = {};
  *submission = {};
  program.join();
}

/// With `--scrub` too: it must not wait for a question that never comes.
class RunnerThatIsNeverAsked : public Sandboxed, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Scrubbing, RunnerThatIsNeverAsked, testing::Bool());

TEST_P(RunnerThatIsNeverAsked, LeavesWithItsJudge) {
  auto pair = runner::make_socket_pair();
  ASSERT_TRUE(pair.ok());
  const int socket = pair->second.get();
  base::Result<base::ProcessOutcome> outcome = base::ProcessOutcome{};
  std::thread runner([&] {
    std::vector<std::string> command = {(build() / "libexec/membound_runner").string(), "--socket",
                                        std::to_string(socket)};
    if (GetParam()) command.emplace_back("--scrub");
    outcome = base::run_process({.arguments = command,
                                 .environment = {{"LD_LIBRARY_PATH", (build() / "vgpu").string()}},
                                 .timeout_seconds = 60,
                                 .descriptors = {socket}});
  });
  pair->first = {};
  runner.join();
  ASSERT_TRUE(outcome.ok());
  EXPECT_FALSE(outcome->timed_out);
  EXPECT_EQ(outcome->exit_code, 0);
}

}  // namespace
}  // namespace membound::judge
