// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The grade of one student in one lab: verdict, score, and everything that is needed to defend
/// or to repeat it; what an audit of it found; and all grades of a course as one table. One
/// JSON form (docs/grading.md, docs/grade.schema.json); tables, pages and files for learning
/// platforms are drawn from it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/contract.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/lab_result.hpp"

namespace membound::course {

// An audit runs stages whole, for their results, whose predicted speed earned points. A launch
// that is timed by some of its blocks is held against what those blocks wrote; an audit runs all
// of them.

/// One stage, run whole at its first timed size.
struct AuditedStage {
  int stage = 0;
  Verdict verdict = Verdict::kPassed;
  std::string note;    ///< why it is not right, or why it did not come to its end; else empty
  double seconds = 0;  ///< that the audit took

  [[nodiscard]] bool right() const { return verdict == Verdict::kPassed; }
  /// The results are wrong, or the kernel broke a rule of the device: the stage's points are taken.
  [[nodiscard]] bool takes_points() const;
};

/// Of one grade.
struct Audit {
  int earned = 0;                    ///< stages that earned points for a predicted speed
  std::vector<AuditedStage> stages;  ///< that were run whole, ascending

  /// How many stages are known to be right or wrong.
  [[nodiscard]] int decided() const;
};

/// "3 of 6 stages", "6 of 6 stages; wrong in stage 1", "2 of 3 stages; stage 2: did not end"; empty
/// where no predicted speed earned points.
[[nodiscard]] std::string audit_text(const std::optional<Audit>& audit);

void to_json(nlohmann::json& out, const AuditedStage& value);
void to_json(nlohmann::json& out, const Audit& value);
void from_json(const nlohmann::json& in, AuditedStage& value);
void from_json(const nlohmann::json& in, Audit& value);

/// The worst stage's; INFRA_ERROR where there is no stage.
[[nodiscard]] GradeVerdict grade_verdict_of(const Result& result);
/// SHA-256, 64 hexadecimal digits each, of what the verdict depends on besides the submission.
struct GradeDigests {
  std::string harness;    ///< test program, harness kernels, reference answer, runtime
  std::string toolchain;  ///< compiler, its version and flags, student headers
  std::string lab;        ///< lab.json
  std::string limits;     ///< the text `limits_in_force` and the settings of the run

  bool operator==(const GradeDigests&) const = default;
};

/// What a person decided for one stage.
struct StageMark {
  int stage = 0;
  double points = 0;
  std::string comment;          ///< for the student
  std::string marked_at;        ///< UTC
  double automatic_points = 0;  ///< of the verdict, before lateness
};

/// What a person decided of one thing that a write-up is marked for.
struct WriteUpMark {
  RubricItem item;
  std::optional<double> points;  ///< nothing: not marked yet
  std::string comment;           ///< for the student
};

/// "7 of 10 points, 1 thing not marked yet"; empty where nothing is to be marked.
[[nodiscard]] std::string write_up_text(const std::vector<WriteUpMark>& marks);

/// What a person decided instead of an automatic score.
struct HandMark {
  double points = 0;
  std::string comment;                    ///< for the student
  std::string marked_at;                  ///< UTC
  std::optional<double> automatic_score;  ///< nothing: it was withheld
  std::vector<StageMark> stages = {};     ///< ascending; empty: the mark is for the whole lab
};

/// One row of the class: a student and a lab.
struct Grade {
  static constexpr const char* kSchema = "membound-grade/1";

