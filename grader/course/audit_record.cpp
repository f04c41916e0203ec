// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/audit_record.hpp"

#include <algorithm>

#include "grader/course/json_fields.hpp"

namespace membound::course {

bool AuditedStage::takes_points() const {
  const GradeVerdict grade = row_of(verdict).grade;
  return grade == GradeVerdict::kFailWrong || grade == GradeVerdict::kCrash;
}

int Audit::decided() const {
  return static_cast<int>(std::count_if(stages.begin(), stages.end(), [](const auto& stage) {
    return stage.right() || stage.takes_points();
  }));
}

std::string audit_text(const std::optional<Audit>& audit) {
  if (!audit || audit->earned == 0) return "";
  std::string text = std::to_string(audit->decided()) + " of " + std::to_string(audit->earned) +
                     (audit->earned == 1 ? " stage" : " stages");
  std::string wrong, others;
  for (const AuditedStage& stage : audit->stages) {
    if (stage.takes_points())
      wrong += (wrong.empty() ? "; wrong in stage " : ", ") + std::to_string(stage.stage);
    else if (!stage.right())
      others += "; stage " + std::to_string(stage.stage) + ": " +
                std::string(row_of(stage.verdict).words);
  }
  return text + wrong + others;
}

MEMBOUND_JSON(AuditedStage, stage, verdict, note, seconds)
MEMBOUND_JSON(Audit, earned, stages)

}  // namespace membound::course
