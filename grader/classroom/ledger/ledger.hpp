// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The memory of a batch: which jobs there are, how far each is, and a chain of signed verdicts
/// that nobody can shorten, reorder or change unseen. Killed at any moment it loses, doubles and
/// changes nothing:
///
///   result file (beside, sync, rename, sync)  ->  ledger (one transaction)  ->  done
///
/// The file is the truth, signed with the batch's key, so that neither a torn nor a planted one is
/// ever taken for a verdict; at the next start the ledger catches up with the files. One process
/// holds the batch (BatchLock), with one connection, in SQLite's rollback-journal mode, synced.
/// Knows no labs.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/base/result.hpp"
#include "grader/course/grade.hpp"

namespace membound::ledger {

// The rows of the two tables, which ledger_database.cpp makes and reads.

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

/// What was decided about one job: a submission's text in one lab. It names no student, because
/// equal texts are graded once.
struct Record {
  static constexpr const char* kSchema = "membound-record/1";

  std::string key;  ///< the job's, 64 hexadecimal digits
  int round = 1;    ///< counts deliberate regrading
  course::Grade grade;
};

/// "KEY-ROUND.json".
[[nodiscard]] std::string record_name(const std::string& key, int round);

/// The file's text.
[[nodiscard]] std::string to_text(const Record& record, std::string_view secret);

/// The record in a file's text, if its signature is right.
[[nodiscard]] base::Result<Record> record_from_text(const std::string& text,
                                                    const std::string& file_name,
                                                    std::string_view secret);

/// Writes OUT/results/NAME durably. The same record twice gives the same file.
[[nodiscard]] base::Status write_record(const std::filesystem::path& out, const Record& record,
                                        std::string_view secret);

/// The batch's secret, OUT/key (or `key_file`), made where there is none yet and `make` is set.
[[nodiscard]] base::Result<std::string> read_secret(const std::filesystem::path& out,
                                                    const std::filesystem::path& key_file,
                                                    bool make);

/// What the ledger itself keeps of a grade: verdict, score, and what they depend on.
[[nodiscard]] std::string summary_of(const course::Grade& grade);

/// What a person decided for a student's lab, or for one stage of it. One for the whole lab ends
/// all that were made before it.
struct Mark {
  std::string student, lab;
  std::optional<double> points;  ///< nothing: excused, or an earlier mark is taken back
  std::string comment;           ///< for the student, too
  std::string marked_at;         ///< UTC
  /// Digest of the texts that were handed in when it was decided: new work is not decided yet.
  std::string basis;
  std::string automatic;  ///< the automatic verdict and score that the person saw, in words
  int stage = 0;          ///< 0: the whole lab, or its write-up
  std::string item = {};  ///< of the write-up's rubric; empty: a stage, or the whole lab
  bool excused = false;   ///< the lab does not count for the student, whatever was handed in
};

/// What a person wrote beside a line of what a student handed in.
struct LineComment {
  std::string student, lab;
  int line = 0;                   ///< of kernel.cu, from 1
  std::string text;               ///< empty: an earlier comment at that line is taken back
  std::string made_at;            ///< UTC
  std::string submission_sha256;  ///< of the text that the line is of
};

void to_json(nlohmann::json& out, const Mark& value);
void from_json(const nlohmann::json& in, Mark& value);
void to_json(nlohmann::json& out, const LineComment& value);
void from_json(const nlohmann::json& in, LineComment& value);

struct OpenOptions {
  std::filesystem::path key_file = {};  ///< of the secret; empty: OUT/key
  int quarantine_after = 2;             ///< deaths
};

/// What the start of a batch found and put right.
struct Reconciled {
  int taken_over = 0;              ///< verdicts in files that the ledger did not have yet
  int interrupted = 0;             ///< jobs that were running when the grader died
  int swept = 0;                   ///< files that a kill left half written
  std::vector<std::string> notes;  ///< for people: damaged files put aside, quarantined jobs
};

/// Safe to use from several threads.
class Ledger {
 public:
  /// Takes the lock; makes what is not there yet.
  [[nodiscard]] static base::Result<Ledger> open(const std::filesystem::path& out,
                                                 const OpenOptions& options);
  Ledger(Ledger&&) noexcept;
  ~Ledger();