  std::string student;  ///< the roster's id; without a roster the name in the submission's path
  std::string student_name, student_email;  ///< may be empty
  std::string section, group;           ///< of the roster; a group handed in one work; may be empty
  std::string platform, platform_id;    ///< "canvas" or "moodle", and its number for the student
  std::string lab;                      ///< "03-transpose"
  std::optional<GradeVerdict> verdict;  ///< nothing: nothing was submitted
  std::optional<double> score;          ///< nothing: withheld (SUSPICIOUS, INFRA_ERROR)
  double max_score = 0;                 ///< of the whole lab
  std::optional<HandMark> mark;         ///< where a person decided; `score` is then its points
  /// Of the write-up, where the class counts it; its points are part of both scores.
  std::vector<WriteUpMark> write_up;
  bool excused = false;  ///< by a person: no score, and left out of the total
  /// Of stages whose predicted speed earned points; in the ledger only an audit's own record has
  /// one. Nothing: no speed was predicted.
  std::optional<Audit> audit;
  std::optional<double> ratio;          ///< of the slowest stage that is right and was timed
  std::string device;                   ///< "NVIDIA H200", "vgpu:h200"
  std::string submission_sha256;        ///< of kernel.cu; of the archive where that was refused
  std::string origin;                   ///< where it was found: "class.zip/Doe_12/kernel.cu"
  std::string submitted_at, graded_at;  ///< UTC; the first may be empty
  std::string time_from;                ///< "record": the platform's; "file": a file's date
  std::int64_t late_by_seconds = 0;     ///< after the due date and its grace; 0: in time
  double late_factor = 1;               ///< the points are multiplied by it
  std::int64_t grace_seconds = 0;       ///< of what came after the due date, that was forgiven
  int late_days = 0;                    ///< begun after the due date and its grace, by the calendar
  int late_days_free = 0;               ///< of these, taken from the student's budget
  bool closed = false;                  ///< it came after the last date, and counts nothing
  std::string
      unmatched;  ///< why nobody of the roster is known to be the author; empty: somebody is
  /// Ids of the roster that may be the author of unmatched work; of a student without work, the
  /// rows that may be this student's.
  std::vector<std::string> may_be;
  int attempt = 1;               ///< which of the student's submissions this is, from 1
  std::string note;              ///< for people: why, or what to look at
  std::string intake_note = {};  ///< what of it is about how it was found; not written
  std::uint64_t seed = 0;        ///< with it, the test data come out the same again
  /// The 128 bits that data follow from where judge and runner were apart, 32 hexadecimal digits;
  /// empty: submission and judge shared a process, and the data follow from `seed` alone.
  std::string seed_key;
  std::uint64_t sample_seed = 0;  ///< of the batch; chose the blocks that a virtual GPU timed
  GradeDigests digests;
  /// Of the reference's predicted times that this class was held against; empty: each submission
  /// was timed beside the reference.
  std::string reference_sha256;
  std::string limits_in_force;  ///< which mechanism enforced what, in words
  /// Of the compiled code, for finding what is alike (similarity/); empty where nothing compiled.
  std::vector<std::uint64_t> fingerprint;
  Result result;  ///< stage by stage; without stages where nothing was run

  /// The row of somebody who handed in nothing.
  [[nodiscard]] static Grade missing(std::string student, const Lab& lab);

  /// Takes over a finished result: verdict, score, ratio, device, seed, submission_sha256.
  void take(Result finished, const Lab& lab);
  /// Takes the points of the stages that the audit found wrong. `found` are the audits' own
  /// results of them.
  void take_audit(Audit audited, const std::vector<StageResult>& found);
  /// Ends without a result: 0 points, or a withheld score where the verdict asks for it.
  void end(GradeVerdict without_result, std::string why, const Lab& lab);

