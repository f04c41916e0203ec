// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How the stages of a lab are run: their test program is started until each has a measurement,
/// whatever happens to it on the way, with what the backend of their kind, kernels or whole
/// programs, tells it.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/measurement.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/judge/sandboxed_run.hpp"
#include "grader/judge/workplace.hpp"

namespace membound::judge {

class StageBackend;
[[nodiscard]] const StageBackend& kernel_backend();
[[nodiscard]] const StageBackend& program_backend();

/// What is in the build folder, beside the lab's test program, that stages are run with.
struct BackendParts {
  std::filesystem::path reference;        ///< of programs only where a check times them; or empty
  std::filesystem::path harness_kernels;  ///< of kernels
  std::filesystem::path runner, forward_folder;  ///< of programs: what their test program starts
  std::filesystem::path work_clock;              ///< of programs: see time_programs()
};

/// What to run.
struct RunRequest {
  std::filesystem::path program;        ///< the lab's test program
  std::vector<std::string> under = {};  ///< a program and its options that start it; mostly empty
  std::filesystem::path lab_json;
  std::filesystem::path oracle = {};  ///< as make_oracle() says
  std::filesystem::path submission;   ///< device code, or a program
  std::filesystem::path source = {};  ///< that it was compiled of; empty: nobody knows
  /// The same with red zones between local variables, where a checker rerun takes both; or empty.
  std::filesystem::path with_red_zones = {};
  /// Loaded into the test program before anything of its own runs. Empty but where device-only
  /// compilation is switched off.
  std::filesystem::path preload = {};
  const StageBackend* backend = &kernel_backend();
  BackendParts parts;
  const course::Lab* lab = nullptr;
  std::vector<int> stages;
  std::uint64_t seed = 1;
  /// Has checkers look on in a stage's tests with this environment, where its backend can have them
  /// do so at once. Empty: they do not.
  std::map<std::string, std::string> checked_with = {};
  std::vector<std::string> more_arguments = {};         ///< "--quick", "--counters", …
  std::map<std::string, std::string> environment = {};  ///< chooses the device
  std::filesystem::path scratch_folder;                 ///< for the result file
  int stages_at_once = 1;  ///< each in a process of its own; 1 on a real device, which times
  double seconds_per_stage = 180;           ///< backstop, on top of the stage's own launch timeout
  const std::atomic<bool>* stop = nullptr;  ///< set by Ctrl-C
  /// Graded: reference and submission in runners of their own; `environment` is then theirs. To the
  /// backend of programs it says the seed key and whether there are jails.
  std::optional<SandboxOptions> sandbox = {};
  /// Called about twenty times a second with a stage that is running, by several threads.
  std::function<void(int stage)> on_tick = {};
};

/// Tests of a stage; none: all of it.
struct ChosenTests {
  std::string kernel;
  std::vector<std::string> names;
};

/// What a checker rerun launches of what is timed: nothing; its launches; some blocks of them,
/// where the others do not depend on those.
enum class TimedRerun { kNone, kWhole, kSomeBlocks };

/// How the stages of one kind are run. There are two: of kernels, which the test program loads and
/// launches, and of programs, which it starts.
class StageBackend {
 public:
  virtual ~StageBackend() = default;

  /// Finds the parts; `reference` is the compiled answer, where the kind has one.
  [[nodiscard]] virtual BackendParts parts(const Workplace& place,
                                           const std::filesystem::path& reference) const = 0;
  /// Those of them without which nothing can be run.
  [[nodiscard]] virtual std::vector<std::filesystem::path> needed(
      const BackendParts& parts) const = 0;
  /// What the test program is told besides what all are told.
  [[nodiscard]] virtual std::vector<std::string> arguments(const RunRequest& request) const = 0;
  /// Has a checker rerun take these tests of its stages alone.
  virtual void choose_tests(RunRequest& rerun, const std::vector<ChosenTests>& of_stages,
                            TimedRerun timed) const = 0;
  /// Do checkers look on at right results where the tests run (RunRequest::checked_with)? Else in a
  /// rerun.
  [[nodiscard]] virtual bool checks_at_once() const = 0;
  /// The runners of one start in a graded run; null where the test program starts them itself.
  [[nodiscard]] virtual base::Result<std::unique_ptr<RunnerPair>> start_runners(
      const RunRequest& request) const = 0;
};

/// The backend of this kind.
[[nodiscard]] const StageBackend& backend_of(const course::StageKind& kind);

/// `device`, or the usual virtual one where stages of this kind are judged by what
/// `device` cannot tell.
[[nodiscard]] Device device_of(const course::StageKind& kind, const Device& device,
                               const Workplace& place);

/// What came of it.
struct RunOutcome {
  /// One for each stage that was asked for, in that order, except when `stopped`: then only those
  /// that had finished.
  std::vector<course::StageMeasurement> measurements;
  bool stopped = false;
  int starts = 0;           ///< how often the program was started
  std::string last_output;  ///< of the program's last start, cut to a few kilobytes
};

/// The program ends after a stage that faults or hangs; it is then started again for the others, in
/// a graded run with new runners. A stage the program left without a word gets the abort kCrash.
///
/// Whose fault a lost runner is: the submission's if a kernel of it was launched before, or if
/// the jail ended it at a limit (the abort is then kTimeout, kMemory or kFault); in all other
/// cases the machine's or ours (kCrash, which judges nobody).
[[nodiscard]] base::Result<RunOutcome> run_stages(const RunRequest& request);

}  // namespace membound::judge
