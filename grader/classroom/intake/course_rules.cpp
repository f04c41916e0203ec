// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/course_rules.hpp"

#include <algorithm>
#include <functional>

#include <yaml-cpp/yaml.h>

#include "grader/base/csv.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/intake/layout.hpp"
#include "grader/classroom/intake/submitted_names.hpp"
#include "grader/course/json_io.hpp"

namespace membound::intake {
double LatePolicy::factor(std::int64_t days) const {
  const double lost = std::min(percent_per_day * static_cast<double>(days), most_percent);
  return std::clamp(1 - lost / 100, 0.0, 1.0);
}

Lateness lateness(const LatePolicy& policy, std::int64_t time) {
  Lateness late;
  late.policy = policy;
  if (!policy.due || time == 0) return late;
  const std::int64_t start = *policy.due + policy.grace_seconds;
  late.by_seconds = std::max<std::int64_t>(0, time - start);
  late.days = days_begun(start, time, policy.zone);
  late.closed = policy.last && time > *policy.last;
  late.factor = late.closed ? 0 : policy.factor(late.days);
  return late;
}

namespace {

using course::read_field;
using course::write_field;

constexpr std::int64_t kSecondsAMinute = 60;

/// Walks course.yml and remembers the first thing that is wrong with it.
class RulesReader {
 public:
  RulesReader(const std::string& file, const std::vector<course::Lab>& labs)
      : file_(file), labs_(labs) {}

  base::Result<CourseRules> read(const YAML::Node& root) {
    CourseRules rules;
    // Times above it in the file are the zone's too.
    if (root.IsMap() && root["zone"]) zone(root["zone"], rules);
    keys(root, "course.yml",
         {{"attempts", [&](const YAML::Node& n) { attempts(n, rules); }},
          {"zone", [](const YAML::Node&) {}},
          {"groups", [&](const YAML::Node& n) { groups(n, rules); }},
          {"late", [&](const YAML::Node& n) { late(n, rules); }},
          {"labs", [&](const YAML::Node& n) { labs(n, rules); }},
          {"counting", [&](const YAML::Node& n) { counting(n, rules.counting); }},
          {"limits", [&](const YAML::Node& n) { limits(n, rules.limits); }},
          {"extensions", [&](const YAML::Node& n) { extensions(n, rules); }}});
    if (problem_) return *problem_;
    return rules;
  }

 private:
  using Readers = std::map<std::string, std::function<void(const YAML::Node&)>>;

  void wrong(const YAML::Node& node, const std::string& found, const std::string& expected) {
    if (problem_) return;
    problem_ = base::Error{base::ErrorKind::kInput, place(node), found, expected,
                           "docs/grading.md shows a course.yml"};
  }

  [[nodiscard]] std::string place(const YAML::Node& node) const {
    return file_ + ":" + std::to_string(node.Mark().line + 1);
  }

