// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What LAB_TEST and LAB_PROGRAM collected before main(), its registration with GoogleTest together
/// with the tests that every stage has, and GoogleTest's events as the stages' measurements: one
/// line of the result file per suite.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "grader/harness/lab/lab_test.hpp"
#include "grader/harness/lab/session.hpp"
#include "grader/harness/lab/stage_run.hpp"

namespace membound::harness {

/// The tests of this program in the order of the file.
[[nodiscard]] const std::vector<detail::LabTestEntry>& lab_tests();
/// Null if there is no LAB_PROGRAM.
[[nodiscard]] const LabProgram* lab_program();

/// Makes the tests and the LabProgram of a lab that has an oracle instead of a test.cpp: loads
/// Options::oracle, and adds course::kOracleTests. Call it before lab_program(), at most once.
[[nodiscard]] base::Status register_oracle(const Options& options);

/// What a stage is tested with, in the order in which it runs: the built-in tests and all lab
/// tests, those of LAB_TEST_AFTER_TIMING after the timed one; with Options::easier_half and
/// Options::quick some of them. All are in one file, on rising lines: GoogleTest 1.12 runs a suite
/// as it was registered, 1.16 sorts it by file and line, and both must give this order. A lab's
/// test keeps its own line where it can.
[[nodiscard]] std::vector<detail::LabTestEntry> tests_in_turn(const Options& options);

/// Registers tests_in_turn() for the stage of `run`, which must outlive them. Returns the hint tag
/// of each test.
std::map<std::string, std::string> register_stage(StageRun& run);

/// HasTheRightSignature and LaunchesWithinLimits: without them nothing else can run.
[[nodiscard]] std::vector<detail::LabTestEntry> tests_before_the_labs();

/// ReachesItsBar: is not reached when a result was wrong, for then its speed means nothing.
[[nodiscard]] detail::LabTestEntry test_after_the_labs();

/// A listener; GoogleTest owns it.
class StageRecorder : public testing::EmptyTestEventListener {
 public:
  /// `current` always points to the run whose test is running, for the watchdog.
  explicit StageRecorder(std::atomic<StageRun*>& current) : current_(current) {}

  /// Makes the recorder know a stage; suites are named after kernels.
  void add(StageRun& run, std::map<std::string, std::string> hint_tags);

 private:
  struct Entry {
    StageRun* run = nullptr;
    std::map<std::string, std::string> hint_tags;
  };
  void OnTestSuiteStart(const testing::TestSuite& suite) override;
  void OnTestStart(const testing::TestInfo& info) override;
  void OnTestEnd(const testing::TestInfo& info) override;
  void OnTestSuiteEnd(const testing::TestSuite& suite) override;

  std::atomic<StageRun*>& current_;
  std::map<std::string, Entry> entries_;
};

}  // namespace membound::harness
