// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/grade.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "grader/course/json_fields.hpp"

namespace membound::course {
namespace {

using nlohmann::json;

struct VerdictRow {
  GradeVerdict verdict;
  std::string_view name;
  std::string_view meaning;
};

/// In the order of the enumeration.
constexpr std::array<VerdictRow, kGradeVerdicts.size()> kRows = {{
    {GradeVerdict::kPass, "PASS", "Every stage is right and fast enough."},
    {GradeVerdict::kFailSlow, "FAIL_SLOW", "The results are right; a stage is below its bar."},
    {GradeVerdict::kFailWrong, "FAIL_WRONG",
     "A test failed, or a stage's kernel is missing or has other parameters."},
    {GradeVerdict::kCrash, "CRASH",
     "A kernel used an address it must not, or broke another rule of the device."},
    {GradeVerdict::kTimeout, "TIMEOUT", "A kernel did not end in time."},
    {GradeVerdict::kMemory, "MEMORY", "The submission used more memory than allowed."},
    {GradeVerdict::kOutputLimit, "OUTPUT_LIMIT", "The submission wrote more than allowed."},
    {GradeVerdict::kCompileError, "COMPILE_ERROR", "kernel.cu does not compile."},
    {GradeVerdict::kCompileLimit, "COMPILE_LIMIT",
     "Compiling kernel.cu took more time, memory or output than allowed."},
    {GradeVerdict::kPolicyReject, "POLICY_REJECT",
     "The submission holds something that a submission must not."},
    {GradeVerdict::kSuspicious, "SUSPICIOUS",
     "Better than the device can be: a person must look. The score is withheld."},
    {GradeVerdict::kInfraError, "INFRA_ERROR",
     "The grader failed, not the submission. The score is withheld."},
}};

const VerdictRow& row_of(GradeVerdict verdict) { return kRows[static_cast<std::size_t>(verdict)]; }

/// The lowest ratio among the stages that are right.
std::optional<double> slowest_ratio(const Result& result) {
  std::optional<double> slowest;
  for (const StageResult& stage : result.stages)
    if (stage.correct && stage.ratio && (!slowest || *stage.ratio < *slowest))
      slowest = stage.ratio;
  return slowest;
}

std::string shown_device(const DeviceInfo& device) {
  return device.virtual_name.empty() ? device.name : device.virtual_name;
}

/// 16 digits for each: JSON's own numbers lose bits in many readers.
std::string hex_of(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (const std::uint64_t number : numbers) {
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(number));
    text += digits.data();
  }
  return text;
}

std::vector<std::uint64_t> numbers_of(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i + 16 <= text.size(); i += 16)
    std::from_chars(text.data() + i, text.data() + i + 16, numbers.emplace_back(), 16);
  return numbers;
}

void read_number(const json& in, const char* key, std::optional<double>& value) {
  const auto found = in.find(key);
  if (found == in.end() || found->is_null())
    value.reset();
  else
    value = found->get<double>();
}

}  // namespace

std::string_view to_string(GradeVerdict verdict) { return row_of(verdict).name; }

std::string_view meaning(GradeVerdict verdict) { return row_of(verdict).meaning; }

std::optional<GradeVerdict> grade_verdict_from_string(std::string_view text) {
  for (const VerdictRow& row : kRows)
    if (row.name == text) return row.verdict;
  return std::nullopt;
}

GradeVerdict worse(GradeVerdict a, GradeVerdict b) { return std::max(a, b); }

GradeVerdict grade_verdict_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return GradeVerdict::kPass;
    case Verdict::kSlow:
    case Verdict::kAmbiguous:
      return GradeVerdict::kFailSlow;
    case Verdict::kWrong:
    case Verdict::kMissingKernel:
    case Verdict::kWrongSignature:
    case Verdict::kIllegalLaunch:
      return GradeVerdict::kFailWrong;
    case Verdict::kFault:
      return GradeVerdict::kCrash;
    case Verdict::kTimeout:
      return GradeVerdict::kTimeout;
    case Verdict::kMemory:
      return GradeVerdict::kMemory;
    case Verdict::kOutputLimit:
      return GradeVerdict::kOutputLimit;
    case Verdict::kCompileError:
      return GradeVerdict::kCompileError;
    case Verdict::kSuspicious:
      return GradeVerdict::kSuspicious;
    case Verdict::kSkipped:
    case Verdict::kInfraError:
      break;
  }
  return GradeVerdict::kInfraError;
}

GradeVerdict grade_verdict_of(const Result& result) {
  if (result.stages.empty()) return GradeVerdict::kInfraError;
  GradeVerdict worst = GradeVerdict::kPass;
  for (const StageResult& stage : result.stages)
    worst = worse(worst, grade_verdict_of(stage.verdict));
  return worst;
}

bool has_score(GradeVerdict verdict) {
  return verdict != GradeVerdict::kSuspicious && verdict != GradeVerdict::kInfraError;
}

