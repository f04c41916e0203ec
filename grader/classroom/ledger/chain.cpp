// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/ledger/chain.hpp"

#include "grader/base/digest.hpp"
#include "grader/course/json_io.hpp"

namespace membound::ledger {

std::string mac_of(const ChainEntry& entry, std::string_view secret) {
  std::string text;
  // Lengths go before the parts, so that no two entries have one text.
  for (const std::string& part :
       {std::to_string(entry.number), entry.kind, entry.key, std::to_string(entry.round),
        entry.file_sha256, entry.summary, entry.previous})
    text += std::to_string(part.size()) + ":" + part;
  return base::hmac_sha256(secret, text);
}

std::string summary_of(const course::Grade& grade) {
  const nlohmann::json whole = grade;
  nlohmann::json kept;
  for (const char* key :
       {"lab", "verdict", "score", "max_score", "ratio", "device", "submission_sha256", "seed",
        "seed_key", "digests", "limits_in_force", "graded_at"})
    kept[key] = whole.at(key);
  if (grade.audit) kept["audit"] = whole.at("audit");
  return course::dump_safely(kept);
}

}  // namespace membound::ledger