  /// Whether points of this stage of it depend on a speed that a virtual GPU predicted.
  [[nodiscard]] bool earned_by_prediction(const StageResult& stage) const;
  /// There is no number to write for it: a person must decide, or excused it.
  [[nodiscard]] bool withheld() const {
    return (verdict.has_value() || excused) && !score.has_value();
  }
  /// A person must decide before there is a score.
  [[nodiscard]] bool undecided() const { return withheld() && !excused; }
  /// Somebody handed something in, or a person decided all the same.
  [[nodiscard]] bool is_there() const { return verdict.has_value() || mark.has_value() || excused; }
};

/// Points and percents as people write them: "12.5", "100".
[[nodiscard]] std::string short_decimal(double value, int digits = 2);

/// "16 minutes late, 15 minutes of it forgiven: 1 day begun, 10 % of the points deducted"; empty
/// for what is in time.
[[nodiscard]] std::string late_text(const Grade& grade);

/// "Ada Lovelace (s001)", or the id alone.
[[nodiscard]] std::string shown_student(const Grade& grade);

void to_json(nlohmann::json& out, const GradeDigests& value);
void to_json(nlohmann::json& out, const WriteUpMark& value);
void from_json(const nlohmann::json& in, WriteUpMark& value);
void to_json(nlohmann::json& out, const StageMark& value);
void to_json(nlohmann::json& out, const HandMark& value);
void to_json(nlohmann::json& out, const Grade& value);
void from_json(const nlohmann::json& in, GradeDigests& value);
void from_json(const nlohmann::json& in, StageMark& value);
void from_json(const nlohmann::json& in, HandMark& value);
void from_json(const nlohmann::json& in, Grade& value);

/// Pretty JSON with a newline at the end. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string to_text(const Grade& grade);
/// A grade from JSON text; `file_name` is for messages.
[[nodiscard]] base::Result<Grade> grade_from_text(const std::string& text,
                                                  const std::string& file_name);

// The course as one table: a row for each student, a column for each lab, totals. Labs may be
// worth other points than their stages add up to, count with weights, and the lowest may drop out.

/// `points` of `maximum` as points of `worth`.
[[nodiscard]] double scaled(double points, double maximum, double worth);

/// Of these labs only the best count.
struct BestOf {
  int count = 0;
  std::vector<std::string> labs;  ///< ids; empty: all labs that no other rule names

  bool operator==(const BestOf&) const = default;
};

/// How stages become a lab's points, and labs a total.
struct Counting {
  std::map<std::string, double> weights;  ///< the lab's points are multiplied by it; 1 without
  std::vector<BestOf> best;               ///< a lab is in one of them at most
  /// Of a lab by the number of the stage ("2"): points that it is worth instead of its own.
  std::map<std::string, std::map<std::string, double>> stages;
  std::vector<std::string> write_ups;  ///< ids of labs whose write-up is marked and counts

  bool operator==(const Counting&) const = default;
};

/// What a lab with a weight is worth where nothing else is said.
inline constexpr double kWeighedWorth = 100;

/// What a cell has to do with the total.
enum class Part {
  kCounts,
  kDropped,  ///< others of its BestOf are better
  kExcused
};

struct CourseCell {
  const Grade* grade = nullptr;  ///< null: the student has no row for the lab, which counts 0
  std::optional<double> points;  ///< scaled; nothing: withheld
  Part part = Part::kCounts;
};

struct CourseRow {
  const Grade* any = nullptr;     ///< for id, name and address
  std::vector<CourseCell> cells;  ///< one for each lab
  double total = 0;
  double worth = 0;  ///< of the labs that count for this student, times their weights
  int withheld = 0;  ///< labs that a person must decide before the total is final
};

struct CourseTable {
  struct Column {
    std::string lab, title;
    double worth = 0;
    double weight = 1;
  };
  std::vector<Column> labs;     ///< ascending
  std::vector<CourseRow> rows;  ///< by student
  double worth = 0;             ///< the most that anybody can have
  bool has_weights = false;     ///< some lab counts with a weight of its own
};

/// `grades` must outlive the table; one for each student and lab. `worth`: points of labs that are
/// worth something else than their maximum. Of a BestOf those labs count whose points are the
/// greatest share of what the lab is worth, of equals the earlier; an excused lab is none of them.
[[nodiscard]] CourseTable course_table(std::span<const Grade> grades,
                                       const std::map<std::string, double>& worth,
                                       const Counting& counting = {});

/// "85 × 0.2 + 90 × 0.3 = 44 of 50; left out: 03-transpose (excused), 04-reduction (40, others are
/// better)". A withheld score is a "?".
[[nodiscard]] std::string total_text(const CourseTable& table, const CourseRow& row);

void to_json(nlohmann::json& out, const BestOf& value);
void from_json(const nlohmann::json& in, BestOf& value);
void to_json(nlohmann::json& out, const Counting& value);
void from_json(const nlohmann::json& in, Counting& value);

}  // namespace membound::course
