// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/process.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>

#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::base {
namespace {

ProcessOutcome shell(const std::string& text, ProcessRequest request = {}) {
  request.arguments = {"sh", "-c", text};
  const auto outcome = run_process(request);
  EXPECT_TRUE(outcome);
  return outcome ? *outcome : ProcessOutcome{};
}

/// Whether a process is still there, other than as a name to be collected.
bool lives(const std::string& pid) {
  std::ifstream status("/proc/" + pid + "/stat");
  std::string number, name, state;
  return (status >> number >> name >> state) && state != "Z" && state != "X";
}

TEST(Process, CollectsOutputAndExitCode) {
  const auto outcome = shell("echo one; echo two >&2; exit 7");
  EXPECT_EQ(outcome.output, "one\ntwo\n");
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.signal, 0);
}

TEST(Process, TellsTheSignalThatEndedIt) {
  const auto outcome = shell("kill -SEGV $$");
  EXPECT_EQ(outcome.exit_code, -1);
  EXPECT_EQ(outcome.signal, SIGSEGV);
}

TEST(Process, SaysWhyAProgramCannotBeStarted) {
  const auto outcome = run_process({.arguments = {"/no/such/program"}});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().found, testing::HasSubstr("No such file"));
}

TEST(Process, GivesItsOwnEnvironmentFolderAndNoInput) {
  setenv("MEMBOUND_TEST_GONE", "1", 1);
  const auto outcome = shell(
      "echo $MEMBOUND_TEST_NEW:$MEMBOUND_TEST_GONE; pwd; wc -c",
      {.environment = {{"MEMBOUND_TEST_NEW", "a b"}, {"MEMBOUND_TEST_GONE", ""}}, .folder = "/"});
  EXPECT_EQ(outcome.output, "a b:\n/\n0\n");
}

TEST(Process, EndsWhatRunsTooLong) {
  const auto outcome = shell("sleep 60", {.timeout_seconds = 0.2});
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_LT(outcome.seconds, 30);
}

TEST(Process, EndsWhatDoesNotListen) {
  const auto outcome =
      shell("trap '' TERM INT; while :; do sleep 0.05; done", {.timeout_seconds = 0.1});
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.signal, SIGKILL);
}

TEST(Process, EndsWhenToldToStop) {
  const std::atomic<bool> stop = true;
  const auto outcome = shell("sleep 60", {.stop = &stop});
  EXPECT_TRUE(outcome.stopped);
  EXPECT_FALSE(outcome.timed_out);
}

TEST(Process, KeepsOnlyTheFirstPartOfLongOutput) {
  const auto outcome = shell("yes | head -c 3000000", {.output_limit_bytes = 1000});
  EXPECT_EQ(outcome.output.size(), 1000u);
  EXPECT_TRUE(outcome.output_cut);
  EXPECT_EQ(outcome.exit_code, 0);
}

TEST(Process, LeavesNoDescendantBehind) {
  const auto outcome = shell("sleep 60 & echo $!; exit 0");
  const std::string pid = outcome.output.substr(0, outcome.output.find('\n'));
  ASSERT_FALSE(pid.empty());
  for (int i = 0; i < 200 && lives(pid); ++i) usleep(10000);
  EXPECT_FALSE(lives(pid));
}

TEST(Process, AsksWhetherToGoOn) {
  int calls = 0;
  const auto outcome = shell("sleep 60", {.keep_going = [&] { return ++calls < 3; }});
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(calls, 3);
}

TEST(Process, WatchesAProgramThatHasClosedItsOutput) {
  const auto outcome = shell("echo seen; exec >&- 2>&-; sleep 0.2; exit 3");
  EXPECT_EQ(outcome.output, "seen\n");
  EXPECT_EQ(outcome.exit_code, 3);
  int asked = 0;
  const auto ended =
      shell("exec >&- 2>&-; sleep 1000", {.keep_going = [&] { return ++asked < 3; }});
  EXPECT_TRUE(ended.timed_out);
  EXPECT_EQ(asked, 3);
}

TEST(Process, LooksUpProgramsInAPath) {
  const judge::TemporaryFolder folder;
  const auto script = folder.script("tool", "exit 0");
  folder.write("text", "not a program");
  const std::string path = "/nowhere:" + folder.path().string();
  EXPECT_EQ(find_in_path("tool", path), script);
  EXPECT_EQ(find_in_path("text", path), "");
  EXPECT_EQ(find_in_path("other", path), "");
}

}  // namespace
}  // namespace membound::base
