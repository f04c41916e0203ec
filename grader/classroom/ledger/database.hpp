// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The ledger's tables, one function for each thing that is asked of them. SQLite's exceptions pass
/// through; ledger.cpp and verify.cpp turn them into errors.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/classroom/ledger/chain.hpp"
#include "grader/classroom/ledger/ledger.hpp"

namespace membound::ledger {

class Database {
 public:
  /// OUT/ledger.sqlite; made unless `read_only`.
  Database(const std::filesystem::path& out, bool read_only);

  [[nodiscard]] SQLite::Transaction begin() {
    return SQLite::Transaction(connection_, SQLite::TransactionBehavior::IMMEDIATE);
  }

  [[nodiscard]] std::vector<JobState> jobs();
  [[nodiscard]] std::optional<JobState> job(const std::string& key);
  void add_job(const std::string& key);
  void set_job(const JobState& job);

  [[nodiscard]] std::vector<ChainEntry> entries();
  /// Marks by hand, in their order.
  [[nodiscard]] std::vector<ChainEntry> marks();
  [[nodiscard]] std::optional<ChainEntry> last_entry();
  [[nodiscard]] std::optional<ChainEntry> last_plan();
  /// Of a verdict or an audit.
  [[nodiscard]] std::optional<ChainEntry> verdict(const std::string& key, int round);
  /// Numbers, chains and signs it. Within a transaction.
  void append(ChainEntry entry, std::string_view secret);
  /// SQLite's own check; "ok" where all is well.
  [[nodiscard]] std::string integrity();

 private:
  SQLite::Database connection_;
};

}  // namespace membound::ledger
