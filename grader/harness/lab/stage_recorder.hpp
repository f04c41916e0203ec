// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Turns GoogleTest's events into the stages' measurements: one line of the result file per suite.
/// Place in the chain: main -> [stage_recorder] -> stage_run.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>

#include "grader/harness/lab/stage_run.hpp"

namespace membound::harness {

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
