// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a batch is to do, OUT/batch.json: a row for each student, lab and attempt, and a job for
/// each text to grade. Equal texts are one job with one verdict. The plan decides everything that
/// does not come out of a run, so that a batch which was killed ends like one that was not.
/// Place in the chain: intake, grading_settings -> [plan] -> ledger, batch_executor, outputs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/intake/course_rules.hpp"
#include "grader/classroom/intake/intake.hpp"
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
  std::string source;                 ///< absolute path of what it came in; empty: the roster
  std::string submission_sha256;
  std::string job;      ///< key; empty: nothing to run
  std::string refused;  ///< why; not empty: POLICY_REJECT
  std::string note;
  std::string submitted_at;
  std::string time_from;     ///< "record", "file" or "": whose word that time is
  bool marked_late = false;  ///< by the learning system
  std::int64_t late_by_seconds = 0;
  double late_factor = 1;
  std::string late_note;  ///< what a person should know about the time; may be empty
  int attempt = 1;        ///< 0: nothing was submitted

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

  bool operator==(const PlannedLab&) const = default;
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
  std::map<std::string, PlannedLab> labs;
  std::vector<Job> jobs;  ///< by key
  std::vector<Row> rows;  ///< by student, lab and attempt

  [[nodiscard]] const Job* job(const std::string& key) const;
  bool operator==(const Plan&) const = default;
};

/// The plan for what was taken in. With a roster, everybody in it has a row for each lab that is
/// graded. `batch_seed` is that of an earlier plan of this batch, or a new one.
[[nodiscard]] base::Result<Plan> make_plan(const intake::Intake& intake,
                                           const intake::IntakeRequest& request,
                                           const Settings& settings, const std::string& batch_seed,
                                           const intake::CourseRules& rules);

/// The job of a text in a lab. Its seed follows from `batch_seed` and both.
[[nodiscard]] Job job_for(const std::string& lab, const std::string& submission,
                          const course::GradeDigests& digests, const Settings& settings,
                          const std::string& batch_seed);

/// Makes every row as late as the plan's rules say; rows of labs that they do not mention stay as
/// they are.
void apply_rules(Plan& plan);

void to_json(nlohmann::json& out, const Plan& plan);
void from_json(const nlohmann::json& in, Plan& plan);

/// The text of batch.json.
[[nodiscard]] std::string to_text(const Plan& plan);
/// OUT/batch.json; nothing where there is none yet.
[[nodiscard]] base::Result<std::optional<Plan>> read_plan(const std::filesystem::path& out);

}  // namespace membound::queue
