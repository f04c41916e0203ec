// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/ledger/ledger.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "grader/base/digest.hpp"
#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/classroom/ledger/batch_lock.hpp"
#include "grader/classroom/ledger/database.hpp"
#include "grader/course/json_io.hpp"

namespace membound::ledger {
namespace {

namespace fs = std::filesystem;

base::Error of_sqlite(const fs::path& out, const std::exception& problem) {
  return {base::ErrorKind::kMachine, (out / "ledger.sqlite").string(), problem.what(),
          "a ledger that can be read and written",
          "check the disk's space and rights; then give the same command again"};
}

base::Error disk_full(const fs::path& out) {
  return {base::ErrorKind::kMachine, (out / "ledger.sqlite").string(),
          "cannot be written: No space left on device", "",
          "make room; then give the same command again"};
}

ChainEntry entry_for(const std::string& key, int round, const std::string& text,
                     const course::Grade& grade) {
  ChainEntry entry;
  entry.kind = grade.audit ? "audit" : "verdict";
  entry.key = key;
  entry.round = round;
  entry.file_sha256 = base::sha256(text);
  entry.summary = summary_of(grade);
  return entry;
}

}  // namespace

struct Ledger::Parts {
  Parts(fs::path folder, OpenOptions given, std::string key, BatchLock held)
      : out(std::move(folder)),
        options(std::move(given)),
        secret(std::move(key)),
        lock(std::move(held)),
        database(out, false) {}

  /// Runs `work(database)` in one transaction; turns SQLite's exceptions into an error.
  template <typename Work>
  base::Status change(Work work) {
    const std::lock_guard guard(mutex);
    try {
      auto transaction = database.begin();
      work(database);
      if (base::failpoint("ledger.before_commit")) return disk_full(out);
      transaction.commit();
    } catch (const SQLite::Exception& problem) {
      return of_sqlite(out, problem);
    }
    if (base::failpoint("ledger.committed")) return disk_full(out);
    return base::Done{};
  }

  template <typename Work>
  base::Status change_job(const std::string& key, Work work) {
    return change([&](Database& open) {
      auto job = open.job(key);
      MEMBOUND_CHECK(job.has_value());
      work(*job);
      open.set_job(*job);
    });
  }

