// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A result as text for a terminal: the whole and each stage in detail, beside what the student
/// predicted and what the last check said. Draws what the result says and decides nothing.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "grader/course/lab.hpp"
#include "grader/course/lab_result.hpp"
#include "grader/report/diagnostics.hpp"
#include "grader/report/text.hpp"

namespace membound::report {

/// "passed", "too slow", "wrong result", … for people.
[[nodiscard]] std::string words_for(course::Verdict verdict);

/// How a verdict is meant: good, bad, or neither.
[[nodiscard]] Tone tone_of(course::Verdict verdict);

/// One line: sign, stage, verdict, ratio, speed, points. A stage whose skeleton nobody has touched
/// is not started, whatever its verdict.
[[nodiscard]] std::string render_line(const course::StageResult& stage, const Style& style,
                                      bool untouched = false);

/// What happened in one stage: which tests passed, the first failure in full, the speed beside
/// reference and ceiling, source lines with their cost, what was found, where to go next.
/// Where `read` knows the source, each finding is followed by the line that it is about.
[[nodiscard]] std::string render_detail(const course::StageResult& stage, const Style& style,
                                        const SourceReader& read = {});

/// A result of one stage for a screen: the verdict first, then what render_detail() tells.
[[nodiscard]] std::string render_one(const course::Result& result, const Style& style,
                                     const SourceReader& read = {});

/// What stands in the verdict's place where a stage has not been begun.
inline constexpr const char* kNotStarted = "not started";

/// What a result does not know of its lab.
struct WholeLab {
  std::size_t stages = 0;     ///< how many it has; 0: not known
  bool is_explained = false;  ///< this copy of the course has the text to read after the last pass
  bool has_answers = false;   ///< and the reference answers, which one made for a class has not
};

/// What to do now, without a line's end: "Next: ./membound hint 03/2".
[[nodiscard]] std::string next_step(const course::Result& result,
                                    const std::set<int>& untouched = {}, const WholeLab& lab = {});

/// A whole result: head, one line a stage, in detail the first stage that is not passed (or the
/// only one that was asked for), the sum, and the next step. Stages in `untouched`, whose skeleton
/// is as it was handed out, are "not started", whatever their verdict.
[[nodiscard]] std::string render(const course::Result& result, const Style& style,
                                 const std::set<int>& untouched = {}, const SourceReader& read = {},
                                 const WholeLab& lab = {});

/// Whether a number that was said counts as the one that was counted: within 3 %; within 5 % of one
/// that is not whole, an average that edges and last blocks change; and a share of time, which
/// depends on the compiler's code as well, within 5 percentage points.
[[nodiscard]] bool is_as_counted(const course::Question& question, double said, double counted);

/// "Stage 2: you said 4 sectors; it was 32." with a newline. Empty where the stage asks nothing or
/// nothing was said. `answer` is nothing where the device counts nothing. Where it counts
/// accesses of what `compiler` made and that is clang, which may split an access of the source or
/// repeat it in two branches, a number that was not counted may still be the source's: said too.
[[nodiscard]] std::string said_and_counted(const course::Stage& stage, std::optional<double> said,
                                           std::optional<double> answer,
                                           std::string_view compiler = {});

/// The same beside a check. Empty too where its run was none to count: a kernel that was not timed,
/// a program that did not come to its end.
[[nodiscard]] std::string said_and_counted(const course::Stage& stage, std::optional<double> said,
                                           const course::StageResult& result,
                                           std::string_view compiler = {});

/// One line without its end; empty where nothing that is told has changed. Runs on two devices are
/// not compared.
[[nodiscard]] std::string what_changed(const course::StageResult& before,
                                       const course::StageResult& now, const Style& style);

}  // namespace membound::report
