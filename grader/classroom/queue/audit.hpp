// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which stages of a class an audit runs whole, in which order, what that takes, and what a grade
/// is afterwards. A stage is audited if points hang on a speed that a virtual GPU predicted from
/// some blocks of a launch: nobody has seen what the other blocks do. An audit is a job like any
/// other; its key follows from the verdict, so that a verdict made anew is audited anew.
#pragma once

#include <string>
#include <vector>

#include "grader/classroom/ledger/ledger.hpp"
#include "grader/classroom/queue/plan.hpp"
#include "grader/course/grade.hpp"

namespace membound::queue {

/// Whether points of this stage hang on a predicted speed.
[[nodiscard]] bool earned_by_prediction(const course::Grade& grade,
                                        const course::StageResult& stage);

/// A stage to run whole.
struct PlannedAudit {
  Job job;
  double points = 0;             ///< that it may take
  double warp_instructions = 0;  ///< of the launches to run, as the verdict predicted them
};

/// The audits of all verdicts that are there, the most points first.
[[nodiscard]] std::vector<PlannedAudit> audits_of(const Plan& plan,
                                                  const ledger::Verdicts& verdicts);

/// Those of them that have not been made: neither done nor in quarantine.
[[nodiscard]] std::vector<PlannedAudit> open_audits(const Plan& plan,
                                                    const ledger::Verdicts& verdicts);

/// Seconds that `workers` need for `open`: by the instructions that the verdicts counted, at the
/// rate of the audits that were made, or of docs/performance.md where there are none yet.
[[nodiscard]] double audit_seconds(const Plan& plan, const ledger::Verdicts& verdicts,
                                   const std::vector<PlannedAudit>& open, int workers);

/// The verdict of the job `key` with what its audits found: `grade.audit`, and for a stage that is
/// wrong its verdict, points and findings.
[[nodiscard]] course::Grade with_audits(const std::string& key, course::Grade grade,
                                        const ledger::Verdicts& verdicts);

/// As many workers as `workers` whose runs fit into this machine's free memory, one at least.
[[nodiscard]] int audit_workers(int workers);

}  // namespace membound::queue
