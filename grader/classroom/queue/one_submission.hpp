// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One job from its text to its grade: what it asks of the judge, what came of it, and what that
/// means for a score. A job is a verdict on all stages of a lab, or an audit: one stage, run whole
/// at its first timed size. The only place in grading that knows how a submission is run.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "grader/base/result.hpp"
#include "grader/classroom/queue/grading_settings.hpp"
#include "grader/classroom/queue/plan.hpp"
#include "grader/course/grade.hpp"
#include "grader/judge/check_request.hpp"

namespace membound::queue {

/// What to run, and who wants to know how far it is.
struct OneRequest {
  const Settings* settings = nullptr;
  const course::Lab* lab = nullptr;
  const Job* job = nullptr;
  const PlannedLab* planned = nullptr;
  std::string limits;            ///< in force, for the record
  std::filesystem::path source;  ///< the kernel.cu in the store
  const std::atomic<bool>* stop = nullptr;
  int at_once = 1;  ///< submissions that share the processors
  /// A verdict is repeated: what others of the batch left behind is not used, but made anew.
  bool is_replay = false;
  std::function<void(const std::string& doing)> on_step = {};
  /// Called before a device is used and after; see DevicePool. Without them it is the settings'.
  std::function<const judge::Device&()> take_device = {};
  std::function<void(const judge::Device&)> free_device = {};
  /// Of a device that this one alone uses meanwhile; null, or without this function: a run has its
  /// own.
  std::function<judge::ReferenceRunner*(const judge::Device&)> reference_runner = {};

  /// By Ctrl-C.
  [[nodiscard]] bool stopped() const { return stop != nullptr && stop->load(); }
};

/// What came of it.
struct OneOutcome {
  course::Grade grade;   ///< without a student; meaningless when `stopped`
  bool stopped = false;  ///< by Ctrl-C: nothing was decided
  /// The device does not work since: the grade stands, and the next one would not.
  std::optional<base::Error> device_lost = {};
};

/// A verdict, or of a job that is an audit a grade with one stage, and `audit` about it.
/// Never decides about what our own side failed at: that is the verdict INFRA_ERROR, with the
/// reason in its note.
[[nodiscard]] OneOutcome grade_one(const OneRequest& request);

/// What a run that is an audit may hold: of its arrays the test program keeps no more than half of
/// that at once.
inline constexpr std::size_t kAuditBytes = std::size_t{2} << 30;

/// Why a grade is not a pass, in a line for the table: the finding of the first stage that is as
/// bad as the whole. Of our own failures the last line, where a program says why it ended; of all
/// others the first.
[[nodiscard]] std::string reason(const course::Grade& grade);

/// How such a remark in a grade's note begins: "look at stage 4: …".
inline constexpr std::string_view kLook = "look at stage ";
/// Passed stages whose predicted speed a person should look at, and why; empty for none.
[[nodiscard]] std::string stages_to_look_at(const course::Grade& grade);

/// How often and how long a device is asked whether it still works after a submission that broke a
/// rule of it. The driver needs seconds to take a kernel that never
/// ends off the device once its process is gone.
struct ProbeTries {
  double seconds_per_try = 20;
  int tries = 3;
  double seconds_between = 5;
};

/// Runs one kernel in a process of its own and reads its result back. An error: the device does not
/// answer, or answers wrong.
[[nodiscard]] base::Status probe_device(const Settings& settings, const judge::Device& device,
                                        const ProbeTries& probe = {});

}  // namespace membound::queue
