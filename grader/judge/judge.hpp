// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One submission from kernel.cu to Result: compile, measure, judge. In three parts, of which only
/// measuring uses the device: others compile, and are looked at by checkers, meanwhile.
/// Place in the chain: cli -> [check] -> device_code, runner, verdict.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/lab_result.hpp"
#include "grader/course/measurement.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/judge/compile.hpp"
#include "grader/judge/split_run.hpp"

namespace membound::judge {

/// The folders a check works with.
struct Workplace {
  std::filesystem::path root;   ///< the course
  std::filesystem::path build;  ///< test programs and reference answers
  std::filesystem::path state;  ///< .membound: cache/, state/, tmp/
};

/// The reference answer that the build made with this compiler; it may be absent.
[[nodiscard]] std::filesystem::path built_reference(const Workplace& place, const std::string& lab,
                                                    compilers::DeviceCompiler compiler);
/// Its source.
[[nodiscard]] std::filesystem::path reference_source(const Workplace& place,
                                                     const std::string& lab);
/// The lab's test program for stages of this kind.
[[nodiscard]] std::filesystem::path test_program(const Workplace& place, const std::string& lab,
                                                 const course::StageKind& kind);
/// The harness's own kernels, as the build's compiler made them: a fatbin, or PTX.
[[nodiscard]] std::filesystem::path harness_kernels(const Workplace& place);

/// At what to look a second time, with the virtual GPU's checkers on: see second_look.hpp.
struct Looks {
  bool at_failures = false;
  bool at_right_results = false;
  /// Where the device counts nothing: runs on the virtual GPU what was timed, for its counters.
  bool for_counters = false;

  [[nodiscard]] bool any() const { return at_failures || at_right_results; }
};

/// What to check, where and how.
struct CheckRequest {
  Workplace place;
  const course::Lab* lab = nullptr;
  std::vector<int> stages;
  std::filesystem::path submission;  ///< the kernel.cu
  compilers::CompilerInfo compiler;
  std::string architecture = "90";
  Device device = real_gpu();
  std::vector<std::string> more_arguments = {};  ///< for a test program of kernels
  std::uint64_t seed = 1;
  std::optional<SplitOptions> split = {};  ///< graded: see split_options()
  int stages_at_once = 1;                  ///< more only where nothing is timed by a clock
  Looks looks = {};                        ///< what to run again with the checkers on
  bool times_programs = true;              ///< where the device does that, and nothing is graded
  double seconds_per_stage = 180;          ///< backstop for a test program that reports nothing
  double device_seconds = 0;               ///< see SplitOptions; of each look again
  std::string version;                     ///< Membound's, for the result
  const std::atomic<bool>* stop = nullptr;
  std::function<void(int stage)> on_tick = {};
  std::function<void(int stage)> on_second_look = {};  ///< the same while a failure is run again
  /// Set for code that nobody trusts; what the lab allows besides is added from lab.json.
  std::optional<GradedCompile> graded = {};
};

/// How the submission is compiled for stages of this kind.
[[nodiscard]] CompileRequest submission_request(const CheckRequest& request,
                                                const course::StageKind& kind);

/// The submission as the stages of one kind need it, and the reference answer it is held against.
struct CompiledPart {
  const course::StageKind* kind;
  std::vector<int> stages;  ///< of those that were asked for
  CompiledCode submission = {};
  std::filesystem::path reference = {};
  std::filesystem::path preload = {};  ///< see RunRequest::preload
  std::string not_for_compiler = {};   ///< why it was not compiled: another compiler is needed
};

/// One for each kind among the stages that were asked for, at least one.
struct CompiledSubmission {
  std::vector<CompiledPart> parts;

  [[nodiscard]] bool any_compiled() const;
  /// The first part that does not compile, or else the first.
  [[nodiscard]] const CompiledCode& first_problem() const;
  /// The code of the first part that compiles; only where there is one.
  [[nodiscard]] const std::filesystem::path& file() const;
  /// The part of stages that have a reference answer, compiled; may be null.
  [[nodiscard]] const CompiledPart* with_reference() const;
};

/// Compiles the submission, once for each kind of stage; the reference too where the build's own is
/// of another compiler, or is a program to be timed beside it.
[[nodiscard]] base::Result<CompiledSubmission> compile_submission(const CheckRequest& request);

/// Lets a check run on this one of several devices of its kind.
[[nodiscard]] base::Status use_device(const Device& device, CheckRequest& request);

/// What was seen on the device, before anything is decided.
struct Measured {
  /// For each part of the submission; nothing where it does not run on the request's device.
  std::vector<std::optional<std::vector<course::StageMeasurement>>> parts;
  bool stopped = false;  ///< by Ctrl-C
  double seconds = 0;

  /// Whether the device may be in a bad state since: a fault, a launch that did not end, a lost
  /// runner, or a time too good to be true.
  [[nodiscard]] bool may_have_hurt() const;
};

/// The only part of a check that uses the request's device.
[[nodiscard]] base::Result<Measured> measure(const CheckRequest& request,
                                             const CompiledSubmission& code);

/// Looks a second time, on the virtual GPU where the request's device has no checkers, and judges.
/// Stages that did not finish before Ctrl-C are left out of the result.
[[nodiscard]] base::Result<course::Result> judge_measured(const CheckRequest& request,
                                                          const CompiledSubmission& code,
                                                          Measured measured);

/// Both. Stages that did not finish before Ctrl-C are left out of the result.
[[nodiscard]] base::Result<course::Result> run_and_judge(const CheckRequest& request,
                                                         const CompiledSubmission& code);

/// A graded run of `request`: runners of this build, what they may use, and a fresh seed key. The
/// caller keeps the key for who wants to repeat the run, or puts that of an earlier run in place.
[[nodiscard]] base::Result<SplitOptions> split_options(const CheckRequest& request);

/// All of it.
[[nodiscard]] base::Result<course::Result> check(const CheckRequest& request);

/// Now, as results write it: "2026-11-21T06:18:13Z".
[[nodiscard]] std::string utc_now();

}  // namespace membound::judge
