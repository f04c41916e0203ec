// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/ledger/ledger.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "grader/base/digest.hpp"
#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/classroom/ledger/ledger_database.hpp"
#include "grader/course/json_io.hpp"

namespace membound::ledger {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kSecretBytes = 32;

/// Over the text of the grade as this program writes it, so that layout does not matter.
std::string signature(const std::string& key, int round, const json& grade,
                      std::string_view secret) {
  return base::hmac_sha256(secret, std::string(Record::kSchema) + "\n" + key + "\n" +
                                       std::to_string(round) + "\n" + course::dump_safely(grade));
}

}  // namespace

std::string record_name(const std::string& key, int round) {
  return key + "-" + std::to_string(round) + ".json";
}

std::string to_text(const Record& record, std::string_view secret) {
  // Once through text: what cannot be written exactly is replaced before it is signed.
  const json grade = json::parse(course::dump_safely(json(record.grade)));
  const json all = {{"schema", Record::kSchema},
                    {"key", record.key},
                    {"round", record.round},
                    {"grade", grade},
                    {"mac", signature(record.key, record.round, grade, secret)}};
  return course::dump_safely(all, 1) + "\n";
}

base::Result<Record> record_from_text(const std::string& text, const std::string& file_name,
                                      std::string_view secret) {
  const base::Error bad{base::ErrorKind::kInput, file_name, "", "a verdict that this batch signed",
                        "membound grade --regrade makes it anew"};
  try {
    const json all = json::parse(text);
    Record record;
    all.at("key").get_to(record.key);
    all.at("round").get_to(record.round);
    if (!base::same_digest(all.at("mac").get<std::string>(),
                           signature(record.key, record.round, all.at("grade"), secret))) {
      base::Error error = bad;
      error.found = "its signature is wrong: somebody else wrote or changed it";
      return error;
    }
    all.at("grade").get_to(record.grade);
    return record;
  } catch (const json::exception& problem) {
    base::Error error = bad;
    error.found = std::string("is no verdict: ") + problem.what();
    return error;
  }
}

base::Status write_record(const fs::path& out, const Record& record, std::string_view secret) {
  return base::write_durably(out / "results" / record_name(record.key, record.round),
                             to_text(record, secret), "result");
}

