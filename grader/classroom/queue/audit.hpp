// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which stages of a class an audit runs whole, in which order, and what that takes. A stage is
/// audited if points depend on a speed that a virtual GPU predicted from some blocks of a launch:
/// nobody has seen what the other blocks do. An audit is a job like any other; its key follows from
/// the verdict, so that a verdict made anew is audited anew.
#pragma once

#include <string>
#include <vector>

#include "grader/classroom/ledger/ledger.hpp"
#include "grader/classroom/queue/plan.hpp"
#include "grader/course/grade.hpp"

namespace membound::queue {

/// Of the audit of a stage of the verdict with this key and round.
[[nodiscard]] std::string audit_key(const std::string& verdict, int round, int stage);

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

/// As many workers as `workers` whose runs fit into this machine's free memory, one at least.
[[nodiscard]] int audit_workers(int workers);

}  // namespace membound::queue
