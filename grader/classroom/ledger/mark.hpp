// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a person decided about a student's lab, as the ledger keeps it: signed, in the chain,
/// beside the automatic verdicts. The last one of a student and lab is the one that is meant.
/// Place in the chain: cli mark -> [mark] -> ledger, outputs. Left out: which grade it changes.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::ledger {

struct Mark {
  std::string student, lab;
  std::optional<double> points;  ///< nothing: an earlier mark is taken back
  std::string comment;           ///< for the student, too
  std::string marked_at;         ///< UTC
  /// Digest of the texts that were handed in when it was decided: new work is not decided yet.
  std::string basis;
  std::string automatic;  ///< the automatic verdict and score that the person saw, in words
};

void to_json(nlohmann::json& out, const Mark& value);
void from_json(const nlohmann::json& in, Mark& value);

/// All marks in the order in which they were made. An error where the ledger cannot be read or an
/// entry is not signed by this batch.
[[nodiscard]] base::Result<std::vector<Mark>> read_marks(const std::filesystem::path& out,
                                                         const std::filesystem::path& key_file);

}  // namespace membound::ledger