  /// Makes the plan's digest part of the chain (where it is not the last plan's) and its jobs
  /// known. Jobs that are no longer planned stay in the ledger.
  [[nodiscard]] base::Status plan(const std::string& digest, const std::vector<std::string>& keys);
  /// Makes more jobs known: audits of verdicts that are there.
  [[nodiscard]] base::Status add(const std::vector<std::string>& keys);
  /// Catches up with the files. To be called once, after plan().
  [[nodiscard]] base::Result<Reconciled> reconcile();
  /// All jobs, or one.
  [[nodiscard]] std::vector<JobState> jobs() const;
  [[nodiscard]] std::optional<JobState> job(const std::string& key) const;

  /// From here on the job counts as running.
  [[nodiscard]] base::Status lease(const std::string& key);
  /// Back into the queue, as if it had never started: Ctrl-C.
  [[nodiscard]] base::Status give_back(const std::string& key);
  /// Back into the queue, with one attempt used up; returns how many are.
  [[nodiscard]] base::Result<int> count_attempt(const std::string& key);
  /// The verdict: file first, then ledger.
  [[nodiscard]] base::Status finish(const std::string& key, const course::Grade& grade);
  /// Another round for a job that is done or quarantined. The old verdict stays in the chain.
  [[nodiscard]] base::Status regrade(const std::string& key);

  /// What a person decided, all of it or nothing. The automatic verdicts stay.
  [[nodiscard]] base::Status mark(const std::vector<Mark>& marks);
  [[nodiscard]] base::Status comment(const LineComment& comment);
  /// Takes marks and comments of a student, by every id there was, out of the chain, and these jobs
  /// with their verdicts. What stays is numbered and signed anew, and `plan` is the digest of the
  /// plan without the student. Nothing of it stays in the database's file; result files are the
  /// caller's business.
  [[nodiscard]] base::Status forget(const std::set<std::string>& students,
                                    const std::set<std::string>& jobs, const std::string& plan);

  /// Signs and checks what is written outside of the ledger.
  [[nodiscard]] const std::string& secret() const;

 private:
  struct Parts;
  explicit Ledger(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// The verdicts that count, and audits of them, by job.
struct Verdicts {
  std::map<std::string, course::Grade> grades;
  std::map<std::string, int> rounds;  ///< of `grades`
  std::set<std::string> quarantined;
  std::vector<Mark> marks;  ///< by hand, in the order in which they were made
  std::string state;        ///< digest of all that the ledger holds now
};

/// Reads them without taking the lock. An error names a file that is missing, changed or not this
/// batch's.
[[nodiscard]] base::Result<Verdicts> read_verdicts(const std::filesystem::path& out,
                                                   const std::filesystem::path& key_file = {});

/// All marks in the order in which they were made. An error where the ledger cannot be read or an
/// entry is not signed by this batch.
[[nodiscard]] base::Result<std::vector<Mark>> read_marks(const std::filesystem::path& out,
                                                         const std::filesystem::path& key_file);

/// The comments that stand, by student, lab and line; errors as of read_marks().
[[nodiscard]] base::Result<std::vector<LineComment>> read_comments(
    const std::filesystem::path& out, const std::filesystem::path& key_file);

/// What a check of the whole batch found.
struct Verification {
  int verdicts = 0;
  int audits = 0;
  int plans = 0;
  int marks = 0;
  int comments = 0;
  std::vector<std::string> problems;  ///< empty: everything is as it was written
};

/// Holds chain, files and plan against one another. Changes nothing and needs no lock.
[[nodiscard]] base::Result<Verification> verify(const std::filesystem::path& out,
                                                const std::filesystem::path& key_file = {});

}  // namespace membound::ledger
