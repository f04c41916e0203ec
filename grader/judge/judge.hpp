// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One submission from kernel.cu to Result: compile, measure, judge. In three parts, of which only
/// measuring uses the device: others compile, and are looked at by checkers, meanwhile.
/// Place in the chain: cli -> [judge] -> compile, test_program, verdict.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab_result.hpp"
#include "grader/course/measurement.hpp"
#include "grader/judge/compiled_submission.hpp"
#include "grader/judge/early_look.hpp"

namespace membound::judge {

/// What was seen on the device, before anything is decided.
struct Measured {
  /// For each part of the submission; nothing where it does not run on the request's device.
  std::vector<std::optional<std::vector<course::StageMeasurement>>> parts;
  bool stopped = false;  ///< by Ctrl-C
  double seconds = 0;
  std::unique_ptr<EarlyLook> early;  ///< at the only stage, whose results are right; mostly null

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

/// All of it.
[[nodiscard]] base::Result<course::Result> check(const CheckRequest& request);

/// Now, as results write it: "2026-11-21T06:18:13Z".
[[nodiscard]] std::string utc_now();

}  // namespace membound::judge
