// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The result of checking a submission: what was decided, stage by stage, with the numbers
/// after it, and what the virtual GPU saw of each kernel. One JSON form (docs/result.md,
/// docs/result.schema.json); everything that is shown is drawn from it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/contract.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/measurement.hpp"

namespace membound::course {

// What the virtual GPU saw of one kernel: how it was launched, what limits it, what each source
// line did, and, where it was traced, what one warp asked of memory.

/// One access of one warp to memory, with what it cost; pictures are drawn from it.
struct MemoryAccess {
  std::string file, instruction;
  int line = 0;
  int ptx_line = 0;
  std::string space = "global";  ///< or "shared"
  std::string kind = "load";     ///< or "store", "atomic"
  int occurrence = 0;            ///< how often the instruction had run before
  std::uint32_t mask = 0;        ///< lanes that take part
  int bytes = 0;                 ///< a lane
  /// Of each lane: bytes from the start of the first 128-byte line touched, or of shared memory.
  std::array<std::uint64_t, 32> offsets{};
  int units = 0;  ///< sectors or wavefronts, as the counters have it
  int ideal = 0;  ///< 0: none is defined
  /// Shared memory: the wavefront, from 1 on, that serves each word of each lane.
  std::array<std::vector<int>, 32> wavefronts{};

  [[nodiscard]] bool is_shared() const { return space == "shared"; }
};

/// One lower bound of a kernel's time.
struct TimeBound {
  std::string name;  ///< "DRAM bandwidth"
  double ns = 0;
};

/// What a source line did beside accessing memory.
struct LineWork {
  std::string file;
  int line = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t branches = 0;
  std::uint64_t divergent_branches = 0;
};

/// One thing that makes a kernel slow, and what the clock predicts without it.
struct SpeedAdvice {
  std::string rule;     ///< "bank-conflicts": a row of vgpu/counters/rules.def
  std::string fault;    ///< the same in words
  double gain = 1;      ///< times as fast without it
  std::string what;     ///< "32 wavefronts a request instead of 1"
  std::string counter;  ///< that shows it, and what it counted
  std::uint64_t value = 0;
  std::string file;  ///< the line that costs most; may be empty
  int line = 0;
  std::string remedy;            ///< what to try
  std::string handout, section;  ///< where it is explained
  std::string counted_by;        ///< "ncu" or "virtual GPU", where both counted; else empty
};

/// One kernel on the virtual GPU. Times are predicted; traffic beyond L1 is modelled.
struct KernelProfile {
  std::string name;   ///< readable, with template arguments
  std::string label;  ///< the timed case; may be empty
  int launches = 1;   ///< of this shape
  std::array<std::int64_t, 3> grid{}, block{};
  int registers = 0;
  std::int64_t shared_bytes = 0;
  int blocks_per_sm = 0;
  double occupancy = 0;  ///< resident warps over the most possible, 0 to 1
  std::string limiter;   ///< what limits it
  double predicted_ns = 0;
  std::string bound;                ///< the largest of `bounds`
  std::vector<TimeBound> bounds;    ///< largest first
  std::vector<SpeedAdvice> advice;  ///< the largest gain first
  std::uint64_t warp_instructions = 0;
  double lanes_per_instruction = 0;  ///< of 32, on average
  std::uint64_t dram_bytes = 0;
  std::vector<LineWork> lines;
  std::vector<MemoryAccess> accesses;  ///< of one warp, in the order it made them
  std::array<std::int64_t, 3> traced_block{};
  int traced_warp = 0;
  std::string traced_label;  ///< the case that was traced: a smaller one than what was timed
};

void to_json(nlohmann::json& out, const MemoryAccess& value);
void to_json(nlohmann::json& out, const TimeBound& value);
void to_json(nlohmann::json& out, const LineWork& value);
void to_json(nlohmann::json& out, const SpeedAdvice& value);
void to_json(nlohmann::json& out, const KernelProfile& value);
void from_json(const nlohmann::json& in, MemoryAccess& value);
void from_json(const nlohmann::json& in, TimeBound& value);
void from_json(const nlohmann::json& in, LineWork& value);
void from_json(const nlohmann::json& in, SpeedAdvice& value);
void from_json(const nlohmann::json& in, KernelProfile& value);

/// One observation worth telling, most telling first.
struct Finding {
  std::string kind;      ///< failed-test, bank-conflicts, uncoalesced-load, similar-stage, …
  std::string text;      ///< one or more plain sentences
  std::string hint_tag;  ///< which of the lab's hints fits; may be empty
  std::string test;      ///< the test it comes from; may be empty
  std::string file;      ///< the source line it is about; may be empty
  int line = 0;
  std::string advice = {};  ///< what to do about it; may be empty
};

/// The kind of a finding that is worth knowing, and no fault.
inline constexpr std::string_view kRemark = "remark";

/// Kinds of findings about predictions that tell little; of a passed stage the last two are listed
/// for a look where a class is graded.
inline constexpr std::string_view kNearCeiling = "near-ceiling";
inline constexpr std::string_view kBeyondReference = "beyond-reference";
inline constexpr std::string_view kMostlyIdleSms = "idle-multiprocessors";

/// What the memory accesses of one source line cost, from the virtual GPU's counters.
struct SourceLine {
  std::string file;
  int line = 0;
  std::string instance;  ///< template arguments of the kernel, "float"; empty for a plain one
  std::string access;    ///< "load", "shared store", "atomic", "local load", …
  std::string unit;      ///< "sectors" or "wavefronts"
  std::uint64_t requests = 0;
  double per_request = 0;        ///< units one warp-wide request takes
  double ideal_per_request = 0;  ///< 0 = no ideal is defined for this access
};

/// The result of one stage.
struct StageResult {
  std::string lab;
  int stage = 0;
  std::string name, kernel, title;
  std::string device;  ///< "NVIDIA H200" or "vgpu:h200"
  Verdict verdict = Verdict::kSkipped;
  bool correct = false;  ///< every test but that of speed passed
  Bound bound = Bound::kBandwidth;
  /// Bytes or operations per second of the slowest timed case, student's and reference's, and the
  /// device's ceiling. Nothing where nothing was timed.
  std::optional<double> speed, reference_speed, ceiling;
  std::optional<double> ratio, ratio_low, ratio_high;
  double pass_ratio = 0, full_ratio = 0;
  double points = 0, max_points = 0;
  std::int64_t samples = 0;  ///< timed pairs behind `ratio`
  int similar_stage = 0;     ///< whose reference answer is about as fast; 0 = none
  /// Of the stage's question, counted in the first timed case; nothing where nothing was counted.
  std::optional<double> answer;
  std::vector<Finding> findings;
  std::vector<TestOutcome> tests;
  std::vector<Timing> timings;
  std::vector<KernelFacts> kernels;
  std::vector<SourceLine> source_lines;
  std::vector<KernelProfile> profiles;  ///< on the virtual GPU
  std::vector<CpuBaselineTime> cpu_baselines;
  std::vector<std::string> remarks;  ///< as StageMeasurement::remarks
  std::vector<std::string> notes;
  double seconds = 0;

