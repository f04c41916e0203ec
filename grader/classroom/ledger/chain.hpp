// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The chain of entries: each is signed together with the signature of the one before.
/// Place in the chain: ledger, verify -> [chain]. Pure.
#pragma once

#include <string>
#include <string_view>

#include "grader/course/grade.hpp"

namespace membound::ledger {

/// One line of the ledger.
struct ChainEntry {
  int number = 0;           ///< from 1, without gaps
  std::string kind;         ///< "plan", "verdict", "audit" or "mark"
  std::string key;          ///< the job's; of a plan its digest; of a mark its student and lab
  int round = 0;            ///< of the job; of a plan or mark how many there were before
  std::string file_sha256;  ///< of the result file
  std::string summary;   ///< of the verdict: JSON with digests, seed, limits, score; of a mark: all
  std::string previous;  ///< mac of the entry before; empty for the first
  std::string mac;

  /// Whether it stands for a result file.
  [[nodiscard]] bool has_file() const { return kind == "verdict" || kind == "audit"; }
};

/// HMAC over everything but `mac`.
[[nodiscard]] std::string mac_of(const ChainEntry& entry, std::string_view secret);

/// What the ledger itself keeps of a grade: verdict, score, and what they depend on.
[[nodiscard]] std::string summary_of(const course::Grade& grade);

}  // namespace membound::ledger
