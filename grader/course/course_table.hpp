// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The course as one table: a row for each student, a column for each lab, totals. Labs may be
/// worth other points than their stages add up to.
/// Place in the chain: grades -> [course_table] -> course.csv, gradebook. Pure.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "grader/course/grade.hpp"

namespace membound::course {

/// `points` of `maximum` as points of `worth`.
[[nodiscard]] double scaled(double points, double maximum, double worth);

struct CourseCell {
  const Grade* grade = nullptr;  ///< null: the student has no row for the lab, which counts 0
  std::optional<double> points;  ///< scaled; nothing: withheld
};

struct CourseRow {
  const Grade* any = nullptr;     ///< for id, name and address
  std::vector<CourseCell> cells;  ///< one for each lab
  double total = 0;
  int withheld = 0;  ///< labs that a person must decide before the total is final
};

struct CourseTable {
  struct Column {
    std::string lab, title;
    double worth = 0;
  };
  std::vector<Column> labs;     ///< ascending
  std::vector<CourseRow> rows;  ///< by student
  double worth = 0;             ///< of all labs
};

/// `grades` must outlive the table; one for each student and lab. `worth`: points of labs that are
/// worth something else than their maximum.
[[nodiscard]] CourseTable course_table(std::span<const Grade> grades,
                                       const std::map<std::string, double>& worth);

}  // namespace membound::course
