// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// main() of every lab's test program: options, session, one suite per stage, GoogleTest.
/// Exit codes: course::test_exit.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <deque>
#include <exception>
#include <memory>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/result.hpp"
#include "grader/harness/device/device_scope.hpp"
#include "grader/harness/lab/reference_timer.hpp"
#include "grader/harness/lab/session.hpp"
#include "grader/harness/lab/stage_recorder.hpp"
#include "grader/harness/lab/stage_run.hpp"
#include "grader/harness/lab/test_options.hpp"
#include "grader/harness/lab/test_registry.hpp"

namespace {

using namespace membound;
using namespace membound::harness;

namespace test_exit = course::test_exit;

int write_times(Session& session, const std::filesystem::path& file) {
  if (!session.device().timing_rules().same_every_time) {
    std::fputs("--time-reference: a real GPU is timed beside each submission\n", stderr);
    return test_exit::kWrongUse;
  }
  const base::Status written = base::write_file(file, time_references(session).to_text());
  if (written) return test_exit::kAllPassed;
  std::fprintf(stderr, "%s\n", base::to_string(written.error()).c_str());
  return test_exit::kOurFault;
}

/// Each stage's timed cases whole; what goes wrong on the way is written as in any other run.
int look_at_all(Session& session, std::deque<StageRun>& runs, std::atomic<StageRun*>& current) {
  if (!session.device().can_sample()) {
    std::fputs("--whole: a real GPU runs all blocks when it times them\n", stderr);
    return test_exit::kWrongUse;
  }
  bool all_right = true;
  for (const course::Stage& stage : session.stages()) {
    StageRun& run = runs.emplace_back(session, stage);
    current = &run;
    run.begin_stage();
    run.begin_test(std::string(to_string(course::BuiltInTest::kSpeed)));
    run.look_at_all();
    run.end_stage();
    for (const course::WholeRun& whole : run.measurement().whole_runs)
      all_right = all_right && !whole.is_wrong();
  }
  return all_right ? test_exit::kAllPassed : test_exit::kSomeFailed;
}

int run_all(const Options& options, const LabProgram& program) {
  std::atomic<StageRun*> current{nullptr};
  Watchdog watchdog([&current](const std::string& what, double seconds) {
    if (StageRun* run = current) run->abort_timeout(what, seconds);
  });
  const auto session = Session::open(options, program, watchdog);
  if (!session) {
    std::fprintf(stderr, "%s\n", base::to_string(session.error()).c_str());
    if (session.error().kind == base::ErrorKind::kInput) return test_exit::kNotLoadable;
    return session.error().kind == base::ErrorKind::kUsage ? test_exit::kWrongUse
                                                           : test_exit::kOurFault;
  }
  if (!options.time_reference.empty()) return write_times(**session, options.time_reference);
  const DeviceScope on_students_device(options.student_device);
  std::deque<StageRun> runs;  // a deque: the runs must stay where they are
  auto recorder = std::make_unique<StageRecorder>(current);
  for (const course::Stage& stage : (*session)->stages()) {
    if (options.whole) break;  // no tests
    StageRun& run = runs.emplace_back(**session, stage);
    recorder->add(run, register_stage(run));
  }
  testing::UnitTest::GetInstance()->listeners().Append(recorder.release());
  try {
    return options.whole ? look_at_all(**session, runs, current) : RUN_ALL_TESTS();
  } catch (const CudaError& error) {
    if (current.load() == nullptr || !current.load()->is_its_doing(error.code())) throw;
    current.load()->abort_fault(error.code());
  } catch (const nlohmann::json::exception& error) {
    // Of a graded run; else the report is our own process's.
    if (current.load() == nullptr || !options.seed_key) throw;
    current.load()->abort_nonsense(error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  base::keep_freed_memory();
  testing::InitGoogleTest(&argc, argv);
  // What a test throws is not the student's fault: it ends the run, with exit code 3.
  GTEST_FLAG_SET(catch_exceptions, false);
  const ParsedOptions parsed = parse_options(argc, argv);
  if (!parsed.options) {
    std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  const LabProgram* program = lab_program();
  MEMBOUND_CHECK(program != nullptr);  // a test.cpp without LAB_PROGRAM
  try {
    return run_all(*parsed.options, *program);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "internal error: %s\n", error.what());
    return test_exit::kOurFault;
  }
}
