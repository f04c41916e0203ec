// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What gets jobs done: the local executor here, others elsewhere. An executor takes the jobs it is
/// given to the ledger and nothing more; what is left over is queued for the next start.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/intake/entries.hpp"
#include "grader/classroom/ledger/ledger.hpp"
#include "grader/classroom/queue/grading_settings.hpp"
#include "grader/classroom/queue/one_submission.hpp"
#include "grader/classroom/queue/plan.hpp"

namespace membound::queue {

/// Who watches. Called from several threads at once; may be empty.
struct Watcher {
  /// What a worker (from 0) is doing now; "" when it has nothing to do.
  std::function<void(int worker, const Job& job, const std::string& doing)> now;
  std::function<void(const Job& job, const course::Grade& grade)> done;
};

/// What all executors work on.
struct Work {
  const Plan* plan = nullptr;
  const Settings* settings = nullptr;
  ledger::Ledger* ledger = nullptr;
  const intake::Store* store = nullptr;
  const std::atomic<bool>* stop = nullptr;
  Watcher watcher;
  std::function<OneOutcome(const OneRequest&)> grade_one = queue::grade_one;
};

/// How it ended.
struct Executed {
  int graded = 0;
  bool stopped = false;  ///< by Ctrl-C
};

/// Tries of a job before our own failure becomes its verdict: of one that a cluster lost, and of
/// one that failed here, where the second comes when all other jobs are done.
inline constexpr int kMostAttempts = 3, kLocalAttempts = 2;

/// Workers on this machine: each compiles and grades one job at a time. A virtual device serves
/// them all at once, a real one only one at a time, also among several batches. Jobs that were
/// running when the grader died come last and alone. An error means that the batch cannot go on:
/// the disk is full, the device is lost, or several jobs in a row and a text of our own fail by our
/// own fault.
[[nodiscard]] base::Result<Executed> run_local(const Work& work,
                                               const std::vector<const Job*>& queue, int workers);

}  // namespace membound::queue
