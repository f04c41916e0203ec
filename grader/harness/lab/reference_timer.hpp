// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Times the reference answer alone, once for many submissions.
/// Place in the chain: main -> [reference_timer] -> timing, session. Left out: submissions.
#pragma once

#include "grader/harness/lab/session.hpp"
#include "grader/harness/measure/known_times.hpp"

namespace membound::harness {

/// Every timed case of every stage, each with two seeds: predicted times that differ depend on the
/// data, and are of no use for another submission's; nor are any without TimedCase::expected. Only
/// for virtual GPUs. Throws ReferenceError.
[[nodiscard]] ReferenceTimes time_references(Session& session);

}  // namespace membound::harness
