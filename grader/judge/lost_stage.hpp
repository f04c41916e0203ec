// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Why a test program ended without telling of a stage: by its own end, or by a limit that the
/// submission's runner reached.
/// Place in the chain: test_program -> [lost_stage].
#pragma once

#include <string>

#include "grader/base/process.hpp"
#include "grader/course/measurement.hpp"
#include "grader/sandbox/jail/outcome.hpp"

namespace membound::judge {

/// The abort that a limit stands for which only the submission can have reached; kNone for one that
/// the machine may have set: what its runner is refused may also be what its driver asks for.
[[nodiscard]] course::Cause abort_of(jail::LimitHit limit);

[[nodiscard]] std::string limit_text(jail::LimitHit limit);

/// What is said of a stage in its place.
struct Loss {
  course::Cause abort;
  std::string text;
};
[[nodiscard]] Loss loss_of(const base::ProcessOutcome& process, jail::LimitHit limit,
                           double backstop_seconds);

}  // namespace membound::judge
