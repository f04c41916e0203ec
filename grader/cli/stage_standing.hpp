// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How far a student is with a stage, in words: its standing, labs and stages as lists, what to
/// do next, the next hint, and what has changed since the last check.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/report/result_text.hpp"

namespace membound::cli {

// A standing never goes back: a stage that passed once stays passed, and one whose skeleton is
// untouched has not been started, whatever a check of it said.

/// Of one stage.
struct Standing {
  judge::StageState state;
  bool started = false;

  [[nodiscard]] bool passed() const { return state.ever_passed; }
  [[nodiscard]] report::Tone tone() const;
  /// "passed", "too slow", "not started", "not checked yet".
  [[nodiscard]] std::string words() const;
};

/// Stages of `lab` whose skeleton is untouched and that have not passed.
[[nodiscard]] std::set<int> untouched_stages(const Context& context, const course::Lab& lab);

/// The standings of a lab's stages, in their order.
[[nodiscard]] std::vector<Standing> standings_of(const Context& context, const course::Lab& lab);

/// `result` as the terminal shows it: where all compiles, the compiler's words are its warnings,
/// and none about the lab's own skeleton in an untouched stage.
[[nodiscard]] course::Result with_own_warnings(const Context& context, const course::Lab& lab,
                                               course::Result result);

/// What a result's text has to know of its lab.
[[nodiscard]] report::WholeLab whole_lab(const Context& context, const course::Lab& lab);
/// The reference answer's text: the course's own, or what a copy made for self-study holds; empty
/// where this copy has none.
[[nodiscard]] std::filesystem::path answer_file(const Context& context, const course::Lab& lab);

/// The line of the stage's first TODO in kernel.cu, or of its head; 0 where it has neither.
[[nodiscard]] int line_to_edit(const Context& context, const course::Lab& lab,
                               const course::Stage& stage);

/// A line each: what to read where the stage has not been begun, and words of its question, what to
/// predict, which line to edit, how to check, and where help is once it was checked.
[[nodiscard]] std::string stage_advice(const Context& context, const course::Lab& lab,
                                       const course::Stage& stage);

/// One line a lab, the sum, and what comes next.
[[nodiscard]] std::string course_listing(const Context& context);

/// A lab with one line a stage.
[[nodiscard]] std::string lab_listing(const Context& context, const course::Lab& lab);

/// Remembers the hint as used.
[[nodiscard]] base::Result<std::string> hint_text(const Context& context, const course::Lab& lab,
                                                  const course::Stage& stage);

/// What was said of some stages before a check: by the last ones, whose place it takes, and by the
/// student, who predicted.
class LastChecks {
 public:
  LastChecks(const Context& context, const std::vector<course::Selection>& selections);

  /// A line for each stage of `result` that is not what it was, or that the student predicted; its
  /// way on the roofline, where operations limit it; and where its picture is.
  [[nodiscard]] std::string changes(const course::Result& result, const report::Style& style) const;

 private:
  struct Prediction {
    const course::Lab* lab;
    int stage;
    double number;
  };
  const Context* context_;
  std::vector<Prediction> predictions_;
  std::vector<course::StageResult> stages_;
};

}  // namespace membound::cli
