// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What an audit found: stages whose predicted speed earned points, run whole for their results.
/// A launch that is timed by some of its blocks is held against what those blocks wrote; an audit
/// runs all of them.
/// Place in the chain: classroom/queue -> [audit_record] -> grade, report. Left out: running one.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "grader/course/contract.hpp"

namespace membound::course {

/// One stage, run whole at its first timed size.
struct AuditedStage {
  int stage = 0;
  Verdict verdict = Verdict::kPassed;
  std::string note;    ///< why it is not right, or why it did not come to its end; else empty
  double seconds = 0;  ///< that the audit took

  [[nodiscard]] bool right() const { return verdict == Verdict::kPassed; }
  /// The results are wrong, or the kernel broke a rule of the device: the stage's points are taken.
  [[nodiscard]] bool takes_points() const;
};

/// Of one grade.
struct Audit {
  int earned = 0;                    ///< stages that earned points for a predicted speed
  std::vector<AuditedStage> stages;  ///< that were run whole, ascending

  /// How many stages are known to be right or wrong.
  [[nodiscard]] int decided() const;
};

/// "3 of 6 stages", "6 of 6 stages; wrong in stage 1", "2 of 3 stages; stage 2: did not end"; empty
/// where no predicted speed earned points.
[[nodiscard]] std::string audit_text(const std::optional<Audit>& audit);

void to_json(nlohmann::json& out, const AuditedStage& value);
void to_json(nlohmann::json& out, const Audit& value);
void from_json(const nlohmann::json& in, AuditedStage& value);
void from_json(const nlohmann::json& in, Audit& value);

}  // namespace membound::course
