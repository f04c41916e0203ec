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

}  // namespace membound::queue
