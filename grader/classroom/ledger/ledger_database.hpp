// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The ledger's tables, one function for each thing that is asked of them, and the lock that lets
/// one grader at a time use them. SQLite's exceptions pass through; ledger.cpp turns them into
/// errors.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "grader/base/result.hpp"
#include "grader/classroom/ledger/ledger.hpp"

namespace membound::ledger {

/// Holds OUT/lock until it goes away. Its content says whether the holder ended by itself; it is
/// overwritten in place, which a full disk does not prevent.
class BatchLock {
 public:
  /// Fails at once where another process holds it, and names that process.
  [[nodiscard]] static base::Result<BatchLock> take(const std::filesystem::path& out);
  BatchLock(BatchLock&& other) noexcept;
  BatchLock& operator=(BatchLock&&) = delete;
  /// Writes that this process ended by itself.
  ~BatchLock();

  /// The process that held it before was killed, or the machine died with it.
  [[nodiscard]] bool last_one_died() const { return last_one_died_; }

 private:
  BatchLock(int descriptor, bool died) : descriptor_(descriptor), last_one_died_(died) {}

  int descriptor_;
  bool last_one_died_;
};

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
  /// Those of one kind, in their order.
  [[nodiscard]] std::vector<ChainEntry> entries(const std::string& kind);
  [[nodiscard]] std::optional<ChainEntry> last_entry();
  [[nodiscard]] std::optional<ChainEntry> last_plan();
  /// Of a verdict or an audit.
  [[nodiscard]] std::optional<ChainEntry> verdict(const std::string& key, int round);
  /// Numbers, chains and signs it. Within a transaction.
  void append(ChainEntry entry, std::string_view secret);
  /// Leaves only `entries`, numbered, chained and signed anew, and takes jobs out. Within a
  /// transaction.
  void keep_only(const std::vector<ChainEntry>& entries, const std::set<std::string>& dropped_jobs,
                 std::string_view secret);
  /// Overwrites what was deleted, now and from here on. Not within a transaction.
  void wipe();
  /// SQLite's own check; "ok" where all is well.
  [[nodiscard]] std::string integrity();

 private:
  SQLite::Database connection_;
};

}  // namespace membound::ledger
