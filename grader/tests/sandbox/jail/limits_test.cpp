// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Every limit against what it promises: what stays below it ends well, what goes above is ended,
/// and what was used up to then is near the limit. Once with control groups, where the machine has
/// them, and once without.
#include <gmock/gmock.h>
#include <signal.h>

#include "grader/tests/sandbox/jail/jailed_shell.hpp"

namespace membound::jail {
namespace {

/// Given with the fewest possible allocations: dd's one buffer is what it uses.
std::string use_megabytes(int count) {
  return "dd if=/dev/zero of=/dev/null bs=" + std::to_string(count) + "M count=1 2>/dev/null";
}

class JailLimits : public JailedShell, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    JailedShell::SetUp();
    if (GetParam() && machine_setup().cgroups.version == 0) GTEST_SKIP() << "no control groups";
  }
  [[nodiscard]] JailOutcome limited(const std::string& text, const JailRequest& given) const {
    JailRequest request = given;
    request.arguments = {"/bin/sh", "-c", text};
    jail::Setup setup = machine_setup();
    if (!GetParam()) setup.cgroups = {};
    const auto outcome = run_with(setup, request);
    EXPECT_TRUE(outcome) << base::to_string(outcome.error());
    return outcome ? *outcome : JailOutcome{};
  }
};

TEST_P(JailLimits, WallClock) {
  JailRequest request;
  request.limits.wall_seconds = 0.5;
  const auto outcome = limited("sleep 1000", request);
  EXPECT_EQ(outcome.limit, LimitHit::kWall);
  EXPECT_GE(outcome.seconds, 0.5);
  EXPECT_LT(outcome.seconds, 1.5);
}

TEST_P(JailLimits, WallClockOfOneThatIgnoresSignalsAndHidesInAnotherSession) {
  JailRequest request;
  request.limits.wall_seconds = 0.5;
  const auto outcome = limited("trap '' TERM INT HUP; setsid sh -c 'sleep 1000' & wait", request);
  EXPECT_EQ(outcome.limit, LimitHit::kWall);
  EXPECT_LT(outcome.seconds, 1.5);
}

TEST_P(JailLimits, CpuTimeOfOneProcess) {
  JailRequest request;
  request.limits.cpu_seconds = 1;
  const auto outcome = limited("while :; do :; done", request);
  EXPECT_EQ(outcome.limit, LimitHit::kCpu);
  // The kernel enforces the limit by ticks it saw the process in, but reports time exactly: on a
  // busy machine a process at its limit was seen with 0.84 s.
  EXPECT_GT(outcome.cpu_seconds, 0.5);
  EXPECT_LT(outcome.cpu_seconds, 2);
}

TEST_P(JailLimits, CpuTimeSummedOverProcesses) {
  JailRequest request;
  request.limits.cpu_seconds = 1;
  const auto outcome =
      limited("for i in 1 2 3 4; do sh -c 'while :; do :; done' & done; wait", request);
  EXPECT_EQ(outcome.limit, LimitHit::kCpu);
  EXPECT_LT(outcome.cpu_seconds, 2);
}

TEST_P(JailLimits, MemoryBelowTheLimitIsThere) {
  JailRequest request;
  request.limits.memory_bytes = 128 * kMegabyte;
  const auto outcome = limited(use_megabytes(64), request);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.limit, LimitHit::kNone);
  if (GetParam()) {
    EXPECT_GT(outcome.peak_memory_bytes, 64 * kMegabyte);
  }
}

TEST_P(JailLimits, MemoryAboveTheLimitIsNot) {
  JailRequest request;
  request.limits.memory_bytes = 64 * kMegabyte;
  const auto outcome = limited(use_megabytes(128), request);
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_LE(outcome.peak_memory_bytes, 64 * kMegabyte);
  // Without control groups the allocation is refused, which the program itself reports.
  if (GetParam()) {
    EXPECT_EQ(outcome.limit, LimitHit::kMemory);
  }
}

TEST_P(JailLimits, MemorySummedOverProcesses) {
  JailRequest request;
  request.limits.memory_bytes = 96 * kMegabyte;
  request.limits.wall_seconds = 20;
  // Each keeps 40 megabytes for a while.
  const auto outcome = limited(
      "for i in 1 2 3 4; do perl -e '$x = \"a\" x (40 << 20); sleep 1000' & done; wait", request);
  EXPECT_EQ(outcome.limit, LimitHit::kMemory);
}

TEST_P(JailLimits, Output) {
  JailRequest request;
  request.limits.output_bytes = 10000;
  const auto outcome = limited("yes", request);
  EXPECT_EQ(outcome.limit, LimitHit::kOutput);
  EXPECT_EQ(outcome.output.size(), 10000u);
}

TEST_P(JailLimits, OutputOfExactlyTheLimit) {
  JailRequest request;
  request.limits.output_bytes = 10000;
  const auto outcome = limited("yes | head -c 10000", request);
  EXPECT_EQ(outcome.limit, LimitHit::kNone);
  EXPECT_EQ(outcome.output.size(), 10000u);
}

TEST_P(JailLimits, SizeOfAFile) {
  JailRequest request;
  request.limits.file_bytes = kMegabyte;
  request.collected = {"file"};
  const auto outcome = limited("exec head -c 3000000 /dev/zero > file", request);
  EXPECT_EQ(outcome.limit, LimitHit::kFileSize);
  EXPECT_EQ(outcome.signal, SIGXFSZ);
  ASSERT_EQ(outcome.files.count("file"), 1u);
  EXPECT_EQ(outcome.files.at("file").size(), kMegabyte);
}

TEST_P(JailLimits, SizeOfTheScratchFolder) {
  JailRequest request;
  request.limits.scratch_bytes = 2 * kMegabyte;
  const auto outcome =
      limited("for i in 1 2 3 4 5; do head -c 1000000 /dev/zero > $i || exit 3; done", request);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.limit, LimitHit::kFileSize);
}

TEST_P(JailLimits, Processes) {
  JailRequest request;
  request.limits.processes = 10;
  // perl tells how many children it could have at once.
  const auto outcome = limited(
      "exec perl -e 'my $n = 0; for (1..100) { my $p = fork(); last unless defined $p; "
      "if (!$p) { sleep 1000; exit } $n++ } print $n; exit 1'",
      request);
  EXPECT_EQ(outcome.output, "9");  // and perl itself
  if (GetParam()) {
    EXPECT_EQ(outcome.limit, LimitHit::kProcesses);
  }
}

TEST_P(JailLimits, AForkBombEnds) {
  JailRequest request;
  request.limits.processes = 30;
  request.limits.wall_seconds = 1;
  const std::set<std::string> before = leftovers();
  // The first shell starts one process only: where none is left it would end by itself.
  const auto outcome = limited("bomb() { bomb | bomb & }; (bomb) & exec sleep 1000", request);
  EXPECT_NE(outcome.limit, LimitHit::kNone);
  EXPECT_LT(outcome.seconds, 2);
  EXPECT_EQ(left_since(before), std::set<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(All, JailLimits, testing::Bool(), [](const auto& given) {
  return given.param ? "WithCgroups" : "WithoutCgroups";
});

}  // namespace
}  // namespace membound::jail
