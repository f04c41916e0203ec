// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One submission from kernel.cu to Result, in a line: compile, run, run again with checkers,
/// judge. Of these only running uses the request's device: others compile, and are rerun with
/// checkers, meanwhile. Each step gets what it needs and no request: BuildRequest, RunRequest,
/// measurements.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab_result.hpp"
#include "grader/course/measurement.hpp"
#include "grader/judge/check_request.hpp"
#include "grader/judge/checker_rerun.hpp"
#include "grader/judge/compiled_submission.hpp"

namespace membound::judge {

/// What was seen on the device, before anything is decided.
struct Measured {
  /// For each part of the submission; nothing where it does not run on the request's device.
  std::vector<std::optional<std::vector<course::StageMeasurement>>> parts;
  bool stopped = false;  ///< by Ctrl-C
  double seconds = 0;
  std::unique_ptr<EarlyRerun> early;  ///< of the only stage, whose results are right; mostly null

  /// Whether the device may be in a bad state since: a fault, a launch that did not end, a lost
  /// runner, or a time too good to be true.
  [[nodiscard]] bool may_have_hurt() const;
};

/// Compiles what the request asks for.
[[nodiscard]] base::Result<CompiledSubmission> compile_submission(const CheckRequest& request);

/// The only part of a check that uses the request's device.
[[nodiscard]] base::Result<Measured> measure(const CheckRequest& request,
                                             const CompiledSubmission& code);

/// Runs again with checkers, on the virtual GPU where the request's device has none, and judges.
/// Stages that did not finish before Ctrl-C are left out of the result.
[[nodiscard]] base::Result<course::Result> judge_measured(const CheckRequest& request,
                                                          const CompiledSubmission& code,
                                                          Measured measured);

/// Both. Stages that did not finish before Ctrl-C are left out of the result.
[[nodiscard]] base::Result<course::Result> run_and_judge(const CheckRequest& request,
                                                         const CompiledSubmission& code);

/// All of it.
[[nodiscard]] base::Result<course::Result> check(const CheckRequest& request);

/// Now, as results write it: "2026-11-21T06:18:13Z".
[[nodiscard]] std::string utc_now();

}  // namespace membound::judge
