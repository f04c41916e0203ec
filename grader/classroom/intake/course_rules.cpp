// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/course_rules.hpp"

#include <algorithm>
#include <ctime>
#include <functional>
#include <sstream>

#include <date/date.h>
#include <yaml-cpp/yaml.h>

#include "grader/base/csv.hpp"
#include "grader/classroom/intake/submitted_names.hpp"
#include "grader/course/json_io.hpp"

namespace membound::intake {
namespace {

using std::chrono::seconds;

constexpr std::int64_t kDay = 24 * 60 * 60;
constexpr date::sys_seconds kEpoch = date::sys_days{date::year{1970} / 1 / 1};
constexpr date::sys_seconds kYear10000 = date::sys_days{date::year{10000} / 1 / 1};

/// `text` as a time of 1970 to 9999, where it is one of this format and nothing more.
std::optional<date::sys_seconds> read_as(const std::string& format, const std::string& text) {
  std::istringstream in(text);
  date::sys_seconds time;
  date::from_stream(in, format.c_str(), time);
  if (in.fail() || in.peek() != std::istringstream::traits_type::eof()) return std::nullopt;
  if (time < kEpoch || time >= kYear10000) return std::nullopt;
  return time;
}

/// What this machine's clock on the wall shows at `wall`.
std::int64_t local(date::sys_seconds wall) {
  const std::time_t shown = wall.time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&shown, &parts);
  parts.tm_isdst = -1;
  return mktime(&parts);
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text) {
  std::string one(text);
  if (one.size() > 10 && one[10] == 'T') one[10] = ' ';
  if (const auto dot = one.find('.'); dot != std::string::npos)
    one.erase(dot, one.find_first_not_of("0123456789", dot + 1) - dot);
  if (const auto day = read_as("%F", one)) return local(*day + seconds{kDay - 1});
  for (const std::string time : {"%F %H:%M", "%F %T"}) {
    if (const auto wall = read_as(time, one)) return local(*wall);
    for (const char* zone : {" Z", " UTC", " %z", " %Ez"})
      if (const auto found = read_as(time + zone, one)) return found->time_since_epoch().count();
  }
  // Moodle's worksheet: "Friday, 20 November 2026, 9:37 PM".
  if (const auto wall = read_as("%A, %d %B %Y, %I:%M %p", std::string(text))) return local(*wall);
  return std::nullopt;
}

std::string utc_text(std::int64_t time) {
  const date::sys_seconds moment{seconds{time}};
  if (time == 0 || moment < kEpoch || moment >= kYear10000) return "";
  return date::format("%FT%TZ", moment);
}

Lateness lateness(const LatePolicy& policy, std::int64_t time) {
  if (!policy.due || time == 0) return {};
  const std::int64_t by = time - *policy.due - policy.grace_seconds;
  if (by <= 0) return {};
  const std::int64_t days = (by + kDay - 1) / kDay;
  const double lost = policy.percent_per_day / 100 * static_cast<double>(days);
  return {by, std::clamp(1 - lost, 0.0, 1.0)};
}

namespace {

using course::read_field;
using course::write_field;

constexpr const char* kTimeForms = "2026-11-30, 2026-11-30T23:59 or 2026-11-30T23:59+01:00";
constexpr std::int64_t kSecondsAMinute = 60;

/// Walks course.yml and remembers the first thing that is wrong with it.
class RulesReader {
 public:
  RulesReader(const std::string& file, const std::vector<course::Lab>& labs)
      : file_(file), labs_(labs) {}

  base::Result<CourseRules> read(const YAML::Node& root) {
    CourseRules rules;
    keys(root, "course.yml",
         {{"attempts", [&](const YAML::Node& n) { attempts(n, rules); }},
          {"late", [&](const YAML::Node& n) { lab_rules(n, rules.all); }},
          {"labs", [&](const YAML::Node& n) { labs(n, rules); }},
          {"extensions", [&](const YAML::Node& n) { extensions(n, rules); }}});
    if (problem_) return *problem_;
    return rules;
  }

