// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What an instructor decides for a course: when each lab is due, for whom later, what being late
/// costs, which attempt counts, how many points a lab is worth. Kept in the plan, so that every
/// call of a term knows it.
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
#include "grader/course/lab.hpp"

namespace membound::intake {

/// Seconds since 1970 of "2026-11-30" (the end of that day), "2026-11-30T23:59",
/// "2026-11-30 23:59:59.25 -0800", "…Z", "Monday, 30 November 2026, 11:59 PM"; without an offset in
/// this machine's time zone. Nothing where it is no such text.
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text);

/// UTC, "2026-11-21T06:18:13Z"; empty for 0.
[[nodiscard]] std::string utc_text(std::int64_t time);

/// What an instructor asks for.
struct LatePolicy {
  std::optional<std::int64_t> due;
  std::int64_t grace_seconds = 0;
  double percent_per_day = 0;  ///< lost for each day begun after due date and grace
  bool extended = false;       ///< the due date is this student's own
};

struct Lateness {
  std::int64_t by_seconds = 0;  ///< after due date and grace; 0: in time, or not known
  double factor = 1;            ///< of the points, 0 to 1
};

/// Of something handed in at `time` (0: not known, which is not late).
[[nodiscard]] Lateness lateness(const LatePolicy& policy, std::int64_t time);

/// Of one lab, or of all that say nothing of their own.
struct LabRules {
  std::optional<std::int64_t> due;  ///< seconds since 1970
  std::optional<std::int64_t> grace_minutes;
  std::optional<double> percent_per_day;
  std::optional<double> points;      ///< what the lab is worth in totals and exports
  std::optional<std::string> times;  ///< file with the platform's record of this lab

  /// What `other` says goes before what was said here.
  void overlay(const LabRules& other);
  bool operator==(const LabRules&) const = default;
};

/// More time for one student.
struct Extension {
  std::string student;  ///< id, name or email
  std::string lab;      ///< empty: every lab
  std::int64_t due = 0;
  std::string reason;  ///< for people; may be empty

  bool operator==(const Extension&) const = default;
};

struct CourseRules {
  LabRules all;
  std::map<std::string, LabRules> labs;
  std::vector<Extension> extensions;
  std::optional<bool> best_attempt;

  /// Whether something is said about when the lab is due.
  [[nodiscard]] bool mentions(const std::string& lab) const;
  /// What holds for a lab.
  [[nodiscard]] LabRules of(const std::string& lab) const;
  /// What being late costs a student who is known under these names.
  [[nodiscard]] LatePolicy policy(const std::string& lab,
                                  const std::vector<std::string>& names) const;
  bool operator==(const CourseRules&) const = default;
};

/// course.yml as docs/grading.md shows it. An error names line, word and what may stand there.
[[nodiscard]] base::Result<CourseRules> read_course_rules(const std::string& text,
                                                          const std::string& file_name,
                                                          const std::vector<course::Lab>& labs);

/// The column of a table that says which student is meant: student, id, student id or email.
[[nodiscard]] std::optional<std::size_t> student_column(const base::CsvTable& table);

/// A table with the columns student (or id, email), lab (empty or "all": every lab), due and, if
/// you like, reason.
[[nodiscard]] base::Result<std::vector<Extension>> read_extensions(
    std::string_view text, const std::string& file_name, const std::vector<course::Lab>& labs);

void to_json(nlohmann::json& out, const LabRules& value);
void from_json(const nlohmann::json& in, LabRules& value);
void to_json(nlohmann::json& out, const Extension& value);
void from_json(const nlohmann::json& in, Extension& value);
void to_json(nlohmann::json& out, const CourseRules& value);
void from_json(const nlohmann::json& in, CourseRules& value);

}  // namespace membound::intake
