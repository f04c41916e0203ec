// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a lab's test program reports of one stage: one JSON object on one line. Raw
/// observations only; whether they are good enough is for judge/verdict to say. And what the
/// GPU it ran on is called.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/contract.hpp"

namespace membound::course {

/// One test of one stage, built-in or of the lab.
struct TestOutcome {
  std::string name;  ///< without the suite: "TilesCutOffAtBothEdges"
  bool passed = false;
  bool skipped = false;  ///< not run; then `passed` says nothing
  std::string message;   ///< why it failed or was skipped
  /// Which of the lab's hints speaks about this failure; may be empty. Where the harness knows more
  /// than the lab's test, it is a cause's name.
  std::string hint_tag;
  double seconds = 0;

  [[nodiscard]] bool failed() const { return !passed && !skipped; }
  /// Why it failed.
  [[nodiscard]] Cause cause() const { return cause_of(name, hint_tag); }
};

/// SM clock over the timed launches, in MHz; all 0 where it cannot be read.
struct Clocks {
  double sm_mhz_min = 0;
  double sm_mhz_mean = 0;
  double sm_mhz_max = 0;
};

/// One timed case: student and reference, launch by launch in turn.
struct Timing {
  std::string label;                             ///< "float 4096 x 4096"
  std::vector<double> student_ns, reference_ns;  ///< pairs: the same length
  double useful_bytes = 0;                       ///< what one run must at least read and write
  double useful_operations = 0;                  ///< arithmetic one run must at least do
  double student_median_ns = 0;
  double reference_median_ns = 0;
  double ratio = 0;                      ///< student's speed / reference's speed, median of pairs
  double ratio_low = 0, ratio_high = 0;  ///< 95 % interval
  double ceiling = 0;  ///< measured in this run: bytes (or operations) per second; 0 = not measured
  std::string ceiling_kind;  ///< "copy", "read" or "operations": what `ceiling` was measured with
  double suspicion_margin = 0;  ///< how far above the ceiling a speed may lie by measuring error
  bool suspicious = false;      ///< above ceiling x (1 + margin), or `suspicion` says why
  std::string suspicion;        ///< of a graded run's own checks; empty for none
  double outside_ns = 0;        ///< the student's time by the judge's clock; 0 = not compared
  double outside_tolerance_ns = 0;
  std::string stop_reason;  ///< why sampling ended, in words
  std::string stopped;      ///< the same for programs: above, below, settled, time, samples, single
  bool decided = false;     ///< the interval lies on one side of the bar
  double event_overhead_ns = 0;   ///< an empty pair of events, already included in the times
  std::int64_t runs_checked = 0;  ///< timed runs whose output was compared
  std::int64_t runs_wrong = 0;
  std::int64_t first_wrong_index = -1;  ///< of the first wrong run; -1 = none
  std::int64_t wrong_elements = 0;      ///< of the first wrong run
  std::string wrong_text;               ///< what is wrong, where there is more to tell than those
  int similar_stage = 0;  ///< whose reference answer is about as fast as the student; 0 = none
  double similar_stage_ns = 0;
  Clocks clocks;
  std::vector<std::string> throttle_reasons;
};

/// How long the CPU takes for the same work: shown beside the GPU, never graded.
struct CpuBaselineTime {
  std::string label;  ///< "CPU, one core"
  double ns = 0;
  double useful_bytes = 0;
  double useful_operations = 0;
};

/// What was found where all blocks of a timed case ran for their results, and every place of the
/// output was compared.
struct WholeRun {
  std::string label;               ///< of the case
  std::vector<std::int64_t> size;  ///< as in timed_sizes
  bool is_first_size = false;      ///< whether that is the size that is timed first
  bool complete = false;           ///< all of it was looked at
  std::string why_not;             ///< or why not; empty where it was
  std::int64_t elements = 0;       ///< that the case declares as written
  std::int64_t wrong_elements = 0;
  std::int64_t first_wrong_index = -1;  ///< -1: none
  std::string expected, got;            ///< there
  std::int64_t missing_elements = 0;    ///< that no block wrote
  std::int64_t first_missing_index = -1;
  std::int64_t blocks = 0;      ///< that the launch has
  std::string found;            ///< what is wrong, in words; empty: nothing
  double seconds = 0;           ///< wall clock
  std::int64_t peak_bytes = 0;  ///< of arrays and bookkeeping that stood at once, about