 private:
  using Readers = std::map<std::string, std::function<void(const YAML::Node&)>>;

  void wrong(const YAML::Node& node, const std::string& found, const std::string& expected) {
    if (problem_) return;
    problem_ =
        base::Error{base::ErrorKind::kInput, file_ + ":" + std::to_string(node.Mark().line + 1),
                    found, expected, "docs/grading.md shows a course.yml"};
  }

  void keys(const YAML::Node& node, const std::string& what, const Readers& readers) {
    std::string known;
    for (const auto& [key, reader] : readers) known += (known.empty() ? "" : ", ") + key;
    if (!node.IsMap()) {
      wrong(node, what + " is no list of \"key: value\"", known);
      return;
    }
    for (const auto& entry : node) {
      const auto reader = readers.find(entry.first.Scalar());
      if (reader == readers.end())
        wrong(entry.first, "\"" + shown(entry.first.Scalar(), 60) + "\" is unknown here", known);
      else
        reader->second(entry.second);
    }
  }

  std::string text(const YAML::Node& node) {
    if (!node.IsScalar()) wrong(node, "no text", "one word or text");
    return node.IsScalar() ? node.Scalar() : "";
  }

  std::int64_t time(const YAML::Node& node) {
    const auto found = parse_time(text(node));
    if (!found) wrong(node, "\"" + shown(text(node), 60) + "\" is no time", kTimeForms);
    return found.value_or(0);
  }

  double number(const YAML::Node& node, double most) {
    double value = -1;
    if (node.IsScalar() && YAML::convert<double>::decode(node, value) && value >= 0 &&
        value <= most)
      return value;
    wrong(node, "\"" + shown(text(node), 60) + "\" is no such number",
          "a number from 0 to " + std::to_string(static_cast<std::int64_t>(most)));
    return 0;
  }

  void lab_rules(const YAML::Node& node, LabRules& rules) {
    constexpr double kYearMinutes = 366.0 * 24 * 60, kMostPoints = 1'000'000;
    keys(node, "a lab's part",
         {{"due", [&](const YAML::Node& n) { rules.due = time(n); }},
          {"grace_minutes",
           [&](const YAML::Node& n) {
             rules.grace_minutes = static_cast<std::int64_t>(number(n, kYearMinutes));
           }},
          {"percent_per_day", [&](const YAML::Node& n) { rules.percent_per_day = number(n, 100); }},
          {"points", [&](const YAML::Node& n) { rules.points = number(n, kMostPoints); }},
          {"times", [&](const YAML::Node& n) { rules.times = text(n); }}});
  }

  std::string lab(const YAML::Node& node) {
    const auto found =
        lab_meant(text(node), labs_, file_ + ":" + std::to_string(node.Mark().line + 1));
    if (!found && !problem_) problem_ = found.error();
    return found ? *found : "";
  }

  void labs(const YAML::Node& node, CourseRules& rules) {
    if (!node.IsMap()) wrong(node, "labs is no list of \"lab: …\"", "03-transpose: {due: …}");
    for (const auto& entry : node) lab_rules(entry.second, rules.labs[lab(entry.first)]);
  }

  void attempts(const YAML::Node& node, CourseRules& rules) {
    const std::string word = text(node);
    if (word != "best" && word != "latest")
      wrong(node, "\"" + shown(word, 60) + "\" is no rule for attempts", "best or latest");
    rules.best_attempt = word == "best";
  }

  void extensions(const YAML::Node& node, CourseRules& rules) {
    if (!node.IsSequence()) wrong(node, "extensions is no list", "- {student: …, lab: …, due: …}");
    for (const YAML::Node& one : node) {
      Extension extension;
      keys(one, "an extension",
           {{"student", [&](const YAML::Node& n) { extension.student = text(n); }},
            {"lab", [&](const YAML::Node& n) { extension.lab = lab(n); }},
            {"due", [&](const YAML::Node& n) { extension.due = time(n); }},
            {"reason", [&](const YAML::Node& n) { extension.reason = shown(text(n)); }}});
      if (extension.student.empty() || extension.due == 0)
        wrong(one, "an extension without student or due", "{student: …, lab: …, due: …}");
      rules.extensions.push_back(std::move(extension));
    }
  }

