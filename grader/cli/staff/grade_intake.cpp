// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/staff/grade_intake.hpp"

#include <filesystem>

#include "grader/base/text_files.hpp"
#include "grader/cli/error_output.hpp"

namespace membound::cli {
namespace {

/// Adds what a file with the platform's record says; `lab`: the only one it can be of.
base::Status add_times(const std::filesystem::path& file, const std::optional<std::string>& lab,
                       const Context& context, intake::IntakeRequest& intake) {
  const auto text = base::read_file(file);
  if (!text) return text.error();
  const auto records = intake::read_time_records(*text, file.string(), lab, context.course.labs);
  if (!records) return records.error();
  intake.times.insert(intake.times.end(), records->begin(), records->end());
  return base::Done{};
}

}  // namespace

base::Error wrong_use(const std::string& where, const std::string& found,
                      const std::string& expected, const std::string& advice) {
  return {base::ErrorKind::kUsage, where, found, expected, advice};
}

base::Status read_intake(const GradeOptions& options, const Context& context,
                         queue::BatchRequest& request) {
  intake::IntakeRequest& intake = request.intake;
  for (const std::string& source : options.submissions) intake.sources.emplace_back(source);
  if (!options.lab.empty()) {
    const auto lab = context.course.find(options.lab);
    if (!lab) return lab.error();
    intake.lab = (*lab)->id;
  }
  const std::filesystem::path kept = queue::kept_roster(options.out);
  std::error_code ignored;
  const bool as_before = options.roster.empty() && !options.submissions.empty() &&
                         std::filesystem::exists(kept, ignored);
  if (as_before || !options.roster.empty()) {
    const std::string file = as_before ? kept.string() : options.roster;
    auto text = base::read_file(file);
    if (!text) return text.error();
    auto roster = intake::Roster::from_text(*text, file);
    if (!roster) return roster.error();
    intake.roster = std::move(*roster);
    if (as_before)
      report_note("the roster is the one of an earlier call, " + file);
    else
      request.roster_text = *std::move(text);
  }
  if (!options.layout.empty()) intake.layout = intake::layout_from_string(options.layout);
  if (!options.attempt.empty())
    intake.attempts =
        options.attempt == "best" ? intake::AttemptPolicy::kBest : intake::AttemptPolicy::kLatest;
  return base::Done{};
}

base::Status read_rules(const GradeOptions& options, const Context& context,
                        queue::BatchRequest& request) {
  const auto& labs = context.course.labs;
  if (!options.course.empty()) {
    const auto text = base::read_file(options.course);
    if (!text) return text.error();
    auto rules = intake::read_course_rules(*text, options.course, labs);
    if (!rules) return rules.error();
    const auto folder = std::filesystem::path(options.course).parent_path();
    for (const auto& [lab, own] : rules->labs) {
      if (!own.times || (request.intake.lab && *request.intake.lab != lab)) continue;
      const auto added = add_times(folder / *own.times, lab, context, request.intake);
      if (!added) return added;
    }
    request.rules = *std::move(rules);
  }
  if (!options.extensions.empty()) {
    const auto text = base::read_file(options.extensions);
    if (!text) return text.error();
    auto extensions = intake::read_extensions(*text, options.extensions, labs);
    if (!extensions) return extensions.error();
    request.extensions = *std::move(extensions);
  }
  for (const std::string& file : options.times) {
    const auto added = add_times(file, request.intake.lab, context, request.intake);
    if (!added) return added;
  }
  if (!options.due.empty()) {
    request.rules_now.due = intake::parse_time(options.due);
    if (!request.rules_now.due) {
      return wrong_use("--due", "\"" + options.due + "\" is no time",
                       "2026-11-30, 2026-11-30T23:59 or 2026-11-30T23:59+01:00", "");
    }
  }
  request.rules_now.percent_per_day = options.late_percent;
  request.rules_now.grace_minutes = options.grace_minutes;
  return base::Done{};
}

}  // namespace membound::cli
