// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the pages of a class are made of: their Mustache templates, filled in with every value
/// escaped for HTML, the words and numbers of a grade, histograms.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/base/strings.hpp"
#include "grader/classroom/gradebook/gradebook.hpp"
#include "grader/course/grade.hpp"

namespace membound::gradebook {

/// A file of templates/: "class".
[[nodiscard]] std::string_view template_text(std::string_view name);

/// The template with `values` in it; numbers must come as text. "style" is added.
[[nodiscard]] std::string filled(std::string_view template_name, nlohmann::json values);

using base::decimal;
/// "0.987", or nothing.
[[nodiscard]] std::string ratio_text(const std::optional<double>& ratio);
/// "7.50 / 10", "withheld".
[[nodiscard]] std::string score_text(const course::Grade& grade);
/// "PASS", or "MISSING" where nothing was submitted.
[[nodiscard]] std::string verdict_text(const course::Grade& grade);
/// The CSS class that goes with it: good, fair, poor.
[[nodiscard]] std::string tone(const std::optional<course::GradeVerdict>& verdict);
[[nodiscard]] std::string tone(course::Verdict verdict);
/// "missing kernel".
[[nodiscard]] std::string words(std::string_view identifier);
/// "-20 %"; empty for what is in time or costs nothing.
[[nodiscard]] std::string late_percent(const course::Grade& grade);
/// Below every page.
inline constexpr const char* kFooter =
    "Made by Membound. Ratios are to the reference answer in the same run.";
/// The lab's page, from the class page.
[[nodiscard]] std::string page_of_lab(const std::string& lab);
/// What a link to a page says: a file's name may hold a %, which a browser takes for the beginning
/// of another character.
[[nodiscard]] std::string link_to(const std::string& page);
/// The student's page, from the class page.
[[nodiscard]] std::string page_of(const std::string& student);

/// The labs of a class, ascending, with their grades.
struct LabGrades {
  std::string id, title;
  std::vector<const course::Grade*> grades;
  std::vector<double> forgotten_scores;  ///< of people who were removed
};
[[nodiscard]] std::vector<LabGrades> labs_of(const Class& all);

/// What went wrong most often, {count, kind, labs, example} each: findings of stages that did not
/// pass, without those that are no fault. A student counts once for a kind, however many stages or
/// labs show it.
[[nodiscard]] nlohmann::json faults_of(std::span<const course::Grade* const> grades,
                                       std::size_t most);

/// The stage whose ratio is the grade's.
[[nodiscard]] std::string slowest_stage(const course::Grade& grade);

/// `bins` equal ones from `low` to `high`; what lies outside counts in the first or the last.
struct Axis {
  double low = 0, high = 1;
  int bins = 10;
  int digits = 0;  ///< decimals of the labels
};

/// Places in a picture of 320 × 150 units: bars of 10 to 310, the floor at 125.
[[nodiscard]] nlohmann::json histogram(const std::string& caption, std::span<const double> values,
                                       const Axis& axis);

}  // namespace membound::gradebook