  fs::path out;
  OpenOptions options;
  std::string secret;
  BatchLock lock;  // before the database: it is closed first
  Database database;
  std::mutex mutex;
};

Ledger::Ledger(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

base::Result<Ledger> Ledger::open(const fs::path& out, const OpenOptions& options) {
  auto lock = BatchLock::take(out);
  if (!lock) return lock.error();
  const auto secret = read_secret(out, options.key_file, true);
  if (!secret) return secret.error();
  try {
    auto parts = std::make_unique<Parts>(out, options, *secret, std::move(*lock));
    if (base::failpoint("ledger.created")) return disk_full(out);
    return Ledger(std::move(parts));
  } catch (const SQLite::Exception& problem) {
    return of_sqlite(out, problem);
  }
}

base::Status Ledger::plan(const std::string& digest, const std::vector<std::string>& keys) {
  auto status = parts_->change([&](Database& open) {
    const auto last = open.last_plan();
    if (!last || last->key != digest) {
      ChainEntry entry;
      entry.kind = "plan";
      entry.key = digest;
      entry.round = last ? last->round + 1 : 0;
      open.append(entry, parts_->secret);
    }
    for (const std::string& key : keys) open.add_job(key);
  });
  if (status && base::failpoint("ledger.planned")) return disk_full(parts_->out);
  return status;
}

base::Status Ledger::add(const std::vector<std::string>& keys) {
  return parts_->change([&](Database& open) {
    for (const std::string& key : keys) open.add_job(key);
  });
}

base::Result<Reconciled> Ledger::reconcile() {
  Reconciled found;
  const fs::path folder = parts_->out / "results";
  found.swept =
      base::sweep(folder) + base::sweep(parts_->out) + base::sweep(parts_->out / "students");
  if (base::failpoint("ledger.swept")) return disk_full(parts_->out);
  std::map<std::string, JobState> jobs;
  for (JobState& job : this->jobs()) jobs[job.key] = job;

  for (auto& entry : jobs) {  // no structured binding: clang before 16 captures none
    const std::string& key = entry.first;
    JobState& job = entry.second;
    const bool open_job = job.state != State::kDone;
    const fs::path file = folder / record_name(key, job.round);
    std::error_code ignored;
    if (open_job && fs::exists(file, ignored)) {
      const auto text = base::read_file(file);
      if (!text) return text.error();
      const auto record = record_from_text(*text, file.string(), parts_->secret);
      if (record && record->key == key && record->round == job.round) {
        const auto taken = parts_->change([&](Database& open) {
          if (!open.verdict(key, job.round))
            open.append(entry_for(key, job.round, *text, record->grade), parts_->secret);
          job.state = State::kDone;
          open.set_job(job);
        });
        if (!taken) return taken.error();
        ++found.taken_over;
        continue;
      }
      // Never taken for a verdict, and never deleted: a person may want to know who wrote it.
      std::error_code error;
      fs::create_directories(parts_->out / "damaged", error);
      fs::rename(file, parts_->out / "damaged" / file.filename(), error);
      found.notes.push_back("results/" + file.filename().string() +
                            " was not written by this batch; it is in damaged/ now");
    }
    if (job.state != State::kRunning) continue;
    ++found.interrupted;
    if (parts_->lock.last_one_died()) ++job.deaths;
    job.state =
        job.deaths >= parts_->options.quarantine_after ? State::kQuarantined : State::kQueued;
    const auto returned = parts_->change([&](Database& open) { open.set_job(job); });
    if (!returned) return returned.error();
  }
  if (base::failpoint("ledger.reconciled")) return disk_full(parts_->out);
  return found;
}

std::vector<JobState> Ledger::jobs() const {
  const std::lock_guard guard(parts_->mutex);
  return parts_->database.jobs();
}

std::optional<JobState> Ledger::job(const std::string& key) const {
  const std::lock_guard guard(parts_->mutex);
  return parts_->database.job(key);
}

base::Status Ledger::lease(const std::string& key) {
  return parts_->change_job(key, [](JobState& job) { job.state = State::kRunning; });
}

base::Status Ledger::give_back(const std::string& key) {
  return parts_->change_job(key, [](JobState& job) { job.state = State::kQueued; });
}

base::Result<int> Ledger::count_attempt(const std::string& key) {
  int attempts = 0;
  const auto status = parts_->change_job(key, [&](JobState& job) {
    job.state = State::kQueued;
    attempts = ++job.attempts;
  });
  if (!status) return status.error();
  return attempts;
}

base::Status Ledger::finish(const std::string& key, const course::Grade& grade) {
  const auto job = this->job(key);
  MEMBOUND_CHECK(job.has_value());
  const Record record{key, job->round, grade};
  const std::string text = to_text(record, parts_->secret);
  const auto written =
      base::write_durably(parts_->out / "results" / record_name(key, job->round), text, "result");
  if (!written) return written;
  return parts_->change([&](Database& open) {
    open.append(entry_for(key, job->round, text, grade), parts_->secret);
    JobState done = *job;
    done.state = State::kDone;
    open.set_job(done);
  });
}

base::Status Ledger::regrade(const std::string& key) {
  return parts_->change_job(key, [](JobState& job) {
    if (job.state == State::kDone) ++job.round;
    job.state = State::kQueued;
    job.attempts = 0;
    job.deaths = 0;
  });
}

base::Status Ledger::mark(const Mark& mark) {
  return parts_->change([&](Database& open) {
    ChainEntry entry;
    entry.kind = "mark";
    entry.key = mark.student + "\n" + mark.lab;
    entry.round = static_cast<int>(open.marks().size());
    entry.summary = course::dump_safely(nlohmann::json(mark));
    open.append(entry, parts_->secret);
  });
}

const std::string& Ledger::secret() const { return parts_->secret; }

}  // namespace membound::ledger
