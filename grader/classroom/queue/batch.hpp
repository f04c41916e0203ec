// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A class from what was handed in to grades.csv: take in, plan, grade what is not graded yet,
/// write. Giving the same command again goes on where the last one ended, however it ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/intake/intake.hpp"
#include "grader/classroom/ledger/ledger.hpp"
#include "grader/classroom/queue/batch_executor.hpp"
#include "grader/classroom/queue/class_grades.hpp"
#include "grader/classroom/queue/grading_settings.hpp"
#include "grader/classroom/queue/hand_marks.hpp"
#include "grader/classroom/queue/plan.hpp"

namespace membound::queue {

/// What the batch starts with, for whoever shows it.
struct BatchStart {
  std::size_t rows = 0;    ///< of the plan
  std::size_t jobs = 0;    ///< different texts
  std::size_t queued = 0;  ///< to be graded now
  std::string limits;
  std::vector<std::string> notes;
};

/// What an audit starts with.
struct AuditStart {
  std::size_t stages = 0;  ///< to be run whole now
  int workers = 1;         ///< at once: each needs memory
  double seconds = 0;      ///< that it will take, about
  std::vector<std::string> notes = {};
};

/// The roster that the last call with one left in the results folder `out`.
[[nodiscard]] std::filesystem::path kept_roster(const std::filesystem::path& out);

/// What one call is to do.
struct BatchRequest : PlanRequest {
  std::optional<std::string> roster_text;  ///< of intake.roster, to be kept for later calls
  ledger::OpenOptions ledger;
  std::vector<std::string> only;  ///< students; empty: all
  /// Students whose verdicts are made anew; "all": everybody. In intake.lab alone, if one is named.
  std::vector<std::string> regrade;
  bool retry_failed = false;             ///< INFRA_ERROR is tried again
  bool audit = false;                    ///< run whole what earned points; see audit.hpp
  std::vector<RegradeRequest> requests;  ///< made anew too; OUT/regrade-decisions.csv answers them
  /// Does the jobs; empty: run_local with `workers`.
  std::function<base::Result<Executed>(const Work&, const std::vector<const Job*>&)> executor;
  int workers = 1;
  /// Another way to grade one job than the real one: tests that kill batches need quick ones.
  std::function<OneOutcome(const OneRequest&)> grade_one = queue::grade_one;
  Detail detail = Detail::kWhole;  ///< of the summary's grades
  const std::atomic<bool>* stop = nullptr;
  Watcher watcher;
  std::function<void(const BatchStart&)> on_start;
  std::function<void(const AuditStart&)> on_audit;  ///< all verdicts are there; may be empty
};

/// What came of it.
struct BatchSummary {
  Plan plan;
  ClassGrades grades;
  int graded = 0;          ///< in this call
  AuditStart not_audited;  ///< what a call with `audit` would still do
  bool stopped = false;
};

/// An error means that the batch could not start, or could not go on; what was graded is kept.
[[nodiscard]] base::Result<BatchSummary> run_batch(const BatchRequest& request);

/// A mark, or a total, that is another one now.
struct Change {
  std::string student, lab;   ///< the lab is empty for the total of the course
  std::string before, after;  ///< "FAIL_SLOW, 6 of 10"
  std::string why;
};

/// What differs between the same class before and after: first marks by student and lab, then
/// totals. Both with their stages.
[[nodiscard]] std::vector<Change> changes_between(const ClassGrades& before,
                                                  const ClassGrades& after);

/// A row for each change.
[[nodiscard]] std::string changes_csv(const std::vector<Change>& changes);

/// What a call would change.
struct Rehearsal {
  std::vector<Change> changes;
  bool stopped = false;  ///< the changes are not all
};

/// Does the call in a copy of `request.out`, with labs, test programs and compiler as they are now,
/// and tells what would be another mark. What is in `request.out` stays as it is; the copy, in
/// OUT/rehearsal, is removed.
[[nodiscard]] base::Result<Rehearsal> rehearse_batch(const BatchRequest& request);

// Removing a person from a graded class: rows, marks, comments, texts and verdicts of theirs alone,
// pages and exports, and what lies in the folders and archives that were handed in. What stays is
// what distributions need, and a keyed digest by which later calls leave the person out.

struct ForgetRequest {
  std::filesystem::path out, key_file;
  std::string student;         ///< id, name or email
  bool keep_archives = false;  ///< folders and archives outside of OUT stay as they are
};

/// What was removed.
struct Forgotten {
  std::size_t rows = 0;      ///< of the plan
  std::size_t verdicts = 0;  ///< of texts that nobody else handed in
  std::size_t texts = 0;
  std::vector<std::string> cleaned;  ///< files and folders outside of OUT that held work
  std::vector<std::string> outside;  ///< those that still hold work or the name, and why
};

/// Repeats what a kill left undone where it is called again. An error where nobody, or more than
/// one, is meant.
[[nodiscard]] base::Result<Forgotten> forget_student(const ForgetRequest& request);

}  // namespace membound::queue
