// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a batch is to do, OUT/batch.json: a row for each student, lab and attempt, and a job for
/// each text to grade; equal texts are one job with one verdict. The plan decides everything that
/// does not come out of a run, so that a batch which was killed ends like one that was not. A
/// results folder holds a course: what a call takes in joins what earlier calls did.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/base/result.hpp"
#include "grader/classroom/intake/course_rules.hpp"
#include "grader/classroom/intake/intake.hpp"
#include "grader/classroom/ledger/ledger.hpp"
#include "grader/classroom/queue/grading_settings.hpp"
#include "grader/course/grade.hpp"

namespace membound::queue {

/// One text in one lab.
struct Job {
  std::string key;  ///< SHA-256 of everything the verdict depends on
  std::string lab;
  std::string submission_sha256;
  std::uint64_t seed = 0;
  std::string
      seed_key;  ///< 32 hexadecimal digits; empty: trusted, judged in the process it runs in
  /// An audit: this stage alone is run, whole and for its results. 0: a verdict on all stages.
  int audited_stage = 0;
  std::string audited;  ///< of an audit: the key of the job whose verdict it holds for

  bool operator==(const Job&) const = default;
};

/// One line of grades.csv in the making.
struct Row {
  std::string student, name, email, lab, origin;
  std::string platform, platform_id;  ///< see course::Grade
  std::string section, group;         ///< likewise
  std::string source;                 ///< absolute path of what it came in; empty: the roster
  std::string submission_sha256;
  std::string job;        ///< key; empty: nothing to run
  std::string refused;    ///< why; not empty: POLICY_REJECT
  std::string left_out;   ///< why other attempts count and this one is not graded; may be empty
  std::string unmatched;  ///< why nobody of the roster is known to be the author; see course::Grade
  std::vector<std::string> may_be;    ///< likewise
  std::vector<std::string> known_as;  ///< what else named an unmatched author: login, folder
  std::string former;                 ///< the row's student before the author was known
  std::string note;
  std::string submitted_at;
  std::string time_from;     ///< "record", "file" or "": whose word that time is
  bool marked_late = false;  ///< by the learning system
  std::int64_t late_by_seconds = 0;
  double late_factor = 1;          ///< if none of the student's free late days is used
  int late_days = 0;               ///< begun after due date and grace, by the course's calendar
  std::int64_t grace_seconds = 0;  ///< of what came after the due date, that was forgiven
  std::int64_t due = 0;            ///< the student's own due date; 0: none
  bool closed = false;             ///< it came after the last date
  std::string late_note;           ///< what a person should know about the time; may be empty
  int attempt = 1;                 ///< 0: nothing was submitted

  bool operator==(const Row&) const = default;
};

/// What is the same for all jobs of a lab.
struct PlannedLab {
  double max_score = 0;
  course::GradeDigests digests;
  std::string device;  ///< that its jobs are for
  /// Chooses the blocks by which launches are timed where some stand for all: a secret of the
  /// batch, the same for all its jobs, so that they can be held against one run of the reference.
  std::uint64_t sample_seed = 0;
  std::map<std::string, double> stages = {};    ///< points of each by number; empty in older plans
  std::vector<course::RubricItem> rubric = {};  ///< of the write-up

  bool operator==(const PlannedLab&) const = default;
};

/// What stays of people whom the course has forgotten: enough that no later call takes them in
/// again, and that distributions stay as they were.
struct ForgottenPeople {
  /// What stays of one lab of one of them; nothing says whose it was.
  struct Grade {
    std::string lab, verdict;
    std::optional<double> score;
    double max_score = 0;

    bool operator==(const Grade&) const = default;
  };
  std::set<std::string> digests;  ///< of ids, with the batch's seed as key
  std::vector<Grade> grades;      ///< by lab and score, so that no order tells

  bool operator==(const ForgottenPeople&) const = default;
};

struct Plan {
  static constexpr const char* kSchema = "membound-batch/1";

  std::string membound_version;
  std::string device;
  std::string compiler;    ///< "clang 14.0.6"; empty in plans of older versions
  std::string limits;      ///< in force, in words
  std::string batch_seed;  ///< 64 hexadecimal digits; every job's seed follows from it
  bool best_attempt = false;
  intake::CourseRules rules;
  /// What the platforms' tables said of who is who, by their names: each call's hold for the next.
  std::vector<intake::PeopleTable> people;
  std::map<std::string, PlannedLab> labs;
  std::vector<Job> jobs;  ///< by key
  std::vector<Row> rows;  ///< by student, lab and attempt
  ForgottenPeople forgotten;

  /// Of an id, for ForgottenPeople.
  [[nodiscard]] std::string digest_of(const std::string& student) const;
  /// Takes out the jobs that no row needs.
  void drop_idle_jobs();
  [[nodiscard]] const Job* job(const std::string& key) const;
  bool operator==(const Plan&) const = default;
};

/// What one call gives to plan.
struct PlanRequest {
  std::filesystem::path out;
  /// Its `out` and `labs` are filled in. No sources: the plan of the earlier call.
  intake::IntakeRequest intake;
  std::optional<intake::CourseRules> rules;                  ///< nothing: those of the earlier call
  std::optional<std::vector<intake::Extension>> extensions;  ///< nothing: as `rules`
  intake::LabRules rules_now;         ///< for the labs of this call; they go before all others
  Settings settings;                  ///< its place.state is filled in
  std::optional<std::uint64_t> seed;  ///< nothing: drawn, or that of the earlier call
  /// Without sources: every lab is graded with lab, test program and compiler as they are now.
  bool update = false;
};

/// The plan of one call, written to OUT/batch.json and known to the ledger: takes in what `request`
/// names and joins it with what earlier calls planned; without sources, the earlier plan by the
/// rules of now. `notes`: what the instructor should know.
[[nodiscard]] base::Result<Plan> plan_call(const PlanRequest& request, ledger::Ledger& ledger,
                                           std::vector<std::string>& notes);

/// The job of a text in a lab. Its seed follows from `batch_seed` and both.
[[nodiscard]] Job job_for(const std::string& lab, const std::string& submission,
                          const course::GradeDigests& digests, const Settings& settings,
                          const std::string& batch_seed);

/// What this call takes in, `now`, with the rows of earlier calls that it does not replace, whose
/// authors are those that `roster` knows, without people whom the course has forgotten.
[[nodiscard]] Plan joined(const std::optional<Plan>& earlier, Plan now, const PlanRequest& request,
                          const intake::Roster& roster, std::vector<std::string>& notes);

/// Finds authors by the roster of now, which is joined with what tables know: rows whose author was
/// not known, or who has a platform's number that the roster knows as somebody else's, and shares
/// their work in their groups. Rows keep their jobs.
void identify(Plan& plan, const intake::Roster& roster);

/// Where nothing is handed in and nothing was planned before.
[[nodiscard]] base::Error no_batch(const std::filesystem::path& out);

void to_json(nlohmann::json& out, const Plan& plan);
void from_json(const nlohmann::json& in, Plan& plan);

/// Whether a student's row is meant by a word of the command line: id, name or email in any case.
[[nodiscard]] bool is_meant(const Row& row, const std::string& word);

/// OUT/batch.json; nothing where there is none yet.
[[nodiscard]] base::Result<std::optional<Plan>> read_plan(const std::filesystem::path& out);
}  // namespace membound::queue