  const std::string& file_;
  const std::vector<course::Lab>& labs_;
  std::optional<base::Error> problem_;
};

}  // namespace

void LabRules::overlay(const LabRules& other) {
  if (other.due) due = other.due;
  if (other.grace_minutes) grace_minutes = other.grace_minutes;
  if (other.percent_per_day) percent_per_day = other.percent_per_day;
  if (other.points) points = other.points;
  if (other.times) times = other.times;
}

bool CourseRules::mentions(const std::string& lab) const {
  return all.due.has_value() || labs.contains(lab);
}

LabRules CourseRules::of(const std::string& lab) const {
  LabRules rules = all;
  if (const auto own = labs.find(lab); own != labs.end()) rules.overlay(own->second);
  return rules;
}

LatePolicy CourseRules::policy(const std::string& lab,
                               const std::vector<std::string>& names) const {
  const LabRules rules = of(lab);
  LatePolicy policy{rules.due, rules.grace_minutes.value_or(0) * kSecondsAMinute,
                    rules.percent_per_day.value_or(0)};
  if (!policy.due) return policy;
  for (const Extension& extension : extensions) {
    if (!extension.lab.empty() && extension.lab != lab) continue;
    const std::string who = folded(extension.student);
    const bool meant = std::any_of(names.begin(), names.end(),
                                   [&](const auto& name) { return folded(name) == who; });
    if (!meant || extension.due <= *policy.due) continue;
    policy.due = extension.due;
    policy.extended = true;
  }
  return policy;
}

base::Result<CourseRules> read_course_rules(const std::string& text, const std::string& file_name,
                                            const std::vector<course::Lab>& labs) {
  try {
    return RulesReader(file_name, labs).read(YAML::Load(text));
  } catch (const YAML::Exception& problem) {
    return base::Error{base::ErrorKind::kInput,
                       file_name + ":" + std::to_string(problem.mark.line + 1),
                       "is no YAML: " + problem.msg, "", "docs/grading.md shows a course.yml"};
  }
}

std::optional<std::size_t> student_column(const base::CsvTable& table) {
  for (const char* title : {"student", "id", "student id", "email"})
    if (const auto column = table.column(title)) return column;
  return std::nullopt;
}

base::Result<std::vector<Extension>> read_extensions(std::string_view text,
                                                     const std::string& file_name,
                                                     const std::vector<course::Lab>& labs) {
  const auto table = base::read_csv(text, file_name);
  if (!table) return table.error();
  const auto who = student_column(*table);
  const auto lab = table->column("lab"), due = table->column("due"),
             reason = table->column("reason");
  if (!who || !lab || !due) {
    return base::Error{base::ErrorKind::kInput, file_name, "a column is missing",
                       "student, lab, due and, if you like, reason",
                       "write \"student,lab,due\" above the first row"};
  }
  std::vector<Extension> all;
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    const auto& row = table->rows[i];
    const std::string where = file_name + ", row " + std::to_string(i + 2);
    Extension extension;
    extension.student = row[*who];
    if (!row[*lab].empty() && folded(row[*lab]) != "all") {
      const auto found = lab_meant(row[*lab], labs, where);
      if (!found) return found.error();
      extension.lab = *found;
    }
    const auto time = parse_time(row[*due]);
    if (!time || extension.student.empty()) {
      return base::Error{base::ErrorKind::kInput, where,
                         time ? "no student" : "\"" + shown(row[*due], 60) + "\" is no time",
                         time ? "an id, name or email" : kTimeForms, ""};
    }
    extension.due = *time;
    if (reason) extension.reason = shown(row[*reason]);
    all.push_back(std::move(extension));
  }
  return all;
}

MEMBOUND_JSON(LabRules, due, grace_minutes, percent_per_day, points, times)
MEMBOUND_JSON(Extension, student, lab, due, reason)
MEMBOUND_JSON(CourseRules, all, labs, extensions, best_attempt)

}  // namespace membound::intake
