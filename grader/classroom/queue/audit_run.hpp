// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One stage of one submission, run whole at its first timed size, for its results alone: in jails
/// like the run that earned its points, with the same seeds.
/// Place in the chain: one_submission -> [audit_run] -> judge. Left out: what follows from it for
/// the grade (audit).
#pragma once

#include <cstddef>

#include "grader/classroom/queue/one_submission.hpp"

namespace membound::queue {

/// What a run may hold: of its arrays the test program keeps no more than half of that at once.
inline constexpr std::size_t kAuditBytes = std::size_t{2} << 30;

/// A grade with one stage, and `audit` about it. What our own side failed at is INFRA_ERROR.
[[nodiscard]] OneOutcome audit_one(const OneRequest& request);

}  // namespace membound::queue
