// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The rows of the ledger's two tables, without SQLite: the state of a job, an entry of the chain
/// and its signature. ledger_database.cpp makes and reads them.
#pragma once

#include <string>
#include <string_view>

namespace membound::ledger {

/// One line of the ledger, signed together with the signature of the one before.
struct ChainEntry {
  int number = 0;           ///< from 1, without gaps
  std::string kind;         ///< "plan", "verdict", "audit", "mark" or "comment"
  std::string key;          ///< the job's; of a plan its digest; of a mark its student and lab
  int round = 0;            ///< of the job; of all others how many there were before
  std::string file_sha256;  ///< of the result file
  /// Of the verdict: JSON with digests, seed, limits, score; of a mark or comment: all of it.
  std::string summary;
  std::string previous;  ///< mac of the entry before; empty for the first
  std::string mac;

  /// Whether it stands for a result file.
  [[nodiscard]] bool has_file() const { return kind == "verdict" || kind == "audit"; }
};

/// HMAC over everything but `mac`.
[[nodiscard]] std::string mac_of(const ChainEntry& entry, std::string_view secret);

/// queued -> running -> done; a job that was running when the grader died twice is quarantined.
enum class State { kQueued, kRunning, kDone, kQuarantined };

[[nodiscard]] std::string_view to_string(State state);

/// One job as the ledger sees it.
struct JobState {
  std::string key;
  State state = State::kQueued;
  int round = 1;
  int attempts = 0;  ///< that ended in an error of ours, and which the grader survived
  int deaths = 0;    ///< how often the grader died while the job was running
};

}  // namespace membound::ledger
