// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/lab_result.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "grader/course/json_fields.hpp"

namespace membound::course {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<Verdict, std::string_view>, 15> kVerdicts = {{
    {Verdict::kPassed, "passed"},
    {Verdict::kSlow, "slow"},
    {Verdict::kWrong, "wrong"},
    {Verdict::kMissingKernel, "missing_kernel"},
    {Verdict::kWrongSignature, "wrong_signature"},
    {Verdict::kIllegalLaunch, "illegal_launch"},
    {Verdict::kFault, "fault"},
    {Verdict::kTimeout, "timeout"},
    {Verdict::kMemory, "memory"},
    {Verdict::kOutputLimit, "output_limit"},
    {Verdict::kCompileError, "compile_error"},
    {Verdict::kAmbiguous, "ambiguous"},
    {Verdict::kSuspicious, "suspicious"},
    {Verdict::kSkipped, "skipped"},
    {Verdict::kInfraError, "infra_error"},
}};

constexpr double kGiga = 1e9;

/// Keys and units of the three speeds: GB/s for bandwidth, operations per second otherwise.
struct SpeedKeys {
  const char* speed;
  const char* reference;
  const char* ceiling;
  double unit;
};

SpeedKeys speed_keys(Bound bound) {
  if (bound == Bound::kBandwidth) return {"bandwidth_gbs", "reference_gbs", "ceiling_gbs", kGiga};
  return {"ops_per_second", "reference_ops_per_second", "ceiling_ops_per_second", 1};
}

std::optional<double> optional_number(const json& in, const char* key, double unit = 1) {
  const auto found = in.find(key);
  if (found == in.end() || found->is_null()) return std::nullopt;
  return found->get<double>() * unit;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  for (const auto& [value, text] : kVerdicts)
    if (value == verdict) return text;
  return "infra_error";
}

std::optional<Verdict> verdict_from_string(std::string_view text) {
  for (const auto& [value, name] : kVerdicts)
    if (name == text) return value;
  return std::nullopt;
}

bool Result::passed() const {
  return !stages.empty() && std::all_of(stages.begin(), stages.end(),
                                        [](const StageResult& stage) { return stage.passed(); });
}

double Result::points() const {
  double sum = 0;
  for (const StageResult& stage : stages) sum += stage.points;
  return sum;
}

double Result::max_points() const {
  double sum = 0;
  for (const StageResult& stage : stages) sum += stage.max_points;
  return sum;
}

void to_json(json& out, const Finding& value) {
  out = {{"kind", value.kind},    {"text", value.text}, {"hint_tag", value.hint_tag},
         {"test", value.test},    {"file", value.file}, {"line", value.line},
         {"advice", value.advice}};
}

void from_json(const json& in, Finding& value) {
  read_field(in, "kind", value.kind);
  read_field(in, "text", value.text);
  read_field(in, "hint_tag", value.hint_tag);
  read_field(in, "test", value.test);
  read_field(in, "file", value.file);
  read_field(in, "advice", value.advice);
  read_field(in, "line", value.line);
}

void to_json(json& out, const SourceLine& value) {
  out = {{"file", value.file},
         {"line", value.line},
         {"instance", value.instance},
         {"access", value.access},
         {"unit", value.unit},
         {"requests", value.requests},
         {"per_request", value.per_request},
         {"ideal_per_request", value.ideal_per_request}};
}

void from_json(const json& in, SourceLine& value) {
  read_field(in, "file", value.file);
  read_field(in, "line", value.line);
  read_field(in, "instance", value.instance);
  read_field(in, "access", value.access);
  read_field(in, "unit", value.unit);
  read_field(in, "requests", value.requests);
  read_field(in, "per_request", value.per_request);
  read_field(in, "ideal_per_request", value.ideal_per_request);
}

void to_json(json& out, const StageResult& value) {
  const SpeedKeys keys = speed_keys(value.bound);
  out = {{"lab", value.lab},
         {"stage", value.stage},
         {"name", value.name},
         {"kernel", value.kernel},
         {"title", value.title},
         {"device", value.device},
         {"verdict", to_string(value.verdict)},
         {"correct", value.correct},
         {"bound", to_string(value.bound)},
         {keys.speed, number_or_null(value.speed, keys.unit)},
         {keys.reference, number_or_null(value.reference_speed, keys.unit)},
         {keys.ceiling, number_or_null(value.ceiling, keys.unit)},
         {"ratio", number_or_null(value.ratio)},
         {"ratio_low", number_or_null(value.ratio_low)},
         {"ratio_high", number_or_null(value.ratio_high)},
         {"pass_ratio", value.pass_ratio},
         {"full_ratio", value.full_ratio},
         {"points", value.points},
         {"max_points", value.max_points},
         {"samples", value.samples},
         {"similar_stage", value.similar_stage},
         {"findings", value.findings},
         {"tests", value.tests},
         {"timings", value.timings},
         {"kernels", value.kernels},
         {"source_lines", value.source_lines},
         {"profiles", value.profiles},
         {"cpu_baselines", value.cpu_baselines},
         {"notes", value.notes},
         {"seconds", value.seconds}};
}

void from_json(const json& in, StageResult& value) {
  in.at("lab").get_to(value.lab);
  read_value(in.at("stage"), value.stage);
  read_field(in, "name", value.name);
  read_field(in, "kernel", value.kernel);
  read_field(in, "title", value.title);
  read_field(in, "device", value.device);
  const auto verdict = verdict_from_string(in.at("verdict").get<std::string>());
  value.verdict = verdict.value_or(Verdict::kInfraError);
  read_field(in, "correct", value.correct);
  value.bound = in.value("bound", "bandwidth") == to_string(Bound::kOperations) ? Bound::kOperations
                                                                                : Bound::kBandwidth;
  const SpeedKeys keys = speed_keys(value.bound);
  value.speed = optional_number(in, keys.speed, keys.unit);
  value.reference_speed = optional_number(in, keys.reference, keys.unit);
  value.ceiling = optional_number(in, keys.ceiling, keys.unit);
  value.ratio = optional_number(in, "ratio");
  value.ratio_low = optional_number(in, "ratio_low");
  value.ratio_high = optional_number(in, "ratio_high");
  read_field(in, "pass_ratio", value.pass_ratio);
  read_field(in, "full_ratio", value.full_ratio);
  read_field(in, "points", value.points);
  read_field(in, "max_points", value.max_points);
  read_field(in, "samples", value.samples);
  read_field(in, "similar_stage", value.similar_stage);
  read_field(in, "findings", value.findings);
  read_field(in, "tests", value.tests);
  read_field(in, "timings", value.timings);
  read_field(in, "kernels", value.kernels);
  read_field(in, "source_lines", value.source_lines);
  read_field(in, "profiles", value.profiles);
  read_field(in, "cpu_baselines", value.cpu_baselines);
  read_field(in, "notes", value.notes);
  read_field(in, "seconds", value.seconds);
}

void to_json(json& out, const Result& value) {
  out = {{"schema", Result::kSchema},
         {"lab", value.lab},
         {"title", value.title},
         {"membound_version", value.membound_version},
         {"created_at", value.created_at},
         {"submission", {{"file", value.submission}, {"sha256", value.submission_sha256}}},
         {"compiler", value.compiler},
         {"compiler_output", value.compiler_output},
         {"device", value.device},
         {"seed", value.seed},
         {"seconds", value.seconds},
         {"passed", value.passed()},
         {"points", value.points()},
         {"max_points", value.max_points()},
         {"stages", value.stages}};
}

void from_json(const json& in, Result& value) {
  in.at("lab").get_to(value.lab);
  read_field(in, "title", value.title);
  read_field(in, "membound_version", value.membound_version);
  read_field(in, "created_at", value.created_at);
  if (const auto submission = in.find("submission"); submission != in.end()) {
    read_field(*submission, "file", value.submission);
    read_field(*submission, "sha256", value.submission_sha256);
  }
  read_field(in, "compiler", value.compiler);
  read_field(in, "compiler_output", value.compiler_output);
  read_field(in, "device", value.device);
  read_field(in, "seed", value.seed);
  read_field(in, "seconds", value.seconds);
  in.at("stages").get_to(value.stages);
}

std::string to_text(const std::vector<Result>& results) {
  const json all = results.size() == 1 ? json(results.front()) : json(results);
  return dump_safely(all, 2) + "\n";
}

base::Result<StageResult> stage_result_from_text(const std::string& text,
                                                 const std::string& file_name) {
  try {
    return json::parse(text).get<StageResult>();
  } catch (const json::exception& error) {
    return base::Error{base::ErrorKind::kInput, file_name,
                       std::string("not the result of a stage: ") + error.what(),
                       "a file written by membound", "delete it; the next check writes a new one"};
  }
}

}  // namespace membound::course
