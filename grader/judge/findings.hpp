// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What was observed about a stage, as sentences, and the hint that each observation leads to.
/// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/course/lab_result.hpp"
#include "grader/course/measurement.hpp"
#include "grader/device_code/compilers/student_source.hpp"

namespace membound::judge {

/// The test that failed first; null when none did.
[[nodiscard]] const course::TestOutcome* first_failed(const course::StageMeasurement& measurement);

/// The first of `tags` that the lab has hints for; empty when it has none of them.
[[nodiscard]] std::string first_known_tag(const course::Lab& lab,
                                          const std::vector<std::string>& tags);

/// The finding of a failed test, an abort or a refused launch: what ended the stage. `result` holds
/// the verdict already. At most one.
[[nodiscard]] std::vector<course::Finding> failure_findings(
    const course::Lab& lab, const course::Stage& stage, const course::StageMeasurement& measurement,
    course::Verdict verdict);

/// Why a right kernel is slow, most telling first: what the memory accesses cost (counters), local
/// memory, a known stage of the same speed, occupancy.
[[nodiscard]] std::vector<course::Finding> speed_findings(
    const course::Lab& lab, const course::Stage& stage, const course::StageMeasurement& measurement,
    const std::vector<course::SourceLine>& lines);

/// What the virtual GPU's checkers found in the checker rerun, memory errors first: they can cause
/// all others. At right results only what is undefined and the lab does not allow. The lab's hint
/// for each kind, if it has one.
[[nodiscard]] std::vector<course::Finding> checker_findings(
    const course::Lab& lab, const course::StageMeasurement& measurement, bool at_right_results);

/// What the checkers saw at right results that is worth knowing, and no fault.
[[nodiscard]] std::vector<course::Finding> remarks(const course::Lab& lab,
                                                   const course::StageMeasurement& measurement);

/// Where the clock of the virtual GPU tells least, of the case that `result` shows: a speed within
/// 1 % of the ceiling, or work so uneven that most multiprocessors idle where the reference
/// answer's do not. Nothing where times were measured.
[[nodiscard]] std::vector<course::Finding> edge_findings(
    const course::StageMeasurement& measurement, const course::StageResult& result);

/// What is worth telling whatever the verdict: checkers' reports, throttled clocks.
[[nodiscard]] std::vector<course::Finding> side_findings(
    const course::StageMeasurement& measurement);

/// Leaves the first of several findings of the checkers about one fault.
void keep_one_a_fault(std::vector<course::Finding>& findings);

/// Whether `text`, of a finding or of a line, has these words.
[[nodiscard]] inline bool holds(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

/// A student's source, and which of its lines are a stage's.
struct StagePlace {
  /// All three must outlive it. `name`: the source's path, or its name alone.
  StagePlace(const compilers::StudentSource& text, std::string name, const course::Stage& asked);

  [[nodiscard]] bool is_program() const { return !stage.kind->has_reference; }
  /// Whether the finding is about a line of this source.
  [[nodiscard]] bool has(const course::Finding& finding) const;
  /// A line without its comment and text; empty where it is longer than anybody writes.
  [[nodiscard]] std::string code(int line) const;

  const compilers::StudentSource& source;
  const course::Stage& stage;
  std::string file;
  int first = 1, last = 0;  ///< lines
};

/// Names the line of a failed program, and what to do, where its source shows them.
void advise_program(const StagePlace& place, course::Verdict verdict, course::Finding& finding);

/// What to do about a finding of synccheck at a barrier: the branch around it, where its line has
/// one.
void advise_barrier(const StagePlace& place, course::Finding& finding);
/// What to do about a finding of racecheck: the scope of an atomic operation, a loop that waits for
/// a word, or where a barrier may stand.
void advise_race(const StagePlace& place, course::Finding& finding);
/// What to do about a shuffle, vote, match or reduction that lanes of its mask do not reach.
void advise_shuffle(const StagePlace& place, course::Finding& finding);
/// Wrong results of a kernel that calls for all lanes of a warp where only some may come: the lanes
/// of an `if` meet others at another call of that mask, and what comes of it is nobody's.
void name_call_in_branch(const StagePlace& place, course::Finding& finding);

/// Element (r, c) holds what belongs to (c, r): whole tiles or single elements changed places.
void advise_exchanged(const StagePlace& place, course::Finding& finding);
/// A texture that is asked for (row, column).
void name_exchanged_coordinates(const StagePlace& place, course::Finding& finding);
/// A position that is kept in 32 bits, where the contract has more elements than that.
void name_narrow_index(const StagePlace& place, course::Finding& finding);

/// A program's launch whose dynamic shared memory is too small.
void advise_shared_of_program(const StagePlace& place, course::Finding& finding);

/// The body of the stage's LAUNCH_SHAPE or LAUNCH_PLAN; empty where it has none.
[[nodiscard]] std::string launch_body(const StagePlace& place);
/// The line of the launch in which `word` stands, or else its first; 0 where there is no launch.
[[nodiscard]] int launch_line(const StagePlace& place, std::string_view word);
/// Elements that no thread wrote, and a launch or a loop that shows why.
void advise_never_written(const StagePlace& place, course::Finding& finding);
/// The line of the launch's field that is not allowed, and what is meant instead.
void name_line_of_launch(const StagePlace& place, course::Finding& finding);
/// A count in a variable of the module that nothing sets back, for the next launch.
void name_kept_counter(const StagePlace& place, course::Verdict verdict, course::Finding& finding);
/// "exchange the two numbers": a grid whose x counts what the kernel's y does; empty where it does
/// not. `x` and `y` are the two numbers as the source has them.
[[nodiscard]] std::string exchanged_grid(const StagePlace& place, const std::string& x,
                                         const std::string& y);
/// A kernel that did not end in time, and the head of a loop that shows why.
void name_endless_loop(const StagePlace& place, course::Finding& finding);

/// Holds what `result` tells of a stage that did not pass against the source: advice that the
/// source follows already is replaced by what it lacks, a line is named where the source shows it,
/// and of several findings of one fault the first one stays. `file` is the source's path or name.
/// Verdict and points stay.
void hold_against_source(const compilers::StudentSource& source, const std::string& file,
                         const course::Stage& stage, course::StageResult& result);

}  // namespace membound::judge
