// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/contract.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "grader/course/lab.hpp"

namespace membound::course {
namespace {

struct CauseRow {
  Cause cause;
  std::string_view name;
  Verdict verdict;
};

constexpr VerdictRow kVerdicts[] = {
#define VERDICT(id, name, grade, points, mark, ends, test, exit_code, words, meaning) \
  {Verdict::k##id, name,   GradeVerdict::k##grade, points,                            \
   Mark::k##mark,  ends,   BuiltInTest::k##test,   exit_code,                         \
   words,          meaning},
#include "grader/course/verdicts.def"
};
constexpr GradeRow kGrades[] = {
#define GRADE(id, name, has_score, meaning) {GradeVerdict::k##id, name, has_score, meaning},
#include "grader/course/verdicts.def"
};
constexpr CauseRow kCauses[] = {
#define CAUSE(id, name, verdict) {Cause::k##id, name, Verdict::k##verdict},
#include "grader/course/contract.def"
};
constexpr BuiltInTestRow kTests[] = {
#define TEST_OF_EVERY_LAB(id, name, cause, kernels_only) \
  {BuiltInTest::k##id, name, Cause::k##cause, kernels_only},
#include "grader/course/contract.def"
};

template <typename Row, std::size_t n, typename Enum>
const Row& at(const Row (&rows)[n], Enum value) {
  return rows[static_cast<std::size_t>(value)];
}

/// Null when no row has the name.
template <typename Row, std::size_t n>
const Row* named(const Row (&rows)[n], std::string_view name) {
  const Row* const found =
      std::find_if(rows, rows + n, [&](const Row& row) { return row.name == name; });
  return found == rows + n ? nullptr : found;
}

}  // namespace

std::span<const VerdictRow> verdict_rows() { return kVerdicts; }
std::span<const GradeRow> grade_rows() { return kGrades; }
std::span<const BuiltInTestRow> built_in_tests() { return kTests; }
const VerdictRow& row_of(Verdict verdict) { return at(kVerdicts, verdict); }
const GradeRow& row_of(GradeVerdict verdict) { return at(kGrades, verdict); }

std::string_view to_string(Verdict verdict) { return row_of(verdict).name; }
std::string_view to_string(GradeVerdict verdict) { return row_of(verdict).name; }
std::string_view to_string(Cause cause) { return at(kCauses, cause).name; }
std::string_view to_string(BuiltInTest test) { return at(kTests, test).name; }

std::optional<GradeVerdict> grade_verdict_from_string(std::string_view text) {
  const GradeRow* const row = named(kGrades, text);
  return row == nullptr ? std::nullopt : std::optional(row->verdict);
}

Cause cause_of(std::string_view test, std::string_view tag) {
  const BuiltInTestRow* const built_in = named(kTests, test);
  const CauseRow* const tagged = tag.empty() ? nullptr : named(kCauses, tag);
  if (tagged != nullptr && (built_in != nullptr || tagged->cause == Cause::kIllegalLaunch))
    return tagged->cause;
  if (built_in != nullptr) return built_in->cause;
  const auto rules = call_rules();
  const bool is_demand = std::any_of(rules.begin(), rules.end(),
                                     [&](const CallRule& rule) { return rule.test == test; });
  return is_demand ? Cause::kNotAsAsked : Cause::kNone;
}

Verdict verdict_of(Cause cause) { return at(kCauses, cause).verdict; }

void to_json(nlohmann::json& out, Verdict value) { out = to_string(value); }
void to_json(nlohmann::json& out, GradeVerdict value) { out = to_string(value); }
void to_json(nlohmann::json& out, Cause value) { out = to_string(value); }

void from_json(const nlohmann::json& in, Verdict& value) {
  const VerdictRow* const row = named(kVerdicts, in.get<std::string>());
  value = row == nullptr ? Verdict::kInfraError : row->verdict;
}
void from_json(const nlohmann::json& in, GradeVerdict& value) {
  value = grade_verdict_from_string(in.get<std::string>()).value_or(GradeVerdict::kInfraError);
}
void from_json(const nlohmann::json& in, Cause& value) {
  const CauseRow* const row = named(kCauses, in.get<std::string>());
  value = row == nullptr ? Cause::kCrash : row->cause;
}

}  // namespace membound::course
