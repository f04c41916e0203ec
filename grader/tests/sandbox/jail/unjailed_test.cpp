// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/jail.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::jail {
namespace {

namespace fs = std::filesystem;

JailOutcome shell(const std::string& text, JailRequest request = {}) {
  request.arguments = {"/bin/sh", "-c", text, "sh", "/given/file", "vgpu:h200"};
  const auto outcome = run_unjailed(request);
  EXPECT_TRUE(outcome) << base::to_string(outcome.error());
  return outcome ? *outcome : JailOutcome{};
}

TEST(Unjailed, TellsOutputAndExitCode) {
  const JailOutcome outcome = shell("echo one; echo two >&2; exit 7");
  EXPECT_EQ(outcome.output, "one\ntwo\n");
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.limit, LimitHit::kNone);
}

TEST(Unjailed, TellsTheSignalThatEndedIt) { EXPECT_EQ(shell("kill -SEGV $$").signal, SIGSEGV); }

TEST(Unjailed, FindsWhatItWasGivenWhereItReallyIs) {
  judge::TemporaryFolder folder;
  folder.write("file", "found");
  JailRequest request;
  request.bindings = {{folder.path(), "/given"}, {"/elsewhere", "/givenaway"}};
  request.environment = {{"LD_LIBRARY_PATH", "/given:/other:/givenaway"}};
  const JailOutcome outcome = shell("cat $1; echo :$2:$LD_LIBRARY_PATH", request);
  EXPECT_EQ(outcome.output, "found:vgpu:h200:" + folder.path().string() + ":/other:/elsewhere\n");
}

TEST(Unjailed, HandsBackFilesOfScratchAndRemovesIt) {
  JailRequest request;
  request.collected = {"here", "missing", "pipe"};
  const JailOutcome outcome = shell("printf bytes > here; mkfifo pipe; pwd", request);
  EXPECT_THAT(outcome.files, testing::ElementsAre(testing::Pair("here", "bytes")));
  EXPECT_FALSE(fs::exists(outcome.output.substr(0, outcome.output.size() - 1)));
}

TEST(Unjailed, TellsThatTimeIsUp) {
  JailRequest request;
  request.limits.wall_seconds = 0.2;
  const JailOutcome outcome = shell("trap 'exit 0' TERM; sleep 60 & wait", request);
  EXPECT_EQ(outcome.limit, LimitHit::kWall);
  EXPECT_EQ(outcome.exit_code, -1) << "not the 0 it left with when told to end";
}

TEST(Unjailed, TellsThatItWroteTooMuchAndKeepsTheStart) {
  JailRequest request;
  request.limits.output_bytes = 5;
  const JailOutcome outcome = shell("echo 123456789", request);
  EXPECT_EQ(outcome.limit, LimitHit::kOutput);
  EXPECT_EQ(outcome.output, "12345");
}

TEST(Unjailed, EndsWhenToldToStop) {
  const std::atomic<bool> stop = true;
  JailRequest request;
  request.stop = &stop;
  const JailOutcome outcome = shell("sleep 60", request);
  EXPECT_TRUE(outcome.stopped);
  EXPECT_EQ(outcome.limit, LimitHit::kNone);
}

TEST(Unjailed, KeepsTheDescriptorsItWasAskedTo) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  JailRequest request;
  request.descriptors = {ends[1]};
  shell("echo through >&" + std::to_string(ends[1]), request);
  close(ends[1]);
  char text[16] = {};
  EXPECT_EQ(read(ends[0], text, sizeof text), 8);
  close(ends[0]);
}

}  // namespace
}  // namespace membound::jail
