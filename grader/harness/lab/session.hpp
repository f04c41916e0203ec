// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One run of a test program: its command line, and everything its stages share: device, modules,
/// clocks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/harness/cases/data.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/device.hpp"
#include "grader/harness/device/device_kernels.hpp"
#include "grader/harness/device/launcher.hpp"
#include "grader/harness/device/submission.hpp"
#include "grader/harness/device/watchdog.hpp"
#include "grader/harness/measure/bench.hpp"
#include "grader/harness/measure/ceiling.hpp"
#include "grader/harness/measure/clocks.hpp"

namespace membound::harness {

/// What the caller (normally the judge) asks for.
struct Options {
  std::filesystem::path lab_json;
  std::filesystem::path submission;  ///< the student's compiled kernel.cu
  std::filesystem::path reference;   ///< the compiled reference answer
  std::filesystem::path kernels;     ///< harness.fatbin
  std::filesystem::path oracle;      ///< a lab's oracle.cpp, compiled; empty: it has a test.cpp
  std::filesystem::path result;      ///< JSON lines are appended here; empty: no file
  std::filesystem::path pictures;    ///< folder for what LabTest::show_picture() shows; empty: none
  std::vector<int> stages;           ///< empty: all
  std::uint64_t seed = 1;
  bool quick = false;  ///< correctness only
  /// What would be timed is launched once, for checkers to look at; no result is compared.
  bool look = false;
  /// What would be timed runs whole, for its results; nothing is tested or timed.
  bool whole = false;
  bool some_blocks = false;   ///< … some blocks of it, where the others do not depend on those
  bool easier_half = false;   ///< of the lab's own tests the first half alone, and what is timed
  double launch_seconds = 0;  ///< how long one launch may take; 0: what the lab says
  std::vector<std::int64_t> size;  ///< instead of the stage's timed sizes; empty: those
  bool counters = false;           ///< keep what the virtual GPU counted in timed runs
  /// Where the student's kernels run; the reference runs on device 0. Another number means two
  /// runners and the checks of a graded run.
  int student_device = 0;
  /// Known times of the reference, from an earlier start with time_reference: it is not run then,
  /// and the only device is the student's. Empty: none.
  std::filesystem::path reference_times;
  std::filesystem::path time_reference;      ///< only time the reference, into this file; empty: no
  std::optional<SeedKey> seed_key;           ///< of a graded run: takes the place of `seed`
  std::optional<std::uint64_t> sample_seed;  ///< as BenchParts::sample_seed
};

/// Options, or what to print and how to exit (also for --help).
struct ParsedOptions {
  std::optional<Options> options;
  std::string text;
  int exit_code = 0;
};

[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

/// "2048x1024" gives {2048, 1024}; every number is at least 0.
[[nodiscard]] base::Result<std::vector<std::int64_t>> parse_size(const std::string& text);

/// "1,3" gives {1, 3}.
[[nodiscard]] base::Result<std::vector<int>> parse_stages(const std::string& text);

/// Stays where it is made: its parts refer to each other.
class Session {
 public:
  /// Opens the device and loads all modules. An error of the kind kInput is the submission's:
  /// everything else was loaded before it.
  [[nodiscard]] static base::Result<std::unique_ptr<Session>> open(const Options& options,
                                                                   const LabProgram& program,
                                                                   Watchdog& watchdog);

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const course::Lab& lab() const { return lab_; }
  [[nodiscard]] const LabProgram& program() const { return program_; }
  /// Where the student's kernels run.
  [[nodiscard]] const Device& device() const { return *devices_.student.device; }
  [[nodiscard]] const Seeds& seeds() const { return seeds_; }
  [[nodiscard]] const Launcher& student() const { return student_launcher_; }
  [[nodiscard]] Watchdog& watchdog() { return watchdog_; }
  [[nodiscard]] ClockReader& clocks() { return clocks_; }
  /// Loads the submission anew. What its launches have left in variables of its module is gone: a
  /// timed launch cannot know how many came before it, nor a look at it that it is one. Launches
  /// that were prepared are void. Throws CudaError.
  void renew_student();
  /// Where the student's kernels are timed beside the reference's.
  [[nodiscard]] const Bench& bench() const { return *bench_; }

  /// The stages asked for, in teaching order.
  [[nodiscard]] std::vector<course::Stage> stages() const;
  /// The cases of `stage` for --size or for the first of its sizes that fits a quarter of the
  /// device's memory.
  [[nodiscard]] std::vector<TimedCase> timed_cases(const course::Stage& stage) const;
  /// The size that timed_cases() takes.
  [[nodiscard]] std::vector<std::int64_t> timed_size(const course::Stage& stage) const;
  /// All cases of `stage` at one size, and whether launches are timed by some of their blocks.
  struct SizedCases {
    std::vector<std::int64_t> size;
    std::vector<TimedCase> cases;
    bool sampled = false;
  };
  /// What to time, preferred first: later ones are for launches that cannot be sampled. The last is
  /// run whole.
  [[nodiscard]] std::vector<SizedCases> ways_to_time(const course::Stage& stage) const;
  /// All sizes that fit a quarter of the device's memory, the first one first, to be run whole for
  /// their results.
  [[nodiscard]] std::vector<SizedCases> ways_to_run_whole(const course::Stage& stage) const;
  /// The first of these sizes.
  [[nodiscard]] std::vector<std::int64_t> first_size(const course::Stage& stage) const;
  /// Whether launches of the stage may be timed by some of their blocks.
  [[nodiscard]] bool times_some_blocks(const course::Stage& stage) const { return samples(stage); }
  /// Whether of what is timed some blocks are looked at, where the others do not depend on those.
  [[nodiscard]] bool looks_at_some_blocks() const;
  /// What checkers look at instead of timing, preferred first: some blocks of a launch as it would
  /// be timed; the last, for launches that cannot be sampled, at the last size, and of a plan all
  /// launches but the last whole.
  [[nodiscard]] std::vector<SizedCases> ways_to_look(const course::Stage& stage) const;
  /// Whether launches of the stage would be timed by some of their blocks, but that somebody looks
  /// on at all of them: they are then timed at the last size.
  [[nodiscard]] bool is_kept_from_sampling(const course::Stage& stage) const;
  /// Is it timed at the last of several sizes, because its test program does not say what some of
  /// its blocks must have left?
  [[nodiscard]] bool knows_no_parts(const course::Stage& stage) const;
  /// How long one launch may take.
  [[nodiscard]] double timeout_seconds(const course::Stage& stage) const;

 private:
  /// The cases at all sizes that fit a quarter of the device's memory, sampled.
  [[nodiscard]] std::vector<SizedCases> sampled_ways(const course::Stage& stage) const;
  /// Whether the times that are known, if any, are those of every way to time every stage.
  [[nodiscard]] base::Status check_known_times() const;
  /// Whether the lab says what is right of an output's parts, in all cases of the stage.
  [[nodiscard]] bool knows_parts(const course::Stage& stage) const;
  /// Whether launches of the stage may be timed by some of their blocks.
  [[nodiscard]] bool samples(const course::Stage& stage) const;
  /// A device with the harness's own kernels on it.
  struct ReadyDevice {
    std::unique_ptr<Device> device;
    std::unique_ptr<DeviceKernels> kernels;

    [[nodiscard]] static base::Result<ReadyDevice> open(int number,
                                                        const std::filesystem::path& fatbin);
  };
  struct Devices {
    ReadyDevice student;
    std::optional<ReadyDevice> other;  ///< the reference's, but where the two are one
    Submission answer;  ///< the reference, loaded; without kernels where its times are known

    [[nodiscard]] static base::Result<Devices> open(const Options& options);
    [[nodiscard]] const ReadyDevice& reference() const { return other ? *other : student; }
  };
  Session(const Options& options, const LabProgram& program, Watchdog& watchdog, course::Lab lab,
          Devices devices, Submission student, std::optional<ReferenceTimes> known);

  const Options& options_;
  const LabProgram& program_;
  Watchdog& watchdog_;
  course::Lab lab_;
  Devices devices_;
  base::Descriptor student_file_;  ///< held open: whoever made the file may remove it meanwhile
  Submission student_;
  std::optional<ReferenceTimes> known_;
  Seeds seeds_;
  Launcher student_launcher_, reference_launcher_;
  ClockReader clocks_;
  Ceilings ceilings_;
  std::unique_ptr<Bench> bench_;
};

}  // namespace membound::harness