  [[nodiscard]] bool passed() const { return verdict == Verdict::kPassed; }
};

/// Where a kernel that is limited by operations lies on its device's roofline. Bytes are those of
/// the sectors that its loads ask L1 for: what a block and a thread reuse takes none.
struct RooflineDot {
  std::string device;  ///< as StageResult::device
  double operations_per_byte = 0;
  double operations_per_second = 0;
  double roof = 0;              ///< the device's arithmetic, operations per second
  double bytes_per_second = 0;  ///< of its DRAM
};

/// Nothing where operations are not what limits the stage, or nothing was counted.
[[nodiscard]] std::optional<RooflineDot> roofline_dot(const StageResult& stage);

void to_json(nlohmann::json& out, const RooflineDot& value);
void from_json(const nlohmann::json& in, RooflineDot& value);

/// The result of one submission to one lab.
struct Result {
  static constexpr const char* kSchema = "membound-result/1";

  std::string lab, title;
  std::string membound_version;
  std::string created_at;         ///< UTC, "2026-11-21T06:18:13Z"
  std::string submission;         ///< the file's path as given
  std::string submission_sha256;  ///< of its text
  std::string compiler;           ///< "nvcc 13.0.88"
  std::string compiler_output;    ///< errors and warnings as the compiler printed them
  DeviceInfo device;
  std::uint64_t seed = 0;
  double seconds = 0;
  std::vector<StageResult> stages;

  /// Every stage that was asked for is passed; false when there is none.
  [[nodiscard]] bool passed() const;
  [[nodiscard]] double points() const;
  [[nodiscard]] double max_points() const;
};

void to_json(nlohmann::json& out, const Finding& value);
void to_json(nlohmann::json& out, const SourceLine& value);
void to_json(nlohmann::json& out, const StageResult& value);
void to_json(nlohmann::json& out, const Result& value);
void from_json(const nlohmann::json& in, Finding& value);
void from_json(const nlohmann::json& in, SourceLine& value);
void from_json(const nlohmann::json& in, StageResult& value);
void from_json(const nlohmann::json& in, Result& value);

/// Pretty JSON with a newline at the end; several results (several labs) become an array.
[[nodiscard]] std::string to_text(const std::vector<Result>& results);

/// One stage result from JSON text, as state files keep it.
[[nodiscard]] base::Result<StageResult> stage_result_from_text(const std::string& text,
                                                               const std::string& file_name);

}  // namespace membound::course
