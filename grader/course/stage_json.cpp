// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/stage_json.hpp"

#include <cctype>

#include "grader/course/program_counts.hpp"

namespace membound::course {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
constexpr double kMostPoints = 10000;
constexpr double kMostSeconds = 3600;
constexpr double kMostDemanded = 1e12;
constexpr double kMostCounted = 1e18;

bool is_kernel_name(const std::string& text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  for (const char letter : text)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '_') return false;
  return true;
}

bool is_slug(const std::string& text) {
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (std::islower(code) == 0 && std::isdigit(code) == 0 && letter != '-') return false;
  }
  return !text.empty();
}

std::vector<std::int64_t> read_size(const JsonValue& size, std::size_t most_extents) {
  std::vector<std::int64_t> extents;
  for (const JsonValue& extent : size.elements(1))
    extents.push_back(extent.integer(1, kMostElements));
  if (extents.size() > most_extents) size.report("at most one number for each name in \"sizes\"");
  return extents;
}

std::vector<std::vector<std::int64_t>> read_sizes(const JsonValue& list, std::size_t most_extents) {
  std::vector<std::vector<std::int64_t>> sizes;
  for (const JsonValue& entry : list.elements(1)) sizes.push_back(read_size(entry, most_extents));
  return sizes;
}

CallDemand read_demand(const JsonValue& object) {
  object.only_keys({"rule", "number"});
  const JsonValue name = object.member("rule");
  CallDemand demand{find_call_rule(name.text())};
  if (demand.rule == nullptr) {
    std::string all;
    for (const CallRule& rule : call_rules())
      all += (all.empty() ? "one of " : ", ") + std::string(rule.name);
    name.report(all);
  } else if (!demand.rule->number.empty()) {
    demand.number = object.member("number").number({0, kMostDemanded});
  } else if (object.optional_member("number")) {
    object.member("number").report("no number: this rule takes none");
  }
  return demand;
}

std::string counter_name(const JsonValue& value) {
  if (!is_kernel_name(value.text())) value.report("the name of a counter: \"threads\"");
  return value.text();
}

/// {"counter": "threads", "per": "multiprocessors", "at_most": 512, "hint": "…"}
CounterBar read_counter_bar(const JsonValue& object) {
  object.only_keys({"counter", "per", "at_most", "hint"});
  CounterBar bar;
  bar.counter = counter_name(object.member("counter"));
  bar.at_most = object.member("at_most").number({0, kMostCounted});
  if (const auto per = object.optional_member("per")) bar.per = counter_name(*per);
  bar.hint_tag = object.member("hint").text();
  return bar;
}

/// {"ask": "How many …?", "unit": "sectors", "counter": "global_store_sectors", "per": "…"}
Question read_question(const JsonValue& object) {
  object.only_keys({"ask", "unit", "counter", "per"});
  Question question{object.member("ask").text(), object.member("unit").text(),
                    counter_name(object.member("counter")), ""};
  if (!question.ask.empty() && question.ask.back() != '?')
    object.member("ask").report("a question, with its question mark");
  if (const auto per = object.optional_member("per")) question.per = counter_name(*per);
  return question;
}

/// The same of a program's run: {"ask": "…?", "unit": "percent", "counter": "copy_time_percent"}
Question read_program_question(const JsonValue& object) {
  object.only_keys({"ask", "unit", "counter"});
  const Question question = read_question(object);
  std::string names;
  for (const ProgramCount& count : kProgramCounts) {
    if (count.name == question.counter) return question;
    names += (names.empty() ? "" : ", ") + std::string(count.name);
  }
  object.member("counter").report("one of " + names);
  return question;
}

ProgramLimits read_limits(const JsonValue& object) {
  object.only_keys({"seconds", "memory_mb", "output_kb"});
  ProgramLimits limits;
  limits.seconds = read_number(object, "seconds", {0.1, kMostSeconds}, limits.seconds);
  limits.memory_mb =
      static_cast<int>(read_number(object, "memory_mb", {64, 65536}, limits.memory_mb));
  limits.output_kb =
      static_cast<int>(read_number(object, "output_kb", {1, 16384}, limits.output_kb));
  return limits;
}

/// The members that only a stage about a kernel has: what it is timed at, and bars on what is
/// counted.
void read_kernel_members(const JsonValue& object, const Lab& lab, Stage& stage) {
  stage.timed_sizes = read_sizes(object.member("timed_sizes"), lab.size_names.size());
  if (const auto bars = object.optional_member("counters"))
    for (const JsonValue& bar : bars->elements(1)) stage.counters.push_back(read_counter_bar(bar));
  if (const auto question = object.optional_member("predict"))
    stage.question = read_question(*question);
}

/// The members that only a stage about a program has.
void read_program_members(const JsonValue& object, Stage& stage) {
  for (const JsonValue& demand : object.member("calls").elements(1))
    stage.calls.push_back(read_demand(demand));
  if (const auto bars = object.optional_member("counters"))
    bars->report("no bars on counters: no run of a program is timed");
  if (const auto question = object.optional_member("predict"))
    stage.question = read_program_question(*question);
}

}  // namespace

std::string read_slug(const JsonValue& value) {
  const std::string slug = value.text();
  if (!slug.empty() && !is_slug(slug)) value.report("small letters, digits and '-' only");
  return slug;
}

double read_number(const JsonValue& object, const char* key, NumberRange range, double otherwise) {
  const auto value = object.optional_member(key);
  return value ? value->number(range) : otherwise;
}

std::optional<ProgramLimits> read_host_code(const JsonValue& object) {
  const auto member = object.optional_member("host_code");
  if (!member) return std::nullopt;
  if (member->is_object()) return read_limits(*member);
  if (member->boolean()) member->report("false, or an object: {\"seconds\": 10}");
  return std::nullopt;
}

Stage read_stage(const JsonValue& object, int expected_number, const Lab& lab,
                 const std::optional<ProgramLimits>& of_all) {
  object.only_keys({"number", "name", "kernel", "title", "points", "pass_ratio", "full_ratio",
                    "correctness_points_share", "timed_sizes", "timeout_seconds", "host_code",
                    "calls", "counters", "predict"});
  Stage stage;
  const JsonValue number = object.member("number");
  stage.number = static_cast<int>(number.integer(1, 1000));
  if (stage.number != expected_number)
    number.report(std::to_string(expected_number) + ": stages count from 1 without gaps");
  stage.name = read_slug(object.member("name"));
  stage.kernel = object.member("kernel").text();
  if (!is_kernel_name(stage.kernel)) object.member("kernel").report("a C++ identifier");
  stage.title = object.member("title").text();
  stage.points = object.member("points").number({0, kMostPoints});
  stage.pass_ratio = read_number(object, "pass_ratio", {0.01, 2}, stage.pass_ratio);
  stage.full_ratio = read_number(object, "full_ratio", {0.01, 2}, stage.full_ratio);
  if (stage.full_ratio < stage.pass_ratio)
    object.report("a full_ratio not below the pass_ratio", "swap the two numbers");
  stage.correctness_points_share =
      read_number(object, "correctness_points_share", {0, 1}, stage.correctness_points_share);
  stage.timeout_seconds =
      read_number(object, "timeout_seconds", {0.1, kMostSeconds}, stage.timeout_seconds);
  if (const auto limits = of_all ? of_all : read_host_code(object)) {
    stage.kind = &kProgramStage;
    stage.program = *limits;
    read_program_members(object, stage);
  } else {
    read_kernel_members(object, lab, stage);
  }
  return stage;
}

}  // namespace membound::course
