// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What stands in the text of a submission: which part of a kernel.cu is a stage's, from its head,
/// "// Stage 3: …", to the next one; the files that are handed in beside it; what answers.md says.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"

namespace membound::course {

/// The number of a head "// Stage 3: …" (or "// Stage 3 …"), 0 for any other line.
[[nodiscard]] int stage_of_head(std::string_view line);

/// The lines of `kernel` that belong to `stage`, its head among them: none where another stage has
/// a head and this one has not, all where no stage has one.
[[nodiscard]] std::string stage_text(std::string_view kernel, int stage);

/// The stage in whose part line `line` of `kernel` stands, counted from 1; 0 before the first head.
[[nodiscard]] int stage_of_line(std::string_view kernel, int line);

/// `kernel` with this stage's part, from its head to the next one, as it stands in `source`;
/// nothing where one of the two does not have that head exactly once.
[[nodiscard]] std::optional<std::string> with_stage_of(std::string_view kernel,
                                                       std::string_view source, int stage);

/// `kernel` with empty lines instead of the other stages, but for earlier ones that define a name
/// which stands in what is left: what a compiler needs for `stage`, every line at its own number.
[[nodiscard]] std::string without_other_stages(std::string_view kernel, int stage);

// A submission of several files is one text wherever it goes (store, ledger, jails, replay): its
// kernel.cu, and after it each other file as comments, which no compiler minds.

/// How much of a file beside kernel.cu is read.
inline constexpr std::size_t kMostBytesBeside = std::size_t{64} << 10;

/// `kernel` and the files beside it, by name, as one text; `kernel` alone where there are none.
[[nodiscard]] std::string joined_submission(std::string_view kernel,
                                            const std::map<std::string, std::string>& beside);

/// A submission's files.
struct SplitSubmission {
  std::string kernel;
  std::map<std::string, std::string> beside;  ///< by name: "answers.md"
};

/// The files in one text, as joined_submission() makes it; of any other text `kernel` is all.
[[nodiscard]] SplitSubmission split_submission(std::string_view text);

/// The submission whose kernel.cu, of whatever name, is this file: with those of the lab's other
/// files that lie in its folder, unless they are in it already.
[[nodiscard]] base::Result<std::string> read_submission(const std::filesystem::path& kernel,
                                                        const Lab& lab);

/// One line "- kind: data race" of answers.md.
struct GivenAnswer {
  std::string value;  ///< without quotations of code; may be empty
  int line = 0;
};

/// What answers.md says below "## Stage 3".
struct StageAnswers {
  int line = 0;  ///< of the heading
  std::map<std::string, GivenAnswer> fields;
  std::string problem;  ///< a heading or a field that is there twice, with its line
};

struct ReadAnswers {
  std::map<int, StageAnswers> stages;
};

/// Reads answers.md: headings "## Stage 3" and below them lines "- field: value". All else is
/// prose.
[[nodiscard]] ReadAnswers read_answers(std::string_view text);

/// What stands in lab.json instead of an answer, so that nobody reads it there: a digest of lab,
/// stage, field and value. It hides nothing from somebody who tries every word.
[[nodiscard]] std::string answer_digest(const Lab& lab, int stage, std::string_view field,
                                        std::string_view normal);

/// Those of a reference answer, "58" or "58 or 59". An error says why lab.json does not allow it.
[[nodiscard]] base::Result<std::vector<std::string>> answer_digests(const Lab& lab, int stage,
                                                                    const std::string& field,
                                                                    std::string_view value);

/// What is wrong with the answers to `stage` in a submission's text, a sentence with its line for
/// each; empty where all are there and those that are graded are right.
[[nodiscard]] std::string problem_with_answers(const Lab& lab, const Stage& stage,
                                               std::string_view submission);

}  // namespace membound::course
