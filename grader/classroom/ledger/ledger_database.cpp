// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/ledger/ledger_database.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "grader/base/digest.hpp"
#include "grader/base/result.hpp"

namespace membound::ledger {
namespace {

constexpr std::size_t kSize = 32;
constexpr std::string_view kEnded = "ended";

/// One line of kSize bytes, always the same size.
void write_line(int descriptor, std::string_view text) {
  std::array<char, kSize> line;
  line.fill(' ');
  std::memcpy(line.data(), text.data(), std::min(text.size(), kSize - 1));
  line.back() = '\n';
  [[maybe_unused]] const auto written = pwrite(descriptor, line.data(), kSize, 0);
  fdatasync(descriptor);
}

std::string read_line(int descriptor) {
  std::array<char, kSize> line{};
  const auto size = pread(descriptor, line.data(), kSize, 0);
  std::string text(line.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  text.erase(std::min(text.find_last_not_of(" \n") + 1, text.size()));
  return text;
}

base::Error failed(const std::filesystem::path& file, int reason) {
  return {base::ErrorKind::kMachine, file.string(),
          "cannot be locked: " + base::reason_text(reason), "",
          "check the rights of the folder and that the disk is not full"};
}

}  // namespace

base::Result<BatchLock> BatchLock::take(const std::filesystem::path& out) {
  std::error_code error;
  std::filesystem::create_directories(out, error);
  const auto file = out / "lock";
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return failed(file, errno);
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    const std::string holder = read_line(descriptor);
    close(descriptor);
    if (reason != EWOULDBLOCK) return failed(file, reason);
    return base::Error{base::ErrorKind::kUsage, out.string(),
                       "is being graded by another membound (" + holder + ")",
                       "one at a time for each batch", "wait for it, or use another --out"};
  }
  const std::string last = read_line(descriptor);
  write_line(descriptor, "process " + std::to_string(getpid()));
  return BatchLock(descriptor, !last.empty() && last != kEnded);
}

BatchLock::BatchLock(BatchLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), last_one_died_(other.last_one_died_) {}

BatchLock::~BatchLock() {
  if (descriptor_ < 0) return;
  write_line(descriptor_, kEnded);
  close(descriptor_);
}

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

std::string mac_of(const ChainEntry& entry, std::string_view secret) {
  std::string text;
  // Lengths go before the parts, so that no two entries have one text.
  for (const std::string& part :
       {std::to_string(entry.number), entry.kind, entry.key, std::to_string(entry.round),
        entry.file_sha256, entry.summary, entry.previous})
    text += std::to_string(part.size()) + ":" + part;
  return base::hmac_sha256(secret, text);
}

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

std::vector<ChainEntry> Database::entries(const std::string& kind) {
  SQLite::Statement query(connection_,
                          std::string(kEntryColumns) + "WHERE kind = ? ORDER BY number");
  query.bind(1, kind);
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

void Database::keep_only(const std::vector<ChainEntry>& entries,
                         const std::set<std::string>& dropped_jobs, std::string_view secret) {
  connection_.exec("DELETE FROM entry");
  for (const ChainEntry& entry : entries) append(entry, secret);
  for (const std::string& key : dropped_jobs) {
    SQLite::Statement drop(connection_, "DELETE FROM job WHERE key = ?");
    drop.bind(1, key);
    drop.exec();
  }
}

void Database::wipe() {
  connection_.exec("PRAGMA secure_delete = ON");
  connection_.exec("VACUUM");
}

std::string Database::integrity() {
  SQLite::Statement query(connection_, "PRAGMA integrity_check(1)");
  return query.executeStep() ? query.getColumn(0).getString() : "no answer";
}

}  // namespace membound::ledger
