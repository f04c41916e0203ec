// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/lab_result.hpp"

#include <algorithm>

#include "grader/course/json_io.hpp"

namespace membound::course {

using nlohmann::json;

MEMBOUND_FIELDS(MemoryAccess, file, line, ptx_line, instruction, space, kind, occurrence, mask,
                bytes, offsets, units, ideal)
MEMBOUND_JSON(TimeBound, name, ns)
MEMBOUND_JSON(LineWork, file, line, warp_instructions, branches, divergent_branches)
MEMBOUND_JSON(SpeedAdvice, rule, fault, gain, what, counter, value, file, line, remedy, handout,
              section, counted_by)
MEMBOUND_JSON(KernelProfile, name, label, launches, grid, block, registers, shared_bytes,
              blocks_per_sm, occupancy, limiter, predicted_ns, bound, bounds, advice,
              warp_instructions, lanes_per_instruction, dram_bytes, lines, accesses, traced_block,
              traced_warp, traced_label)

void to_json(json& out, const MemoryAccess& value) {
  write_fields(out, value);
  if (value.is_shared()) out["wavefronts"] = value.wavefronts;
}

void from_json(const json& in, MemoryAccess& value) {
  read_fields(in, value);
  read_field(in, "wavefronts", value.wavefronts);
}

namespace {

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

void write_speed(json& out, const char* key, const std::optional<double>& value, double unit) {
  write_field(out, key, value ? std::optional(*value / unit) : std::nullopt);
}

void read_speed(const json& in, const char* key, std::optional<double>& value, double unit) {
  read_field(in, key, value);
  if (value) *value *= unit;
}

}  // namespace

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

MEMBOUND_JSON(Finding, kind, text, hint_tag, test, file, line, advice)
MEMBOUND_JSON(SourceLine, file, line, instance, access, unit, requests, per_request,
              ideal_per_request)
MEMBOUND_FIELDS(StageResult, lab, stage, name, kernel, title, device, verdict, correct, ratio,
                ratio_low, ratio_high, pass_ratio, full_ratio, points, max_points, samples,
                similar_stage, answer, findings, tests, timings, kernels, source_lines, profiles,
                cpu_baselines, remarks, notes, seconds)
MEMBOUND_FIELDS(Result, lab, title, membound_version, created_at, compiler, compiler_output, device,
                seed, seconds, stages)

void to_json(json& out, const StageResult& value) {
  write_fields(out, value);
  out["bound"] = to_string(value.bound);
  const SpeedKeys keys = speed_keys(value.bound);
  write_speed(out, keys.speed, value.speed, keys.unit);
  write_speed(out, keys.reference, value.reference_speed, keys.unit);
  write_speed(out, keys.ceiling, value.ceiling, keys.unit);
}

void from_json(const json& in, StageResult& value) {
  require_fields(in, {"lab", "stage", "verdict"});
  read_fields(in, value);
  value.bound = in.value("bound", "bandwidth") == to_string(Bound::kOperations) ? Bound::kOperations
                                                                                : Bound::kBandwidth;
  const SpeedKeys keys = speed_keys(value.bound);
  read_speed(in, keys.speed, value.speed, keys.unit);
  read_speed(in, keys.reference, value.reference_speed, keys.unit);
  read_speed(in, keys.ceiling, value.ceiling, keys.unit);
}

void to_json(json& out, const Result& value) {
  write_fields(out, value);
  out["schema"] = Result::kSchema;
  out["submission"] = {{"file", value.submission}, {"sha256", value.submission_sha256}};
  out["passed"] = value.passed();
  out["points"] = value.points();
  out["max_points"] = value.max_points();
}

void from_json(const json& in, Result& value) {
  require_fields(in, {"lab", "stages"});
  read_fields(in, value);
  if (const auto submission = in.find("submission"); submission != in.end()) {
    read_field(*submission, "file", value.submission);
    read_field(*submission, "sha256", value.submission_sha256);
  }
}

MEMBOUND_JSON(RooflineDot, device, operations_per_byte, operations_per_second, roof,
              bytes_per_second)

std::optional<RooflineDot> roofline_dot(const StageResult& stage) {
  constexpr double kSectorBytes = 32;
  if (stage.bound != Bound::kOperations || !stage.speed || !stage.ceiling) return std::nullopt;
  RooflineDot dot{stage.device, 0, *stage.speed, *stage.ceiling, 0};
  double operations = 0, bytes = 0;
  for (const Timing& timing : stage.timings) {
    int launches = 0;
    for (const KernelProfile& kernel : stage.profiles)
      if (kernel.label == timing.label) launches = std::max(launches, kernel.launches);
    operations += launches * timing.useful_operations;
  }
  for (const SourceLine& line : stage.source_lines)
    if (line.access == "load")
      bytes += static_cast<double>(line.requests) * line.per_request * kSectorBytes;
  for (const KernelProfile& kernel : stage.profiles)
    for (const TimeBound& bound : kernel.bounds)
      if (bound.name == "DRAM bandwidth" && bound.ns > 0)
        dot.bytes_per_second = static_cast<double>(kernel.dram_bytes) / bound.ns * 1e9;
  if (operations <= 0 || bytes <= 0 || dot.bytes_per_second <= 0 || dot.roof <= 0)
    return std::nullopt;
  dot.operations_per_byte = operations / bytes;
  return dot;
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