Grade Grade::missing(std::string student, const Lab& lab) {
  Grade grade;
  grade.student = std::move(student);
  grade.lab = lab.id;
  grade.score = 0;
  grade.max_score = lab.max_points();
  grade.attempt = 0;
  grade.note = "nothing submitted";
  return grade;
}

void Grade::take(Result finished, const Lab& for_lab) {
  result = std::move(finished);
  lab = for_lab.id;
  max_score = for_lab.max_points();
  verdict = grade_verdict_of(result);
  ratio = slowest_ratio(result);
  device = shown_device(result.device);
  seed = result.seed;
  if (!result.submission_sha256.empty()) submission_sha256 = result.submission_sha256;
  score.reset();
  if (has_score(*verdict)) score = result.points() * late_factor;
}

void Grade::end(GradeVerdict without_result, std::string why, const Lab& for_lab) {
  lab = for_lab.id;
  max_score = for_lab.max_points();
  verdict = without_result;
  note = std::move(why);
  ratio.reset();
  score.reset();
  if (has_score(without_result)) score = 0;
}

std::string shown_student(const Grade& grade) {
  if (grade.student_name.empty()) return grade.student;
  return grade.student_name + " (" + grade.student + ")";
}

void to_json(json& out, const GradeDigests& value) {
  out = {{"harness", value.harness},
         {"toolchain", value.toolchain},
         {"lab", value.lab},
         {"limits", value.limits}};
}

void from_json(const json& in, GradeDigests& value) {
  read_field(in, "harness", value.harness);
  read_field(in, "toolchain", value.toolchain);
  read_field(in, "lab", value.lab);
  read_field(in, "limits", value.limits);
}

void to_json(json& out, const Grade& value) {
  out = {{"schema", Grade::kSchema},
         {"student", value.student},
         {"student_name", value.student_name},
         {"student_email", value.student_email},
         {"lab", value.lab},
         {"verdict", value.verdict ? json(to_string(*value.verdict)) : json()},
         {"score", number_or_null(value.score)},
         {"max_score", value.max_score},
         {"ratio", number_or_null(value.ratio)},
         {"device", value.device},
         {"submission_sha256", value.submission_sha256},
         {"origin", value.origin},
         {"submitted_at", value.submitted_at},
         {"graded_at", value.graded_at},
         {"late_by_seconds", value.late_by_seconds},
         {"late_factor", value.late_factor},
         {"attempt", value.attempt},
         {"note", value.note},
         {"seed", value.seed},
         {"seed_key", value.seed_key},
         {"digests", value.digests},
         {"reference_sha256", value.reference_sha256},
         {"limits_in_force", value.limits_in_force},
         {"fingerprint", hex_of(value.fingerprint)},
         {"result", value.result}};
}

void from_json(const json& in, Grade& value) {
  in.at("student").get_to(value.student);
  in.at("lab").get_to(value.lab);
  read_field(in, "student_name", value.student_name);
  read_field(in, "student_email", value.student_email);
  value.verdict.reset();
  if (const auto found = in.find("verdict"); found != in.end() && !found->is_null()) {
    // A word from a newer Membound: nothing is known about the submission.
    value.verdict =
        grade_verdict_from_string(found->get<std::string>()).value_or(GradeVerdict::kInfraError);
  }
  read_number(in, "score", value.score);
  read_field(in, "max_score", value.max_score);
  read_number(in, "ratio", value.ratio);
  read_field(in, "device", value.device);
  read_field(in, "submission_sha256", value.submission_sha256);
  read_field(in, "origin", value.origin);
  read_field(in, "submitted_at", value.submitted_at);
  read_field(in, "graded_at", value.graded_at);
  read_field(in, "late_by_seconds", value.late_by_seconds);
  read_field(in, "late_factor", value.late_factor);
  read_field(in, "attempt", value.attempt);
  read_field(in, "note", value.note);
  read_field(in, "seed", value.seed);
  read_field(in, "seed_key", value.seed_key);
  read_field(in, "digests", value.digests);
  read_field(in, "reference_sha256", value.reference_sha256);
  read_field(in, "limits_in_force", value.limits_in_force);
  std::string fingerprint;
  read_field(in, "fingerprint", fingerprint);
  value.fingerprint = numbers_of(fingerprint);
  in.at("result").get_to(value.result);
}

std::string to_text(const Grade& grade) { return dump_safely(json(grade), 2) + "\n"; }

base::Result<Grade> grade_from_text(const std::string& text, const std::string& file_name) {
  try {
    return json::parse(text).get<Grade>();
  } catch (const json::exception& error) {
    return base::Error{base::ErrorKind::kInput, file_name,
                       std::string("not a grade: ") + error.what(),
                       "a file that membound grade wrote (docs/grade.schema.json)",
                       "membound grade --regrade STUDENT makes it anew"};
  }
}

}  // namespace membound::course
