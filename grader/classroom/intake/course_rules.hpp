// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What an instructor decides for a course: its time zone, when each lab is due, for whom later,
/// what being late costs, which attempt counts, how many points a lab is worth. Kept in the plan,
/// so that every call of a term knows it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/base/csv.hpp"
#include "grader/base/result.hpp"
#include "grader/classroom/intake/calendar.hpp"
#include "grader/course/grade.hpp"
#include "grader/course/lab.hpp"

namespace membound::intake {

/// What an instructor asks for.
struct LatePolicy {
  std::optional<std::int64_t> due;
  std::int64_t grace_seconds = 0;
  double percent_per_day = 0;        ///< lost for each day begun after due date and grace
  bool extended = false;             ///< the due date is this student's own
  double most_percent = 100;         ///< that is lost at most
  std::optional<std::int64_t> last;  ///< what comes later counts nothing
  Zone zone = {};                    ///< whose calendar has the days

  /// The share of the points that is left after `days`, 0 to 1.
  [[nodiscard]] double factor(std::int64_t days) const;
};

struct Lateness {
  std::int64_t by_seconds = 0;  ///< after due date and grace; 0: in time, or not known
  double factor = 1;            ///< of the points, 0 to 1, if no late day is free
  std::int64_t days = 0;        ///< begun after due date and grace, by the calendar
  bool closed = false;          ///< after the last date
  LatePolicy policy = {};       ///< that says so
};

/// Of something handed in at `time` (0: not known, which is not late).
[[nodiscard]] Lateness lateness(const LatePolicy& policy, std::int64_t time);

/// Of one lab, or of all that say nothing of their own.
struct LabRules {
  std::optional<std::int64_t> due;  ///< seconds since 1970
  std::optional<std::int64_t> grace_minutes;
  std::optional<double> percent_per_day;
  std::optional<double> points;           ///< what the lab is worth in totals and exports
  std::optional<std::string> times;       ///< file with the platform's record of this lab
  std::optional<double> most_percent;     ///< what being late costs at most
  std::optional<std::int64_t> last_date;  ///< what comes later counts nothing; seconds since 1970

  /// What `other` says goes before what was said here.
  void overlay(const LabRules& other);
  bool operator==(const LabRules&) const = default;
};

/// Who somebody is for the rules of a course.
struct Whom {
  std::vector<std::string> names;  ///< id, name, email
  std::string section, group;      ///< may be empty
};

/// More time for one student, or for all of a group or section.
struct Extension {
  std::string student;  ///< id, name or email; empty: of a group or section
  std::string lab;      ///< empty: every lab
  std::int64_t due = 0;
  std::string reason;  ///< for people; may be empty
  std::string group, section;

  [[nodiscard]] bool is_for(const Whom& whom) const;
  bool operator==(const Extension&) const = default;
};

/// How much of what a student hands in is graded.
struct GradingLimits {
  std::optional<int> attempts;              ///< of each lab, the first ones
  std::map<std::string, int> lab_attempts;  ///< of labs with a limit of their own
  std::optional<double> seconds_a_student;  ///< of grading, in all labs together

  /// Whether some lab has a limit of attempts.
  [[nodiscard]] bool limits_attempts() const { return attempts || !lab_attempts.empty(); }
  /// Of a lab; nothing: no limit.
  [[nodiscard]] std::optional<int> of(const std::string& lab) const;
  bool operator==(const GradingLimits&) const = default;
};

struct CourseRules {
  course::Counting counting;
  GradingLimits limits;
  LabRules all;
  std::map<std::string, LabRules> labs;
  std::vector<Extension> extensions;
  std::optional<bool> best_attempt;
  Zone zone;                     ///< the course's; see LatePolicy
  bool group_folders = false;    ///< a folder "a_b" is a group of two: "groups: folders"
  std::optional<int> late_days;  ///< that a student may be late in all, free of charge

  /// Whether something is said about when the lab is due.
  [[nodiscard]] bool mentions(const std::string& lab) const;
  /// What holds for a lab.
  [[nodiscard]] LabRules of(const std::string& lab) const;
  /// What being late costs a student.
  [[nodiscard]] LatePolicy policy(const std::string& lab, const Whom& whom) const;
  /// How late what a student handed in at `time` is.
  [[nodiscard]] Lateness lateness(const std::string& lab, const Whom& whom,
                                  std::int64_t time) const {
    return intake::lateness(policy(lab, whom), time);
  }
  bool operator==(const CourseRules&) const = default;
};

/// course.yml as docs/grading.md shows it. An error names line, word and what may stand there.
[[nodiscard]] base::Result<CourseRules> read_course_rules(const std::string& text,
                                                          const std::string& file_name,
                                                          const std::vector<course::Lab>& labs);

/// The column of a table that says which student is meant: student, id, student id or email.
[[nodiscard]] std::optional<std::size_t> student_column(const base::CsvTable& table);

/// A table with the columns student (or id, email), group or section, lab (empty or "all": every
/// lab), due and, if you like, reason. Times are those of `zone`.
[[nodiscard]] base::Result<std::vector<Extension>> read_extensions(
    std::string_view text, const std::string& file_name, const std::vector<course::Lab>& labs,
    const Zone& zone = {});

void to_json(nlohmann::json& out, const Zone& value);
void from_json(const nlohmann::json& in, Zone& value);
void to_json(nlohmann::json& out, const LabRules& value);
void from_json(const nlohmann::json& in, LabRules& value);
void to_json(nlohmann::json& out, const Extension& value);
void from_json(const nlohmann::json& in, Extension& value);
void to_json(nlohmann::json& out, const GradingLimits& value);
void from_json(const nlohmann::json& in, GradingLimits& value);
/// Without `counting` and `limits`, which a plan writes beside the rules.
void to_json(nlohmann::json& out, const CourseRules& value);
void from_json(const nlohmann::json& in, CourseRules& value);

}  // namespace membound::intake
