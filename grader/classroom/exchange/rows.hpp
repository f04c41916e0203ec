// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What every platform's file needs of a grade: names for files, numbers, a stage in words.
/// Place in the chain: gradescope, canvas, … -> [rows] -> course/grade.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/course/grade.hpp"

namespace membound::exchange {

/// "<student>/<lab>", both as file names.
[[nodiscard]] std::string folder_of(const course::Grade& grade);

/// "7.50": points and ratios in every file.
[[nodiscard]] std::string two_decimals(double value);

/// Why a grade is not in a file, for Export::left_out.
[[nodiscard]] std::string why_withheld(const course::Grade& grade);

/// "Stage 2: One thread per row".
[[nodiscard]] std::string stage_name(const course::StageResult& stage);

/// The stage for its author: verdict, speed, findings, failed tests, each once; plain text, no line
/// end behind.
[[nodiscard]] std::string stage_text(const course::StageResult& stage);

/// The whole submission in one or two lines: what the verdict means, and the note.
[[nodiscard]] std::string summary(const course::Grade& grade);

/// The same where the stages' findings stand beside it: what they say is left out of the note.
[[nodiscard]] std::string summary_beside_stages(const course::Grade& grade);

/// The labs that occur, in the order of their names.
[[nodiscard]] std::vector<std::string> labs_of(std::span<const course::Grade> grades);

/// One for each student, in the order of the grades; the grades of `labs` beside it, null for none.
struct StudentRow {
  const course::Grade* any = nullptr;  ///< for name and address
  std::vector<const course::Grade*> by_lab;
};
[[nodiscard]] std::vector<StudentRow> students_of(std::span<const course::Grade> grades,
                                                  const std::vector<std::string>& labs);

/// At most `limit_bytes` of `text`, cut between characters, with "… (cut)" behind where it was cut.
[[nodiscard]] std::string cut(std::string_view text, std::size_t limit_bytes);

}  // namespace membound::exchange
