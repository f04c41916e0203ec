// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/ledger/database.hpp"

#include <array>
#include <utility>

namespace membound::ledger {
namespace {

constexpr int kBusyMs = 10'000;

constexpr std::array<std::pair<State, std::string_view>, 4> kStates = {{
    {State::kQueued, "queued"},
    {State::kRunning, "running"},
    {State::kDone, "done"},
    {State::kQuarantined, "quarantined"},
}};

constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS job(
  key TEXT PRIMARY KEY, state TEXT NOT NULL, round INTEGER NOT NULL, attempts INTEGER NOT NULL,
  deaths INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entry(
  number INTEGER PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, round INTEGER NOT NULL,
  file_sha256 TEXT NOT NULL, summary TEXT NOT NULL, previous TEXT NOT NULL, mac TEXT NOT NULL,
  UNIQUE(kind, key, round));
)";

constexpr const char* kEntryColumns =
    "SELECT number, kind, key, round, file_sha256, summary, previous, mac FROM entry ";

State state_from(const std::string& text) {
  for (const auto& [state, name] : kStates)
    if (name == text) return state;
  return State::kQueued;
}

JobState job_of(SQLite::Statement& query) {
  return {query.getColumn(0).getString(), state_from(query.getColumn(1).getString()),
          query.getColumn(2).getInt(), query.getColumn(3).getInt(), query.getColumn(4).getInt()};
}

ChainEntry entry_of(SQLite::Statement& query) {
  ChainEntry entry;
  entry.number = query.getColumn(0).getInt();
  entry.kind = query.getColumn(1).getString();
  entry.key = query.getColumn(2).getString();
  entry.round = query.getColumn(3).getInt();
  entry.file_sha256 = query.getColumn(4).getString();
  entry.summary = query.getColumn(5).getString();
  entry.previous = query.getColumn(6).getString();
  entry.mac = query.getColumn(7).getString();
  return entry;
}

std::optional<ChainEntry> first_of(SQLite::Statement& query) {
  if (!query.executeStep()) return std::nullopt;
  return entry_of(query);
}

}  // namespace

std::string_view to_string(State state) {
  for (const auto& [value, name] : kStates)
    if (value == state) return name;
  return "queued";
}

Database::Database(const std::filesystem::path& out, bool read_only)
    : connection_((out / "ledger.sqlite").string(),
                  read_only ? SQLite::OPEN_READONLY : SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                  kBusyMs) {
  if (read_only) return;
  // Not the write-ahead log: Debian 12's SQLite (3.40) can lose commits there once a second
  // connection, such as verify's, looks on.
  connection_.exec("PRAGMA journal_mode = TRUNCATE");
  connection_.exec("PRAGMA synchronous = FULL");
  SQLite::Transaction making(connection_, SQLite::TransactionBehavior::IMMEDIATE);
  connection_.exec(kTables);
  making.commit();
}

std::vector<JobState> Database::jobs() {
  SQLite::Statement query(connection_,
                          "SELECT key, state, round, attempts, deaths FROM job ORDER BY key");
  std::vector<JobState> all;
  while (query.executeStep()) all.push_back(job_of(query));
  return all;
}

std::optional<JobState> Database::job(const std::string& key) {
  SQLite::Statement query(connection_,
                          "SELECT key, state, round, attempts, deaths FROM job WHERE key = ?");
  query.bind(1, key);
  if (!query.executeStep()) return std::nullopt;
  return job_of(query);
}

void Database::add_job(const std::string& key) {
  SQLite::Statement insert(connection_, "INSERT OR IGNORE INTO job VALUES(?, 'queued', 1, 0, 0)");
  insert.bind(1, key);
  insert.exec();
}

void Database::set_job(const JobState& job) {
  SQLite::Statement update(
      connection_, "UPDATE job SET state = ?, round = ?, attempts = ?, deaths = ? WHERE key = ?");
  update.bind(1, std::string(to_string(job.state)));
  update.bind(2, job.round);
  update.bind(3, job.attempts);
  update.bind(4, job.deaths);
  update.bind(5, job.key);
  update.exec();
}

std::vector<ChainEntry> Database::entries() {
  SQLite::Statement query(connection_, std::string(kEntryColumns) + "ORDER BY number");
  std::vector<ChainEntry> all;
  while (query.executeStep()) all.push_back(entry_of(query));
  return all;
}

std::vector<ChainEntry> Database::marks() {
  SQLite::Statement query(connection_,
                          std::string(kEntryColumns) + "WHERE kind = 'mark' ORDER BY number");
  std::vector<ChainEntry> all;
  while (query.executeStep()) all.push_back(entry_of(query));
  return all;
}

std::optional<ChainEntry> Database::last_entry() {
  SQLite::Statement query(connection_, std::string(kEntryColumns) + "ORDER BY number DESC LIMIT 1");
  return first_of(query);
}

std::optional<ChainEntry> Database::last_plan() {
  SQLite::Statement query(
      connection_, std::string(kEntryColumns) + "WHERE kind = 'plan' ORDER BY number DESC LIMIT 1");
  return first_of(query);
}

std::optional<ChainEntry> Database::verdict(const std::string& key, int round) {
  SQLite::Statement query(
      connection_,
      std::string(kEntryColumns) + "WHERE kind IN ('verdict', 'audit') AND key = ? AND round = ?");
  query.bind(1, key);
  query.bind(2, round);
  return first_of(query);
}

void Database::append(ChainEntry entry, std::string_view secret) {
  const auto last = last_entry();
  entry.number = last ? last->number + 1 : 1;
  entry.previous = last ? last->mac : "";
  entry.mac = mac_of(entry, secret);
  SQLite::Statement insert(connection_, "INSERT INTO entry VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, entry.number);
  insert.bind(2, entry.kind);
  insert.bind(3, entry.key);
  insert.bind(4, entry.round);
  insert.bind(5, entry.file_sha256);
  insert.bind(6, entry.summary);
  insert.bind(7, entry.previous);
  insert.bind(8, entry.mac);
  insert.exec();
}

std::string Database::integrity() {
  SQLite::Statement query(connection_, "PRAGMA integrity_check(1)");
  return query.executeStep() ? query.getColumn(0).getString() : "no answer";
}

}  // namespace membound::ledger
