// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a lab is: its stages, its bars, its hints, its demands on calls, read from
/// labs/NN-name/lab.json (schema: docs/lab.schema.json). Tests and kernels are code and live
/// beside the lab.json.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/json_io.hpp"

namespace membound::course {

// What a stage wants handed in, a kernel or a whole program, and what follows from that.

/// There are two objects; lab.json says for each stage which is its, and whoever has to know more
/// asks that object and never which of them it is.
struct StageKind {
  std::string_view test_source;   ///< in the lab's folder: "test.cpp"
  std::string_view test_program;  ///< in the build's folder of the lab: "test"
  /// A reference answer is run beside it, and its speed held against that answer's. Else its points
  /// are all for results and calls.
  bool has_reference;
  /// The submission is a program with a main(), which is compiled and linked for the host as well.
  bool has_host_code;
  /// Judged by when each of its calls began and ended, which only a virtual GPU tells.
  bool needs_timeline;
};

extern const StageKind kKernelStage;   ///< our test program launches the kernel
extern const StageKind kProgramStage;  ///< our test program starts the student's program

// What a host-code lab may ask of the calls its students' programs make, one row a rule. How
// each is decided: harness/program/call_rule_checks.

/// One rule.
struct CallRule {
  std::string_view name;    ///< in lab.json: "checks-launches"
  std::string_view test;    ///< the test it becomes: "ChecksEveryLaunch"
  std::string_view number;  ///< what the number beside it is; empty: it takes none
  std::string_view meaning;
  std::string_view remedy;  ///< the last sentence of its message
};

/// All rules there are.
[[nodiscard]] std::span<const CallRule> call_rules();
/// The rule of that name, or null.
[[nodiscard]] const CallRule* find_call_rule(std::string_view name);

// What is counted of one run of a program on the virtual GPU, so that a student can predict it.

struct ProgramCount {
  std::string_view name, is;
};

inline constexpr std::array kProgramCounts = std::to_array<ProgramCount>(
    {{"kernel_time_saved_percent",
      "of the time that the stage's kernels take one by one, how much running several at once "
      "saves"},
     {"copies_beside_kernels_percent",
      "of the time that copies between host and device take, during how much a kernel runs"},
     {"copy_time_percent",
      "of the time that all work takes one by one, how much is copies between host and device"}});

/// What limits a lab's kernels, and so what its speed is counted in.
enum class Bound {
  kBandwidth,  ///< useful bytes per second
  kOperations  ///< useful operations per second
};

/// "bandwidth" or "operations", as lab.json writes it.
[[nodiscard]] std::string_view to_string(Bound bound);

/// One demand on a program's calls.
struct CallDemand {
  const CallRule* rule = nullptr;  ///< a row of call_rules()
  double number = 0;               ///< where the rule takes one
};

/// The word in CounterBar::per that stands for the device's multiprocessors.
inline constexpr std::string_view kMultiprocessors = "multiprocessors";

/// The most that the virtual GPU may count in a timed run, for each of a stage's kernels alone.
struct CounterBar {
  std::string counter;  ///< a row of grader/vgpu/counters/counters.def: "local_load_requests"
  double at_most = 0;
  std::string per;       ///< for each of another counter, or of the multiprocessors; empty: in all
  std::string hint_tag;  ///< of the lab's hints
};

/// What a student may predict before checking a stage: a count of the timed run on the virtual GPU.
struct Question {
  std::string ask;   ///< "How many sectors does one store of a warp touch?"
  std::string unit;  ///< "sectors"
  std::string counter;
  std::string per;  ///< as CounterBar::per
};

/// What the program of a stage may use in one run.
struct ProgramLimits {
  /// The wall clock of a program, so many times its CPU time: a machine with other work, as one
  /// that grades a class, must not end a program that would end by itself.
  static constexpr double kWallSecondsPerCpuSecond = 3;

  double seconds = 10;  ///< CPU time
  int memory_mb = 512;
  int output_kb = 64;  ///< what it prints; its output files may have 64 MB each
};

/// The file that every submission has; others of Lab::files are handed in beside it.
inline constexpr std::string_view kKernelFile = "kernel.cu";
/// The file in which students say what they found, where a lab asks for it.
inline constexpr std::string_view kAnswersFile = "answers.md";

/// The file in which students write up what they measured, which a person marks.
inline constexpr std::string_view kWriteUpFile = "writeup.md";

/// One thing that a person looks for in a write-up.
struct RubricItem {
  std::string item;  ///< "cause": its name in marks
  double points = 0;
  std::string asks;  ///< what earns them

