// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How the stages of one kind are compiled and run. There are two beds: kernel_bed.cpp and
/// program_bed.cpp.
/// Place in the chain: course/stage_kind -> [test_bed] -> judge, test_program. Left out: which
/// stages are of which kind (lab.json), and what comes of a run.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/judge/compile.hpp"
#include "grader/judge/split_run.hpp"
#include "grader/judge/workplace.hpp"

namespace membound::judge {

struct RunRequest;

/// What is in the build folder, beside the lab's test program, that stages are run with.
struct BedParts {
  std::filesystem::path reference;        ///< of programs only where a check times them; or empty
  std::filesystem::path harness_kernels;  ///< of kernels
  std::filesystem::path runner, forward_folder;  ///< of programs: what their test program starts
  std::filesystem::path work_clock;              ///< of programs: see program_times
};

/// Tests of a stage; none: all of it.
struct ChosenTests {
  std::string kernel;
  std::vector<std::string> names;
};

/// What a second look launches of what is timed: nothing; its launches; some blocks of them, where
/// the others do not depend on those.
enum class TimedLook { kNone, kWhole, kSomeBlocks };

class TestBed {
 public:
  virtual ~TestBed() = default;

  /// Tells the compiler what is to come of the text.
  virtual void prepare(CompileRequest& compile, const Workplace& place) const = 0;
  /// Finds the parts; `reference` is the compiled answer, where the kind has one.
  [[nodiscard]] virtual BedParts parts(const Workplace& place,
                                       const std::filesystem::path& reference) const = 0;
  /// Those of them without which nothing can be run.
  [[nodiscard]] virtual std::vector<std::filesystem::path> needed(const BedParts& parts) const = 0;
  /// What the test program is told besides what all are told.
  [[nodiscard]] virtual std::vector<std::string> arguments(const RunRequest& request) const = 0;
  /// Has a second look run these tests of its stages alone.
  virtual void choose_tests(RunRequest& look, const std::vector<ChosenTests>& of_stages,
                            TimedLook timed) const = 0;
  /// Do checkers look on at right results where the tests run (RunRequest::looks_at_once)? Else in
  /// a second look.
  [[nodiscard]] virtual bool looks_at_once() const = 0;
  /// The runners of one start in a graded run; null where the test program starts them itself.
  [[nodiscard]] virtual base::Result<std::unique_ptr<RunnerPair>> start_runners(
      const RunRequest& request) const = 0;
};

[[nodiscard]] const TestBed& kernel_bed();
[[nodiscard]] const TestBed& program_bed();

/// The bed of this kind.
[[nodiscard]] const TestBed& bed_of(const course::StageKind& kind);

/// `device`, or the usual virtual one where stages of this kind are judged by what
/// `device` cannot tell.
[[nodiscard]] Device device_of(const course::StageKind& kind, const Device& device,
                               const Workplace& place);

}  // namespace membound::judge
