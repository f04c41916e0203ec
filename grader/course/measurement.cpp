// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/measurement.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "grader/base/system_text.hpp"
#include "grader/course/json_fields.hpp"

namespace membound::course {

using nlohmann::json;

void to_json(json& out, const TestOutcome& value) {
  out = {{"name", value.name},       {"passed", value.passed},     {"skipped", value.skipped},
         {"message", value.message}, {"hint_tag", value.hint_tag}, {"seconds", value.seconds}};
}

void from_json(const json& in, TestOutcome& value) {
  read_field(in, "name", value.name);
  read_field(in, "passed", value.passed);
  read_field(in, "skipped", value.skipped);
  read_field(in, "message", value.message);
  read_field(in, "hint_tag", value.hint_tag);
  read_field(in, "seconds", value.seconds);
}

void to_json(json& out, const Timing& value) {
  out = {{"label", value.label},
         {"student_ns", value.student_ns},
         {"reference_ns", value.reference_ns},
         {"useful_bytes", value.useful_bytes},
         {"useful_operations", value.useful_operations},
         {"student_median_ns", value.student_median_ns},
         {"reference_median_ns", value.reference_median_ns},
         {"ratio", value.ratio},
         {"ratio_low", value.ratio_low},
         {"ratio_high", value.ratio_high},
         {"ceiling", value.ceiling},
         {"ceiling_kind", value.ceiling_kind},
         {"suspicion_margin", value.suspicion_margin},
         {"suspicion", value.suspicion},
         {"outside_ns", value.outside_ns},
         {"outside_tolerance_ns", value.outside_tolerance_ns},
         {"suspicious", value.suspicious},
         {"stop_reason", value.stop_reason},
         {"stopped", value.stopped},
         {"decided", value.decided},
         {"event_overhead_ns", value.event_overhead_ns},
         {"runs_checked", value.runs_checked},
         {"runs_wrong", value.runs_wrong},
         {"first_wrong_index", value.first_wrong_index},
         {"wrong_elements", value.wrong_elements},
         {"similar_stage", value.similar_stage},
         {"similar_stage_ns", value.similar_stage_ns},
         {"clocks",
          {{"sm_mhz_min", value.clocks.sm_mhz_min},
           {"sm_mhz_mean", value.clocks.sm_mhz_mean},
           {"sm_mhz_max", value.clocks.sm_mhz_max}}},
         {"throttle_reasons", value.throttle_reasons}};
}

void from_json(const json& in, Timing& value) {
  read_field(in, "label", value.label);
  read_field(in, "student_ns", value.student_ns);
  read_field(in, "reference_ns", value.reference_ns);
  read_field(in, "useful_bytes", value.useful_bytes);
  read_field(in, "useful_operations", value.useful_operations);
  read_field(in, "student_median_ns", value.student_median_ns);
  read_field(in, "reference_median_ns", value.reference_median_ns);
  read_field(in, "ratio", value.ratio);
  read_field(in, "ratio_low", value.ratio_low);
  read_field(in, "ratio_high", value.ratio_high);
  read_field(in, "ceiling", value.ceiling);
  read_field(in, "stop_reason", value.stop_reason);
  read_field(in, "ceiling_kind", value.ceiling_kind);
  read_field(in, "suspicion_margin", value.suspicion_margin);
  read_field(in, "suspicion", value.suspicion);
  read_field(in, "outside_ns", value.outside_ns);
  read_field(in, "outside_tolerance_ns", value.outside_tolerance_ns);
  read_field(in, "suspicious", value.suspicious);
  read_field(in, "stopped", value.stopped);
  read_field(in, "decided", value.decided);
  read_field(in, "event_overhead_ns", value.event_overhead_ns);
  read_field(in, "runs_checked", value.runs_checked);
  read_field(in, "runs_wrong", value.runs_wrong);
  read_field(in, "first_wrong_index", value.first_wrong_index);
  read_field(in, "wrong_elements", value.wrong_elements);
  read_field(in, "similar_stage", value.similar_stage);
  read_field(in, "similar_stage_ns", value.similar_stage_ns);
  if (const auto clocks = in.find("clocks"); clocks != in.end()) {
    read_field(*clocks, "sm_mhz_min", value.clocks.sm_mhz_min);
    read_field(*clocks, "sm_mhz_mean", value.clocks.sm_mhz_mean);
    read_field(*clocks, "sm_mhz_max", value.clocks.sm_mhz_max);
  }
  read_field(in, "throttle_reasons", value.throttle_reasons);
}

void to_json(json& out, const CpuBaselineTime& value) {
  out = {{"label", value.label},
         {"ns", value.ns},
         {"useful_bytes", value.useful_bytes},
         {"useful_operations", value.useful_operations}};
}

void from_json(const json& in, CpuBaselineTime& value) {
  read_field(in, "label", value.label);
  read_field(in, "ns", value.ns);
  read_field(in, "useful_bytes", value.useful_bytes);
  read_field(in, "useful_operations", value.useful_operations);
}

void to_json(json& out, const KernelFacts& value) {
  out = {{"name", value.name},
         {"registers", value.registers},
         {"local_bytes", value.local_bytes},
         {"static_shared_bytes", value.static_shared_bytes},
         {"dynamic_shared_bytes", value.dynamic_shared_bytes},
         {"constant_bytes", value.constant_bytes},
         {"max_threads_per_block", value.max_threads_per_block},
         {"grid", {value.grid_x, value.grid_y, value.grid_z}},
         {"block", {value.block_x, value.block_y, value.block_z}},
         {"blocks_per_sm", value.blocks_per_sm},
         {"occupancy", value.occupancy}};
}

void from_json(const json& in, KernelFacts& value) {
  read_field(in, "name", value.name);
  read_field(in, "registers", value.registers);
  read_field(in, "local_bytes", value.local_bytes);
  read_field(in, "static_shared_bytes", value.static_shared_bytes);
  read_field(in, "dynamic_shared_bytes", value.dynamic_shared_bytes);
  read_field(in, "constant_bytes", value.constant_bytes);
  read_field(in, "max_threads_per_block", value.max_threads_per_block);
  if (const auto grid = in.find("grid"); grid != in.end()) {
    value.grid_x = grid->at(0);
    value.grid_y = grid->at(1);
    value.grid_z = grid->at(2);
  }
  if (const auto block = in.find("block"); block != in.end()) {
    value.block_x = block->at(0);
    value.block_y = block->at(1);
    value.block_z = block->at(2);
  }
  read_field(in, "blocks_per_sm", value.blocks_per_sm);
  read_field(in, "occupancy", value.occupancy);
}

void to_json(json& out, const DeviceInfo& value) {
  out = {{"name", value.name},
         {"virtual_name", value.virtual_name},
         {"compute_capability", value.compute_capability},
         {"sm_count", value.sm_count},
         {"memory_bytes", value.memory_bytes},
         {"l2_bytes", value.l2_bytes},
         {"driver_version", value.driver_version},
         {"runtime_version", value.runtime_version}};
}

void from_json(const json& in, DeviceInfo& value) {
  read_field(in, "name", value.name);
  read_field(in, "virtual_name", value.virtual_name);
  read_field(in, "compute_capability", value.compute_capability);
  read_field(in, "sm_count", value.sm_count);
  read_field(in, "memory_bytes", value.memory_bytes);
  read_field(in, "l2_bytes", value.l2_bytes);
  read_field(in, "driver_version", value.driver_version);
  read_field(in, "runtime_version", value.runtime_version);
}

void to_json(json& out, const StageMeasurement& value) {
  out = {{"lab", value.lab},
         {"kernel", value.kernel},
         {"stage", value.stage},
         {"tests", value.tests},
         {"timings", value.timings},
         {"abort", value.abort},
         {"abort_text", value.abort_text},
         {"kernels", value.kernels},
         {"counters", value.counters},
         {"checks", value.checks},
         {"device", value.device},
         {"similar_stage", value.similar_stage},
         {"cpu_baselines", value.cpu_baselines},
         {"notes", value.notes},
         {"seed", value.seed},
         {"seconds", value.seconds}};
}

void from_json(const json& in, StageMeasurement& value) {
  in.at("lab").get_to(value.lab);
  read_value(in.at("stage"), value.stage);
  read_field(in, "kernel", value.kernel);
  read_field(in, "tests", value.tests);
  read_field(in, "timings", value.timings);
  read_field(in, "abort", value.abort);
  read_field(in, "abort_text", value.abort_text);
  read_field(in, "kernels", value.kernels);
  read_field(in, "counters", value.counters);
  read_field(in, "checks", value.checks);
  read_field(in, "device", value.device);
  read_field(in, "similar_stage", value.similar_stage);
  read_field(in, "cpu_baselines", value.cpu_baselines);
  read_field(in, "notes", value.notes);
  read_field(in, "seed", value.seed);
  read_field(in, "seconds", value.seconds);
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

}  // namespace membound::course