base::Result<std::string> read_secret(const fs::path& out, const fs::path& key_file, bool make) {
  const fs::path file = key_file.empty() ? out / "key" : key_file;
  std::error_code ignored;
  if (make && !fs::exists(file, ignored)) {
    const auto written =
        base::write_durably(file, base::hex(base::random_bytes(kSecretBytes)) + "\n", "key", 0600);
    if (!written) return written.error();
  }
  auto text = base::read_file(file);
  if (!text) return text.error();
  while (text->ends_with('\n')) text->pop_back();
  if (text->size() < kSecretBytes) {
    return base::Error{base::ErrorKind::kInput, file.string(),
                       "holds " + std::to_string(text->size()) + " characters",
                       "the secret that this batch's verdicts are signed with",
                       "name the right file with --key, or start a new batch in another folder"};
  }
  return *text;
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

using course::read_field;
using course::write_field;

MEMBOUND_JSON(Mark, student, lab, points, comment, marked_at, basis, automatic, stage, item,
              excused)
MEMBOUND_JSON(LineComment, student, lab, line, text, made_at, submission_sha256)

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

namespace {

/// An entry that holds all that a person said about a student's lab.
ChainEntry said_entry(const std::string& kind, const std::string& student, const std::string& lab,
                      const nlohmann::json& said, Database& open) {
  ChainEntry entry;
  entry.kind = kind;
  entry.key = student + "\n" + lab;
  const auto before = open.entries(kind);
  entry.round = before.empty() ? 0 : before.back().round + 1;
  entry.summary = course::dump_safely(said);
  return entry;
}

/// Whether it is a mark or comment of one of them.
bool is_about(const ChainEntry& entry, const std::set<std::string>& students) {
  return (entry.kind == "mark" || entry.kind == "comment") &&
         students.contains(entry.key.substr(0, entry.key.find('\n')));
}

}  // namespace

base::Status Ledger::mark(const std::vector<Mark>& marks) {
  return parts_->change([&](Database& open) {
    for (const Mark& mark : marks)
      open.append(said_entry("mark", mark.student, mark.lab, mark, open), parts_->secret);
  });
}

base::Status Ledger::comment(const LineComment& comment) {
  return parts_->change([&](Database& open) {
    open.append(said_entry("comment", comment.student, comment.lab, comment, open), parts_->secret);
  });
}

base::Status Ledger::forget(const std::set<std::string>& students,
                            const std::set<std::string>& jobs, const std::string& plan) {
  const auto status = parts_->change([&](Database& open) {
    std::vector<ChainEntry> kept;
    for (ChainEntry& entry : open.entries())
      if (!is_about(entry, students) && !(entry.has_file() && jobs.contains(entry.key)))
        kept.push_back(std::move(entry));
    open.keep_only(kept, jobs, parts_->secret);
    const auto last = open.last_plan();
    if (last && last->key == plan) return;
    ChainEntry entry;
    entry.kind = "plan";
    entry.key = plan;
    entry.round = last ? last->round + 1 : 0;
    open.append(entry, parts_->secret);
  });
  if (!status) return status;
  try {
    parts_->database.wipe();
  } catch (const SQLite::Exception& problem) {
    return of_sqlite(parts_->out, problem);
  }
  return base::Done{};
}

const std::string& Ledger::secret() const { return parts_->secret; }

base::Result<Verdicts> read_verdicts(const std::filesystem::path& out,
                                     const std::filesystem::path& key_file) {
  const auto secret = read_secret(out, key_file, false);
  if (!secret) return secret.error();
  Verdicts all;
  try {
    Database database(out, true);
    std::string all_states;
    if (const auto last = database.last_entry()) all_states = last->mac;
    for (const JobState& job : database.jobs()) {
      all_states += "\n" + job.key + " " + std::string(to_string(job.state)) + " " +
                    std::to_string(job.round);
      if (job.state == State::kQuarantined) all.quarantined.insert(job.key);
      if (job.state != State::kDone) continue;
      const auto file = out / "results" / record_name(job.key, job.round);
      const auto text = base::read_file(file);
      if (!text) return text.error();
      auto record = record_from_text(*text, file.string(), *secret);
      if (!record) return record.error();
      const auto entry = database.verdict(job.key, job.round);
      if (!entry || entry->file_sha256 != base::sha256(*text)) {
        return base::Error{base::ErrorKind::kInput, file.string(),
                           "is not the file that the ledger knows", "an unchanged result",
                           "membound grade --verify lists everything that was changed"};
      }
      all.grades.emplace(job.key, std::move(record->grade));
      all.rounds.emplace(job.key, job.round);
    }
    all.state = base::sha256(all_states);
  } catch (const SQLite::Exception& problem) {
    return base::Error{base::ErrorKind::kInput, (out / "ledger.sqlite").string(), problem.what(),
                       "the ledger of a graded class", "name the folder that --out made"};
  }
  auto marks = read_marks(out, key_file);
  if (!marks) return marks.error();
  all.marks = *std::move(marks);
  return all;
}

namespace {

/// All that was said of a kind, in its order.
template <typename Said>
base::Result<std::vector<Said>> read_said(const fs::path& out, const fs::path& key_file,
                                          const std::string& kind) {
  const auto secret = read_secret(out, key_file, false);
  if (!secret) return secret.error();
  const base::Error changed{base::ErrorKind::kInput, (out / "ledger.sqlite").string(),
                            "holds a " + kind + " that this batch did not sign",
                            "an unchanged ledger",
                            "membound grade --verify lists everything that was changed"};
  std::vector<Said> all;
  try {
    Database database(out, true);
    for (const ChainEntry& entry : database.entries(kind)) {
      if (!base::same_digest(entry.mac, mac_of(entry, *secret))) return changed;
      all.push_back(nlohmann::json::parse(entry.summary).get<Said>());
    }
  } catch (const SQLite::Exception& problem) {
    return base::Error{base::ErrorKind::kInput, (out / "ledger.sqlite").string(), problem.what(),
                       "the ledger of a graded class", "name the folder that --out made"};
  } catch (const nlohmann::json::exception&) {
    return changed;
  }
  return all;
}

}  // namespace

base::Result<std::vector<Mark>> read_marks(const fs::path& out, const fs::path& key_file) {
  return read_said<Mark>(out, key_file, "mark");
}

base::Result<std::vector<LineComment>> read_comments(const fs::path& out,
                                                     const fs::path& key_file) {
  auto all = read_said<LineComment>(out, key_file, "comment");
  if (!all) return all;
  std::map<std::tuple<std::string, std::string, int>, LineComment> last;
  for (LineComment& one : *all) {
    const std::tuple place{one.student, one.lab, one.line};
    last[place] = std::move(one);
  }
  std::vector<LineComment> standing;
  for (auto& [place, one] : last)
    if (!one.text.empty()) standing.push_back(std::move(one));
  return standing;
}

namespace {

/// Entry by entry: numbers without gaps, each signed over the one before.
void check_chain(const std::vector<ChainEntry>& entries, const std::string& secret,
                 Verification& found) {
  std::string previous;
  int number = 0;
  for (const ChainEntry& entry : entries) {
    const std::string name = "entry " + std::to_string(entry.number) + " of the ledger";
    if (entry.number != ++number) {
      found.problems.push_back(name + ": entries before it are missing");
      number = entry.number;
    }
    if (entry.previous != previous)
      found.problems.push_back(name + " does not follow the one before it");
    if (!base::same_digest(entry.mac, mac_of(entry, secret)))
      found.problems.push_back(name + " was changed: its signature is wrong");
    previous = entry.mac;
    ++(entry.kind == "plan"      ? found.plans
       : entry.kind == "mark"    ? found.marks
       : entry.kind == "comment" ? found.comments
       : entry.kind == "audit"   ? found.audits
                                 : found.verdicts);
  }
}

/// Every verdict has its file, unchanged, and says the same.
void check_files(const fs::path& out, const std::vector<ChainEntry>& entries,
                 const std::string& secret, Verification& found) {
  std::set<std::string> known;
  for (const ChainEntry& entry : entries) {
    if (!entry.has_file()) continue;
    const std::string name = record_name(entry.key, entry.round);
    known.insert(name);
    const auto text = base::read_file(out / "results" / name);
    if (!text) {
      found.problems.push_back("results/" + name + " is missing");
      continue;
    }
    const auto record = record_from_text(*text, name, secret);
    if (!record)
      found.problems.push_back("results/" + name + ": " + record.error().found);
    else if (base::sha256(*text) != entry.file_sha256)
      found.problems.push_back("results/" + name + " was changed since the ledger took it");
    else if (summary_of(record->grade) != entry.summary)
      found.problems.push_back("results/" + name + " says something else than the ledger");
  }
  std::error_code error;
  for (fs::directory_iterator file(out / "results", error), end; !error && file != end;
       file.increment(error)) {
    const std::string name = file->path().filename().string();
    if (!name.starts_with('.') && !known.contains(name))
      found.problems.push_back("results/" + name +
                               " is not in the ledger (a killed batch takes it over when it goes "
                               "on)");
  }
}

void check_jobs(Database& database, const std::vector<ChainEntry>& entries, Verification& found) {
  std::set<std::pair<std::string, int>> verdicts;
  for (const ChainEntry& entry : entries)
    if (entry.has_file()) verdicts.emplace(entry.key, entry.round);
  for (const JobState& job : database.jobs()) {
    const bool has = verdicts.contains({job.key, job.round});
    if (has != (job.state == State::kDone))
      found.problems.push_back("job " + job.key + " is " + std::string(to_string(job.state)) +
                               (has ? " and has a verdict" : " and has no verdict"));
  }
}

}  // namespace

base::Result<Verification> verify(const fs::path& out, const fs::path& key_file) {
  const auto secret = read_secret(out, key_file, false);
  if (!secret) return secret.error();
  Verification found;
  try {
    Database database(out, true);
    if (const std::string word = database.integrity(); word != "ok")
      found.problems.push_back("ledger.sqlite is damaged: " + word);
    const auto entries = database.entries();
    check_chain(entries, *secret, found);
    check_files(out, entries, *secret, found);
    check_jobs(database, entries, found);
    const auto plan = database.last_plan();
    const auto text = base::read_file(out / "batch.json");
    if (!plan)
      found.problems.push_back("the ledger has no plan");
    else if (!text)
      found.problems.push_back("batch.json is missing");
    else if (base::sha256(*text) != plan->key)
      found.problems.push_back("batch.json was changed: the ledger knows another plan");
  } catch (const SQLite::Exception& problem) {
    return base::Error{base::ErrorKind::kInput, (out / "ledger.sqlite").string(), problem.what(),
                       "the ledger of a graded class", "name the folder that --out made"};
  }
  return found;
}

}  // namespace membound::ledger
