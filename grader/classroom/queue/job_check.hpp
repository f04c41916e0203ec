// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a job asks of the judge: the batch's tools, device and limits, and the job's text and
/// seeds. Place in the chain: one_submission, audit_run -> [job_check] -> judge.
#pragma once

#include "grader/base/result.hpp"
#include "grader/classroom/queue/one_submission.hpp"
#include "grader/judge/check_request.hpp"

namespace membound::queue {

/// All stages of the job's lab, in jails unless submissions are trusted. `request` must outlive it.
[[nodiscard]] base::Result<judge::CheckRequest> check_of(const OneRequest& request);

}  // namespace membound::queue
