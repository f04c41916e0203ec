// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs a lab's test program for some stages and collects one measurement for each, whatever
/// happens to the program on the way.
/// Place in the chain: compile -> [test_program] -> verdict. Left out: judging.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/measurement.hpp"
#include "grader/judge/split_run.hpp"
#include "grader/judge/test_bed.hpp"

namespace membound::judge {

/// What to run.
struct RunRequest {
  std::filesystem::path program;        ///< the lab's test program
  std::vector<std::string> under = {};  ///< a program and its options that start it; mostly empty
  std::filesystem::path lab_json;
  std::filesystem::path submission;  ///< device code, or a program
  /// The same with gaps between local variables, where a second look takes both; may be empty.
  std::filesystem::path with_gaps = {};
  /// Loaded into the test program before anything of its own runs. Empty but where device-only
  /// compilation is switched off.
  std::filesystem::path preload = {};
  const TestBed* bed = &kernel_bed();
  BedParts parts;
  const course::Lab* lab = nullptr;
  std::vector<int> stages;
  std::uint64_t seed = 1;
  /// Has checkers look on in a stage's tests, where its bed can have them do so at once.
  bool looks_at_once = false;
  std::vector<std::string> more_arguments = {};         ///< "--quick", "--counters", …
  std::map<std::string, std::string> environment = {};  ///< chooses the device
  std::filesystem::path scratch_folder;                 ///< for the result file
  int stages_at_once = 1;  ///< each in a process of its own; 1 on a real device, which times
  double seconds_per_stage = 180;           ///< backstop, on top of the stage's own launch timeout
  const std::atomic<bool>* stop = nullptr;  ///< set by Ctrl-C
  /// Graded: reference and submission in runners of their own; `environment` is then theirs. To the
  /// bed of programs it says the seed key and whether there are jails.
  std::optional<SplitOptions> split = {};
  /// Called about twenty times a second with a stage that is running, by several threads.
  std::function<void(int stage)> on_tick = {};
};

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
