// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What test programs, judge, reports and grading agree on: verdicts (verdicts.def), causes and
/// built-in tests (contract.def), exit codes of test programs.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string_view>

namespace membound::course {

#define MEMBOUND_ENUMERATOR(id, ...) k##id,
/// What became of one stage; what each means stands in verdicts.def.
enum class Verdict {
#define VERDICT MEMBOUND_ENUMERATOR
#include "grader/course/verdicts.def"
};
/// What became of a whole submission, best first.
enum class GradeVerdict {
#define GRADE MEMBOUND_ENUMERATOR
#include "grader/course/verdicts.def"
};
/// Why a stage is not as it should be, as far as the harness itself can tell.
enum class Cause {
#define CAUSE MEMBOUND_ENUMERATOR
#include "grader/course/contract.def"
};
/// The tests that every lab has beside its own.
enum class BuiltInTest {
#define TEST_OF_EVERY_LAB MEMBOUND_ENUMERATOR
#include "grader/course/contract.def"
};
#undef MEMBOUND_ENUMERATOR

/// How a verdict looks at a glance.
enum class Mark { kGood, kBad, kUnsure, kLeftOut };

struct VerdictRow {
  Verdict verdict;
  std::string_view name;  ///< in result.json: "missing_kernel"
  GradeVerdict grade;     ///< a stage that was skipped was not graded: INFRA_ERROR
  bool earns_points;      ///< correctness_points_share of them at least
  Mark mark;
  bool ends_program;
  BuiltInTest test;  ///< the test that it stands for where none failed
  int exit_code;     ///< of `membound check`: that of the stage with the largest
  std::string_view words, meaning;
};
struct GradeRow {
  GradeVerdict verdict;
  std::string_view name;  ///< in grades.csv: "FAIL_WRONG"
  bool has_score;         ///< a score that is withheld never becomes 0 unseen
  std::string_view meaning;
};
struct BuiltInTestRow {
  BuiltInTest test;
  std::string_view name;
  Cause cause;        ///< when it fails and no other is told
  bool kernels_only;  ///< the labs of whole programs do without it
};

/// A test that every lab with an oracle.cpp has, and the tag of its hint.
struct OracleTestRow {
  std::string_view name, hint_tag;
};

/// Easiest first. What they try follows from the oracle (harness/cases/lab_oracle.cpp).
inline constexpr std::array kOracleTests =
    std::to_array<OracleTestRow>({{"OneElement", "one-element"},
                                  {"OneBlock", "one-block"},
                                  {"EdgesOfBlocks", "edge-guard"},
                                  {"Primes", "edge-guard"},
                                  {"EmptyArrays", "empty"},
                                  {"ConstantInputs", "constant"},
                                  {"EveryBitCounts", "bits"},
                                  {"MoreElementsThanThreads", "cover"},
                                  {"SecondLaunchGivesTheSame", "second-launch"}});

[[nodiscard]] std::span<const VerdictRow> verdict_rows();
[[nodiscard]] std::span<const GradeRow> grade_rows();
[[nodiscard]] std::span<const BuiltInTestRow> built_in_tests();
[[nodiscard]] const VerdictRow& row_of(Verdict verdict);
[[nodiscard]] const GradeRow& row_of(GradeVerdict verdict);

[[nodiscard]] std::string_view to_string(Verdict verdict);
[[nodiscard]] std::string_view to_string(GradeVerdict verdict);
[[nodiscard]] std::string_view to_string(Cause cause);
[[nodiscard]] std::string_view to_string(BuiltInTest test);
/// The verdict of that name, or nothing.
[[nodiscard]] std::optional<GradeVerdict> grade_verdict_from_string(std::string_view text);

/// The cause of a failed test, from its name and tag. A lab may call the hint of a test of its own
/// "fault": only the tag of a built-in test is a cause, and "illegal-launch", which any test may
/// meet. A rule of course/lab names a test, too.
[[nodiscard]] Cause cause_of(std::string_view test, std::string_view tag);
[[nodiscard]] Verdict verdict_of(Cause cause);

// As their names in JSON. A verdict that nobody knows is read as our own error, such a cause as
// kCrash.
void to_json(nlohmann::json& out, Verdict value);
void to_json(nlohmann::json& out, GradeVerdict value);
void to_json(nlohmann::json& out, Cause value);
void from_json(const nlohmann::json& in, Verdict& value);
void from_json(const nlohmann::json& in, GradeVerdict& value);
void from_json(const nlohmann::json& in, Cause& value);

/// How a lab's test program ends. After kTimeout and kFault its result file holds the stage that
/// it ended at, and the others are still to be run.
namespace test_exit {
inline constexpr int kAllPassed = 0;
inline constexpr int kSomeFailed = 1;
inline constexpr int kWrongUse = 2;
inline constexpr int kOurFault = 3;
inline constexpr int kTimeout = 5;
inline constexpr int kFault = 6;
inline constexpr int kNotLoadable = 7;  ///< the device does not take the submission's code
}  // namespace test_exit

}  // namespace membound::course