  void keys(const YAML::Node& node, const std::string& what, const Readers& readers) {
    std::string known;
    for (const auto& [key, reader] : readers) base::add_word(known, key);
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

  void zone(const YAML::Node& node, CourseRules& rules) {
    const auto found = zone_named(text(node), place(node));
    if (!found && !problem_) problem_ = found.error();
    if (found) rules.zone = zone_ = *found;
  }

  std::int64_t time(const YAML::Node& node) {
    const auto found = read_deadline(text(node), zone_, place(node));
    if (!found && !problem_) problem_ = found.error();
    return found ? *found : 0;
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

  /// What holds for every lab, and the budget that a student has for all of them.
  void late(const YAML::Node& node, CourseRules& rules) {
    constexpr double kMostDays = 1000;
    Readers readers = lab_readers(rules.all);
    readers["late_days"] = [&](const YAML::Node& n) {
      rules.late_days = static_cast<int>(number(n, kMostDays));
    };
    keys(node, "the part late", readers);
  }

  void lab_rules(const YAML::Node& node, LabRules& rules) {
    keys(node, "a lab's part", lab_readers(rules));
    if (rules.due && rules.last_date && *rules.last_date < *rules.due)
      wrong(node, "the last date is before the due date", "last_date after due");
  }

  Readers lab_readers(LabRules& rules) {
    constexpr double kYearMinutes = 366.0 * 24 * 60, kMostPoints = 1'000'000;
    return {
        {"due", [&](const YAML::Node& n) { rules.due = time(n); }},
        {"grace_minutes",
         [&](const YAML::Node& n) {
           rules.grace_minutes = static_cast<std::int64_t>(number(n, kYearMinutes));
         }},
        {"percent_per_day", [&](const YAML::Node& n) { rules.percent_per_day = number(n, 100); }},
        {"most_percent", [&](const YAML::Node& n) { rules.most_percent = number(n, 100); }},
        {"last_date", [&](const YAML::Node& n) { rules.last_date = time(n); }},
        {"points", [&](const YAML::Node& n) { rules.points = number(n, kMostPoints); }},
        {"times", [&](const YAML::Node& n) { rules.times = text(n); }}};
  }

  std::string lab(const YAML::Node& node) {
    const auto found = lab_meant(text(node), labs_, place(node));
    if (!found && !problem_) problem_ = found.error();
    return found ? *found : "";
  }

  void labs(const YAML::Node& node, CourseRules& rules) {
    if (!node.IsMap()) wrong(node, "labs is no list of \"lab: …\"", "03-transpose: {due: …}");
    for (const auto& entry : node) lab_rules(entry.second, rules.labs[lab(entry.first)]);
  }

  void groups(const YAML::Node& node, CourseRules& rules) {
    const std::string word = text(node);
    if (word != "folders" && word != "roster")
      wrong(node, "\"" + shown(word, 60) + "\" says nothing about groups",
            "folders (a_b is a group) or roster (its column group alone)");
    rules.group_folders = word == "folders";
  }

  void attempts(const YAML::Node& node, CourseRules& rules) {
    const std::string word = text(node);
    if (word != "best" && word != "latest")
      wrong(node, "\"" + shown(word, 60) + "\" is no rule for attempts", "best or latest");
    rules.best_attempt = word == "best";
  }

  /// "lab: value" for several labs.
  void for_labs(const YAML::Node& node, const std::string& what, const std::string& example,
                const std::function<void(const std::string&, const YAML::Node&)>& read) {
    if (!node.IsMap()) return wrong(node, what + " is no list of \"lab: …\"", example);
    for (const auto& entry : node) read(lab(entry.first), entry.second);
  }

  int whole(const YAML::Node& node, int least, int most) {
    int value = least - 1;
    if (node.IsScalar() && YAML::convert<int>::decode(node, value) && value >= least &&
        value <= most)
      return value;
    wrong(node, "\"" + shown(text(node), 60) + "\" is no such number",
          "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return least;
  }

  void stage_points(const YAML::Node& node, const std::string& id, course::Counting& counting) {
    constexpr double kMostPoints = 1'000'000;
    if (!node.IsMap()) return wrong(node, "no list of \"stage: points\"", "{1: 5, 2: 20}");
    const auto lab = std::find_if(labs_.begin(), labs_.end(),
                                  [&id](const course::Lab& one) { return one.id == id; });
    for (const auto& entry : node) {
      const bool known =
          lab != labs_.end() &&
          std::any_of(lab->stages.begin(), lab->stages.end(), [&](const course::Stage& stage) {
            return std::to_string(stage.number) == entry.first.Scalar();
          });
      if (!known)
        wrong(entry.first, "\"" + shown(entry.first.Scalar(), 60) + "\" is no stage of " + id,
              "the number of one of its stages");
      counting.stages[id][entry.first.Scalar()] = number(entry.second, kMostPoints);
    }
  }

  void best_of(const YAML::Node& node, course::Counting& counting) {
    constexpr int kMostLabs = 1000;
    if (node.IsSequence()) {
      for (const YAML::Node& one : node) best_of(one, counting);
      return;
    }
    course::BestOf best;
    keys(node, "a rule of best labs",
         {{"count", [&](const YAML::Node& n) { best.count = whole(n, 1, kMostLabs); }},
          {"labs", [&](const YAML::Node& n) {
             if (!n.IsSequence()) wrong(n, "labs is no list", "[01, 02, 03]");
             for (const YAML::Node& one : n) best.labs.push_back(lab(one));
           }}});
    if (best.count == 0) wrong(node, "a rule of best labs without count", "{count: 3, labs: […]}");
    for (const course::BestOf& other : counting.best)
      for (const std::string& one : best.labs)
        if (std::find(other.labs.begin(), other.labs.end(), one) != other.labs.end())
          wrong(node, one + " is in two rules of best labs", "one rule for each lab");
    counting.best.push_back(std::move(best));
  }

  /// Labs whose write-up is marked and counts.
  void write_ups(const YAML::Node& node, course::Counting& counting) {
    if (!node.IsSequence()) wrong(node, "write_ups is no list", "[reduction]");
    for (const YAML::Node& one : node) {
      const std::string id = lab(one);
      const auto found = std::find_if(labs_.begin(), labs_.end(),
                                      [&id](const course::Lab& each) { return each.id == id; });
      if (found != labs_.end() && found->rubric.empty())
        wrong(one, id + " has no write-up to mark", "a lab with a \"rubric\" in its lab.json");
      counting.write_ups.push_back(id);
    }
  }

  void counting(const YAML::Node& node, course::Counting& counting) {
    constexpr double kMostWeight = 1000;
    keys(node, "counting",
         {{"weights",
           [&](const YAML::Node& n) {
             for_labs(n, "weights", "{transpose: 0.3}",
                      [&](const std::string& id, const YAML::Node& weight) {
                        counting.weights[id] = number(weight, kMostWeight);
                      });
           }},
          {"best", [&](const YAML::Node& n) { best_of(n, counting); }},
          {"write_ups", [&](const YAML::Node& n) { write_ups(n, counting); }},
          {"stages", [&](const YAML::Node& n) {
             for_labs(n, "stages", "{transpose: {1: 5, 2: 20}}",
                      [&](const std::string& id, const YAML::Node& stages) {
                        stage_points(stages, id, counting);
                      });
           }}});
  }

  void limits(const YAML::Node& node, GradingLimits& limits) {
    constexpr int kMostAttempts = 100'000;
    constexpr double kYearMinutes = 366.0 * 24 * 60;
    keys(node, "limits",
         {{"attempts",
           [&](const YAML::Node& n) {
             if (!n.IsMap()) {
               limits.attempts = whole(n, 1, kMostAttempts);
               return;
             }
             for_labs(n, "attempts", "{transpose: 5}",
                      [&](const std::string& id, const YAML::Node& most) {
                        limits.lab_attempts[id] = whole(most, 1, kMostAttempts);
                      });
           }},
          {"minutes_a_student", [&](const YAML::Node& n) {
             limits.seconds_a_student = number(n, kYearMinutes) * kSecondsAMinute;
           }}});
  }

  void extensions(const YAML::Node& node, CourseRules& rules) {
    if (!node.IsSequence()) wrong(node, "extensions is no list", "- {student: …, lab: …, due: …}");
    for (const YAML::Node& one : node) {
      Extension extension;
      keys(one, "an extension",
           {{"student", [&](const YAML::Node& n) { extension.student = text(n); }},
            {"group", [&](const YAML::Node& n) { extension.group = text(n); }},
            {"section", [&](const YAML::Node& n) { extension.section = text(n); }},
            {"lab", [&](const YAML::Node& n) { extension.lab = lab(n); }},
            {"due", [&](const YAML::Node& n) { extension.due = time(n); }},
            {"reason", [&](const YAML::Node& n) { extension.reason = shown(text(n)); }}});
      const int whose = (extension.student.empty() ? 0 : 1) + (extension.group.empty() ? 0 : 1) +
                        (extension.section.empty() ? 0 : 1);
      if (whose != 1 || extension.due == 0)
        wrong(
            one,
            whose > 1 ? "an extension for several at once" : "an extension without student or due",
            "one of student, group and section, as in {student: …, lab: …, due: …}");
      rules.extensions.push_back(std::move(extension));
    }
  }

  const std::string& file_;
  const std::vector<course::Lab>& labs_;
  Zone zone_;
  std::optional<base::Error> problem_;
};

}  // namespace

void LabRules::overlay(const LabRules& other) {
  if (other.due) due = other.due;
  if (other.grace_minutes) grace_minutes = other.grace_minutes;
  if (other.percent_per_day) percent_per_day = other.percent_per_day;
  if (other.points) points = other.points;
  if (other.times) times = other.times;
  if (other.most_percent) most_percent = other.most_percent;
  if (other.last_date) last_date = other.last_date;
}

std::optional<int> GradingLimits::of(const std::string& lab) const {
  const auto own = lab_attempts.find(lab);
  return own != lab_attempts.end() ? own->second : attempts;
}

bool CourseRules::mentions(const std::string& lab) const {
  return all.due.has_value() || labs.contains(lab);
}

LabRules CourseRules::of(const std::string& lab) const {
  LabRules rules = all;
  if (const auto own = labs.find(lab); own != labs.end()) rules.overlay(own->second);
  return rules;
}

bool Extension::is_for(const Whom& whom) const {
  const auto same = [](const std::string& a, const std::string& b) {
    return !a.empty() && folded(a) == folded(b);
  };
  return same(group, whom.group) || same(section, whom.section) ||
         std::any_of(whom.names.begin(), whom.names.end(),
                     [&](const auto& name) { return same(student, name); });
}

LatePolicy CourseRules::policy(const std::string& lab, const Whom& whom) const {
  const LabRules rules = of(lab);
  LatePolicy policy{.due = rules.due,
                    .grace_seconds = rules.grace_minutes.value_or(0) * kSecondsAMinute,
                    .percent_per_day = rules.percent_per_day.value_or(0),
                    .most_percent = rules.most_percent.value_or(100),
                    .last = rules.last_date,
                    .zone = zone};
  if (!policy.due) return policy;
  for (const Extension& extension : extensions) {
    if (!extension.lab.empty() && extension.lab != lab) continue;
    if (extension.due <= *policy.due || !extension.is_for(whom)) continue;
    policy.due = extension.due;
    policy.extended = true;
  }
  // Who was given time beyond the last date has it.
  if (policy.last) policy.last = std::max(*policy.last, *policy.due);
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
                                                     const std::vector<course::Lab>& labs,
                                                     const Zone& zone) {
  const auto table = base::read_csv(text, file_name);
  if (!table) return table.error();
  const auto who = student_column(*table), group = table->column("group"),
             section = table->column("section");
  const auto lab = table->column("lab"), due = table->column("due"),
             reason = table->column("reason");
  if ((!who && !group && !section) || !lab || !due) {
    return base::Error{base::ErrorKind::kInput, file_name, "a column is missing",
                       "student (or group, section), lab, due and, if you like, reason",
                       "write \"student,lab,due\" above the first row"};
  }
  std::vector<Extension> all;
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    const auto& row = table->rows[i];
    const std::string where = file_name + ", row " + std::to_string(i + 2);
    Extension extension;
    if (who) extension.student = row[*who];
    if (group) extension.group = row[*group];
    if (section) extension.section = row[*section];
    if (!row[*lab].empty() && folded(row[*lab]) != "all") {
      const auto found = lab_meant(row[*lab], labs, where);
      if (!found) return found.error();
      extension.lab = *found;
    }
    if (extension.student.empty() && extension.group.empty() && extension.section.empty())
      return base::Error{base::ErrorKind::kInput, where, "no student", "an id, name or email", ""};
    const auto time = read_deadline(row[*due], zone, where);
    if (!time) return time.error();
    extension.due = *time;
    if (reason) extension.reason = shown(row[*reason]);
    all.push_back(std::move(extension));
  }
  return all;
}

MEMBOUND_JSON(Zone, name)
MEMBOUND_JSON(LabRules, due, grace_minutes, percent_per_day, points, times, most_percent, last_date)
MEMBOUND_JSON(GradingLimits, attempts, lab_attempts, seconds_a_student)
MEMBOUND_JSON(Extension, student, lab, due, reason, group, section)
MEMBOUND_JSON(CourseRules, all, labs, extensions, best_attempt, zone, group_folders, late_days)

}  // namespace membound::intake
