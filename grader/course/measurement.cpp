// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/measurement.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "grader/base/result.hpp"
#include "grader/course/json_io.hpp"

namespace membound::course {

using nlohmann::json;

MEMBOUND_JSON(TestOutcome, name, passed, skipped, message, hint_tag, seconds)
MEMBOUND_JSON(Clocks, sm_mhz_min, sm_mhz_mean, sm_mhz_max)
MEMBOUND_JSON(Timing, label, student_ns, reference_ns, useful_bytes, useful_operations,
              student_median_ns, reference_median_ns, ratio, ratio_low, ratio_high, ceiling,
              ceiling_kind, suspicion_margin, suspicious, suspicion, outside_ns,
              outside_tolerance_ns, stop_reason, stopped, decided, event_overhead_ns, runs_checked,
              runs_wrong, first_wrong_index, wrong_elements, wrong_text, similar_stage,
              similar_stage_ns, clocks, throttle_reasons)
MEMBOUND_JSON(CpuBaselineTime, label, ns, useful_bytes, useful_operations)
MEMBOUND_JSON(WholeRun, label, size, is_first_size, complete, why_not, elements, wrong_elements,
              first_wrong_index, expected, got, missing_elements, first_missing_index, blocks,
              found, seconds, peak_bytes)
MEMBOUND_JSON(KernelFacts, name, registers, local_bytes, static_shared_bytes, dynamic_shared_bytes,
              constant_bytes, max_threads_per_block, grid, block, blocks_per_sm, occupancy)
MEMBOUND_JSON(DeviceInfo, name, virtual_name, compute_capability, sm_count, memory_bytes, l2_bytes,
              driver_version, runtime_version)
MEMBOUND_FIELDS(StageMeasurement, lab, kernel, stage, tests, timings, abort, abort_text, kernels,
                counters, checks, device, similar_stage, cpu_baselines, whole_runs, no_full_points,
                remarks, notes, seed, seconds)

void to_json(json& out, const StageMeasurement& value) { write_fields(out, value); }
void from_json(const json& in, StageMeasurement& value) {
  require_fields(in, {"lab", "stage"});
  read_fields(in, value);
}

const Timing* slowest(const std::vector<Timing>& timings) {
  const auto worst =
      std::min_element(timings.begin(), timings.end(),
                       [](const Timing& a, const Timing& b) { return a.ratio < b.ratio; });
  return worst == timings.end() ? nullptr : &*worst;
}

std::string to_line(const StageMeasurement& measurement) { return dump_safely(json(measurement)); }

base::Status append_line(const std::filesystem::path& file, const StageMeasurement& measurement) {
  const std::string line = to_line(measurement) + "\n";
  const auto failed = [&](const char* what) {
    return base::Error{base::ErrorKind::kMachine, file.string(),
                       std::string(what) + ": " + base::reason_text(errno), "a file to append to",
                       "check the rights of the folder and that the disk is not full"};
  };
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return failed("cannot be opened");
  const auto written = write(descriptor, line.data(), line.size());
  const bool complete = written == static_cast<ssize_t>(line.size()) && fsync(descriptor) == 0;
  if (close(descriptor) != 0 || !complete) return failed("cannot be written");
  return base::Done{};
}

base::Result<std::vector<StageMeasurement>> measurements_from_text(std::string_view text,
                                                                   const std::string& file_name) {
  std::vector<StageMeasurement> all;
  int line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const auto end = text.find('\n');
    if (end == std::string_view::npos) break;  // cut off: the writer died
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.empty()) continue;
    try {
      all.push_back(json::parse(line).get<StageMeasurement>());
    } catch (const json::exception& error) {
      return base::Error{base::ErrorKind::kInternal, file_name + ":" + std::to_string(line_number),
                         std::string("not a measurement: ") + error.what(),
                         "one JSON object per line, as the test program writes it", ""};
    }
  }
  return all;
}

namespace {

/// A generation has its compute capability and those up to the next row's.
struct Generation {
  int major, minor;
  const char* name;
};

// Source: CUDA programming guide, compute capabilities.
constexpr Generation kGenerations[] = {
    {3, 0, "Kepler"}, {5, 0, "Maxwell"}, {6, 0, "Pascal"}, {7, 0, "Volta"},      {7, 5, "Turing"},
    {8, 0, "Ampere"}, {8, 9, "Ada"},     {9, 0, "Hopper"}, {10, 0, "Blackwell"}, {13, 0, nullptr},
};

}  // namespace

std::string gpu_generation(int major, int minor) {
  const char* name = nullptr;
  for (const Generation& row : kGenerations)
    if (major > row.major || (major == row.major && minor >= row.minor)) name = row.name;
  if (name != nullptr) return name;
  return "compute " + std::to_string(major) + "." + std::to_string(minor);
}

std::string gpu_generation(std::string_view compute_capability) {
  int major = 0, minor = 0;
  const char* const end = compute_capability.data() + compute_capability.size();
  const auto [dot, bad] = std::from_chars(compute_capability.data(), end, major);
  if (bad != std::errc() || dot == end || *dot != '.') return "";
  if (std::from_chars(dot + 1, end, minor).ec != std::errc()) return "";
  return gpu_generation(major, minor);
}

}  // namespace membound::course