  [[nodiscard]] bool is_wrong() const { return !found.empty(); }
};

/// What the loaded module says of one kernel of the submission, and how it was launched.
struct KernelFacts {
  std::string name;  ///< as the student wrote it, with template arguments
  int registers = 0;
  std::int64_t local_bytes = 0;  ///< per thread; more than 0 means spills or indexed local arrays
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  std::int64_t constant_bytes = 0;
  int max_threads_per_block = 0;
  std::array<std::int64_t, 3> grid{};
  std::array<int, 3> block{};
  int blocks_per_sm = 0;  ///< resident at once, as the runtime computes it; 0 = not asked
  double occupancy = 0;   ///< resident warps / most possible warps, 0 to 1; 0 = not asked
};

/// Whether times of the device that results call so are predicted: "vgpu:h200".
[[nodiscard]] inline bool is_virtual_device(std::string_view name) {
  return name.starts_with("vgpu");
}

/// Where it ran.
struct DeviceInfo {
  std::string name;                ///< "NVIDIA H200", "virtual H200"
  std::string virtual_name;        ///< "vgpu:h200" on the virtual GPU, else empty
  std::string compute_capability;  ///< "9.0"
  int sm_count = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::string driver_version;
  std::string runtime_version;

  /// "vgpu:h200", or a real GPU's name.
  [[nodiscard]] std::string short_name() const {
    return virtual_name.empty() ? name : virtual_name;
  }
  /// The same for who reads its times: those of a virtual one are predicted.
  [[nodiscard]] std::string name_for_times() const {
    return virtual_name.empty() ? name : virtual_name + " (times are predicted)";
  }
};

/// Everything observed about one stage of one submission.
struct StageMeasurement {
  std::string lab;
  std::string kernel;
  int stage = 0;
  std::vector<TestOutcome> tests;  ///< in the order they ran
  std::vector<Timing> timings;
  /// What ended the stage before its tests did: kFault to kCrash, or kNone. kCrash is filled in by
  /// the judge.
  Cause abort = Cause::kNone;
  std::string abort_text;  ///< what the runtime or the watchdog said
  std::vector<KernelFacts> kernels;
  /// The virtual GPU's report of the student's timed run, {"kernels", "reports"}, and, under
  /// "reference", that of the reference's; null elsewhere.
  nlohmann::json counters;
  /// The virtual GPU that `counters` are of, where the stage itself was measured on a real one,
  /// which counts nothing; then they explain, and are held against no bar.
  std::string counted_on;
  /// What the virtual GPU's checkers found in the launches of its tests: an array of reports as in
  /// docs/counters_file.md, each with its "test"; null where none looked on.
  nlohmann::json checks;
  DeviceInfo device;
  int similar_stage = 0;  ///< that of the slowest case; 0 = none
  std::vector<CpuBaselineTime> cpu_baselines;
  std::vector<WholeRun> whole_runs;  ///< of timed cases, where they were asked for or needed
  /// Why a stage that passes gets no more points than one at the bar; empty: it gets what its speed
  /// earns.
  std::string no_full_points;
  /// What whoever reads the verdict must know of it: at which size it was timed, and why not at the
  /// first; why it gets no full points.
  std::vector<std::string> remarks;
  std::vector<std::string> notes;  ///< free facts: "NVML not found: no clocks"
  std::uint64_t seed = 0;
  double seconds = 0;  ///< wall clock of the whole stage
};

/// The case that decides: the one in which the student is furthest behind. Null where nothing was
/// timed.
[[nodiscard]] const Timing* slowest(const std::vector<Timing>& timings);

void to_json(nlohmann::json& out, const TestOutcome& value);
void to_json(nlohmann::json& out, const Clocks& value);
void to_json(nlohmann::json& out, const Timing& value);
void to_json(nlohmann::json& out, const CpuBaselineTime& value);
void to_json(nlohmann::json& out, const KernelFacts& value);
void to_json(nlohmann::json& out, const DeviceInfo& value);
void to_json(nlohmann::json& out, const StageMeasurement& value);
void from_json(const nlohmann::json& in, TestOutcome& value);
void from_json(const nlohmann::json& in, Clocks& value);
void from_json(const nlohmann::json& in, Timing& value);
void from_json(const nlohmann::json& in, CpuBaselineTime& value);
void from_json(const nlohmann::json& in, KernelFacts& value);
void from_json(const nlohmann::json& in, DeviceInfo& value);
void from_json(const nlohmann::json& in, StageMeasurement& value);

/// The JSON line of one stage, without the newline. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string to_line(const StageMeasurement& measurement);

/// Appends the line to `file` in one write and waits until it is on the disk, so that it survives
/// the process.
[[nodiscard]] base::Status append_line(const std::filesystem::path& file,
                                       const StageMeasurement& measurement);

/// All lines of `text`. A last line that is cut off (the program died while writing it) is left
/// out; any other broken line is an error.
[[nodiscard]] base::Result<std::vector<StageMeasurement>> measurements_from_text(
    std::string_view text, const std::string& file_name);

/// "Kepler" for 3.7, "Ada" for 8.9; "compute 42.0" for one that has no name here.
[[nodiscard]] std::string gpu_generation(int major, int minor);

/// The same from text, "8.9"; empty where that is no capability.
[[nodiscard]] std::string gpu_generation(std::string_view compute_capability);

}  // namespace membound::course
