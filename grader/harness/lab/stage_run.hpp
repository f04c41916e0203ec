// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One stage under test: launches for its tests, its timing, and the measurement that grows.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "grader/course/measurement.hpp"
#include "grader/harness/lab/session.hpp"
#include "grader/harness/measure/timing.hpp"
#include "grader/harness/measure/whole_run.hpp"

namespace membound::harness {

/// The stage under test. Its methods are called by the main thread, abort_timeout() also by the
/// watchdog's.
class StageRun {
 public:
  StageRun(Session& session, course::Stage stage);

  [[nodiscard]] const course::Stage& stage() const { return stage_; }
  [[nodiscard]] Session& session() { return session_; }

  /// See LabTest::launch().
  [[nodiscard]] testing::AssertionResult launch(const std::string& instance,
                                                const std::vector<std::int64_t>& sizes,
                                                const KernelArguments& arguments);
  /// Whether every instance's kernels exist with the right parameters.
  [[nodiscard]] testing::AssertionResult check_signatures();
  /// Whether the launches for the timed sizes keep all limits.
  [[nodiscard]] testing::AssertionResult check_launches();
  /// Times all cases; failure tells the first that misses the bar or is wrong.
  [[nodiscard]] testing::AssertionResult check_speed();

  /// Launches each timed case once, or some blocks of it, and keeps what the checkers find; failure
  /// tells of a refusal.
  [[nodiscard]] testing::AssertionResult look_at_timed_launches();

  /// Runs every timed case whole, for its results, and keeps what comes of it. Only where launches
  /// can be sampled.
  void look_at_all();

  /// See LabTest::far_blocks().
  [[nodiscard]] testing::AssertionResult check_far_blocks(std::span<const std::int64_t> size,
                                                          const std::string& contract);

  /// Bookkeeping of the recorder.
  void begin_stage();
  void begin_test(const std::string& name);
  void end_test(course::TestOutcome outcome);
  void end_stage();
  /// Why later tests make no sense; empty while they do.
  [[nodiscard]] const std::string& blocked() const { return blocked_; }
  [[nodiscard]] bool all_passed() const;
  [[nodiscard]] const course::StageMeasurement& measurement() const { return measurement_; }
  /// What the harness itself saw going wrong in the test that is running.
  [[nodiscard]] course::Cause cause() const { return cause_; }

  /// A launch does not end: writes the stage's line and ends the process.
  [[noreturn]] void abort_timeout(const std::string& what, double seconds);
  /// Whether an error that any call may return tells of what the submission did before.
  [[nodiscard]] bool is_its_doing(cudaError_t code) const;
  /// The device reported `code` and cannot be used any more: writes the line and ends the process.
  [[noreturn]] void abort_fault(cudaError_t code);
  /// What the submission's runner sent cannot be read: writes the line and ends the process.
  [[noreturn]] void abort_nonsense(const std::string& why);

 private:
  [[noreturn]] void abort(course::Cause cause, const std::string& why);
  [[noreturn]] void abort_without_runner(const std::string& problem);
  [[nodiscard]] testing::AssertionResult refuse(const Refusal& refusal);
  [[nodiscard]] testing::AssertionResult check_untouched(const KernelArguments& arguments,
                                                         const void* d_scratch);
  [[nodiscard]] testing::AssertionResult judge_case(const course::Timing& timing,
                                                    const TimedCase& timed_case);
  [[nodiscard]] TimingRequest timing_request(const TimedCase& timed_case,
                                             const course::Stage& stage, std::uint64_t seed);
  [[nodiscard]] std::uint64_t next_warp_order();
  /// Of a timed case: in a graded run each stage has inputs of its own, for an output that a stage
  /// leaves behind in memory must not be the answer of the next one.
  [[nodiscard]] std::uint64_t seed_of_case(std::size_t index) const;
  /// Nothing where a launch that was to be sampled was not; `why_not` says why, if it is empty, and
  /// `takes_long` whether its blocks take too many instructions.
  [[nodiscard]] std::optional<testing::AssertionResult> time_cases(const Session::SizedCases& way,
                                                                   std::string& why_not,
                                                                   bool& takes_long);
  /// One case, looked at in one way. False: it cannot be sampled and was not run.
  [[nodiscard]] bool look_at(const TimingRequest& request, ReadyLaunch student, bool some_of_last);
  /// One case of one size.
  [[nodiscard]] course::WholeRun run_whole(const Session::SizedCases& way, std::size_t case_index,
                                           const WholeLimits& limits);
  /// Of a case that was timed by some of its blocks, or at a smaller size than its first because it
  /// cannot be: makes the timing wrong where blocks leave out what is theirs.
  void check_places(const Session::SizedCases& way, std::size_t case_index, TimingOutcome& outcome);
  void look_at_variables(const Session::SizedCases& way, std::size_t case_index,
                         TimingOutcome& outcome);
  /// Whether no rule says that all places are written; `doubt` is why, and may be empty.
  [[nodiscard]] bool may_leave_out(const Session::SizedCases& way, std::size_t case_index,
                                   const TimingOutcome& outcome, std::string& doubt);
  /// `doubt` is why; may be empty.
  void look_at_whole(const Session::SizedCases& way, std::size_t case_index,
                     const std::string& doubt, course::Timing& timing);
  void forget_timings();
  void add_note(std::string note);
  void add_remark(std::string remark);
  void keep(TimingOutcome outcome, const Session::SizedCases& way, std::size_t case_index);
  void find_similar_stage(const Session::SizedCases& way, std::size_t case_index,
                          course::Timing& timing);
  void write_line();
  /// Of what the test that runs launches from here on, over so many bytes of arrays.
  void limit_steps(std::size_t data_bytes);
  /// Keeps what the virtual GPU's checkers found since the last launch.
  void keep_checks(const nlohmann::json& report);

  Session& session_;
  course::Stage stage_;
  std::chrono::steady_clock::time_point start_;
  std::string test_;        // the one that is running
  int launches_ = 0;        // of it, so far
  std::string about_test_;  // what a fault in it tells of; mostly empty
  std::string printed_;     // by its kernels
  course::Cause cause_ = course::Cause::kNone;
  std::string blocked_;
  /// Runs of look_at_whole(): a stage that is timed at a smaller size looks at its first again.
  std::map<std::string, course::WholeRun> whole_by_label_;
  std::mutex mutex_;  // guards measurement_ and test_ against the watchdog's thread
  course::StageMeasurement measurement_;
};

}  // namespace membound::harness