  bool operator==(const RubricItem&) const = default;
};

/// A line "- kind: …" that a stage wants in answers.md.
struct WantedAnswer {
  std::string field;                 ///< "kind"
  std::vector<std::string> digests;  ///< of each right answer (answer_digest()); none: not graded
};

/// What the lines of answers.md may hold, and what they are worth.
struct AnswerRules {
  double points_share = 0;  ///< the part of each stage's points that right answers earn
  std::map<std::string, std::vector<std::string>> words;  ///< by field: the words it may be
  std::vector<std::string> lines;    ///< fields that hold a line of the kernel.cu as handed out
  std::vector<std::string> numbers;  ///< fields that hold a number
};

/// The files of a lab whose skeleton is broken code, which a student changes at will.
struct HandedOut {
  std::string sha256;  ///< of the skeleton as one text (joined_submission())
  int lines = 0;       ///< of its kernel.cu
};

/// One rung of a lab's ladder: one kernel, or one program, with one lesson.
struct Stage {
  const StageKind* kind = &kKernelStage;
  int number = 0;                   ///< from 1, in teaching order
  std::string name;                 ///< for people and the command line: "row-per-thread"
  std::string kernel;               ///< for the compiler: "transpose_row_per_thread"
  std::string title;                ///< "One thread per row"
  Bound bound = Bound::kBandwidth;  ///< what its speed counts: the lab's, unless it says otherwise
  double points = 0;
  double pass_ratio = 0.75;  ///< passed at this ratio to the reference's speed or above
  double full_ratio = 0.90;  ///< all points at this ratio or above
  double correctness_points_share = 0.5;  ///< the part of the points a correct result earns
  /// Sizes to time, preferred first; the harness takes the first that fits the device. At the last
  /// one all blocks run on a virtual one, too.
  std::vector<std::vector<std::int64_t>> timed_sizes;
  double timeout_seconds = 20;            ///< for one launch
  ProgramLimits program = {};             ///< of a program
  std::vector<CallDemand> calls = {};     ///< of a program, in the order of the tests
  std::vector<CounterBar> counters = {};  ///< held only where the device is virtual
  std::optional<Question> question = {};
  std::vector<WantedAnswer> answers = {};  ///< that answers.md must have about it
};

/// A finding of the checkers that the lab's author knows and allows at right results.
struct AllowedFinding {
  std::string kind;  ///< as findings begin: "data race"
  int stage = 0;     ///< 0: of every stage
  std::string why;   ///< for who reads lab.json
};

/// What becomes of right results at which the checkers find undefined behaviour.
struct UnsafeRules {
  double points_share = 0;  ///< the part of its points that such a stage keeps
  std::vector<AllowedFinding> allowed;
};

/// The version of what a lab's files and this Membound agree on: the fields of lab.json, the macros
/// of student/membound.cuh, the table of student/oracle.hpp.
inline constexpr int kLabInterface = 1;

/// In a lab's folder: what stands instead of a test.cpp.
inline constexpr std::string_view kOracleSource = "oracle.cpp";

/// One lab of the course.
struct Lab {
  std::string id;                ///< the folder's name: "03-transpose"
  std::string title;             ///< "Transpose a matrix"
  std::string summary;           ///< one sentence
  std::filesystem::path folder;  ///< labs/03-transpose, as the lab.json was found
  /// Of a lab outside of the course: the folder whose labs/, solutions/ and handouts/ hold it.
  /// Empty: the course's root.
  std::filesystem::path tree;
  bool draft = false;             ///< what it still lacks is no error
  std::filesystem::path handout;  ///< relative to `tree`, or to the course's root
  Bound bound = Bound::kBandwidth;
  std::vector<std::string> size_names;
  /// What is handed in, by name: kernel.cu, and what belongs beside it.
  std::vector<std::string> files = {std::string(kKernelFile)};
  std::optional<HandedOut> mended;  ///< the skeleton is to be mended; else solving only adds lines
  AnswerRules answers;
  std::vector<RubricItem> rubric;  ///< of the write-up; empty: the lab has none to mark
  UnsafeRules unsafe;
  /// Opcodes, special registers and directives that graded code may use besides those of the
  /// policy: "nanosleep", "%clock64".
  std::vector<std::string> allows;
  std::vector<Stage> stages;
  /// Stages with a reference answer, from the slowest to the fastest.
  std::vector<int> ladder;
  bool has_order = true;  ///< false: they do different work, and `ladder` is just their numbers
  /// By tag: three tiers, from a nudge to nearly the line.
  std::map<std::string, std::vector<std::string>> hints;

  /// The stage with this number, or null.
  [[nodiscard]] const Stage* stage(int number) const;
  /// The sum of all stages' points.
  [[nodiscard]] double max_points() const;
  /// The kinds of its stages, in the order of their first stages.
  [[nodiscard]] std::vector<const StageKind*> kinds() const;
  /// The names in `files` but kernel.cu.
  [[nodiscard]] std::vector<std::string> files_beside() const;
  /// Whether an oracle.cpp is its tests.
  [[nodiscard]] bool has_oracle() const;
  /// Whether any stage has a reference answer beside it.
  [[nodiscard]] bool has_reference() const;
  /// As one test program sees it: with the stages of this kind alone.
  [[nodiscard]] Lab with_stages_of(const StageKind& kind) const;
};

void to_json(nlohmann::json& out, const RubricItem& value);
void from_json(const nlohmann::json& in, RubricItem& value);

/// Reads one lab.json. An error names the file, the line and the JSON pointer.
[[nodiscard]] base::Result<Lab> read_lab(const std::filesystem::path& lab_json);

/// The same from text; `file_name` is for messages, `folder` becomes Lab::folder and its last part
/// must equal the lab's id.
[[nodiscard]] base::Result<Lab> lab_from_text(std::string text, const std::string& file_name,
                                              const std::filesystem::path& folder);

}  // namespace membound::course
