// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which jobs of a plan one call does: those that are open, and those that are asked for anew.
/// Place in the chain: batch -> [batch_jobs] -> plan, ledger.
#pragma once

#include "grader/classroom/queue/audit.hpp"
#include "grader/classroom/queue/batch.hpp"

namespace membound::queue {

/// Whether a student's row is meant by a word of the command line: id, name or email in any case.
[[nodiscard]] bool is_meant(const Row& row, const std::string& word);

/// Opens again what `request` wants graded anew.
[[nodiscard]] base::Status queue_regrading(const Plan& plan, const BatchRequest& request,
                                           ledger::Ledger& ledger);

/// The open jobs that the call means and that verdicts made now would fit; `notes` tells how many
/// are left for another call.
[[nodiscard]] base::Result<std::vector<const Job*>> queue_of(const Plan& plan,
                                                             const BatchRequest& request,
                                                             const ledger::Ledger& ledger,
                                                             std::vector<std::string>& notes);

/// What the call is to audit, the most points first, of verdicts that audits made now would fit;
/// `notes` tells how many are left for another call. With `retry_failed` what failed by our own
/// fault is opened again.
[[nodiscard]] base::Result<std::vector<PlannedAudit>> audits_for(const Plan& plan,
                                                                 const BatchRequest& request,
                                                                 ledger::Ledger& ledger,
                                                                 std::vector<std::string>& notes);

}  // namespace membound::queue
