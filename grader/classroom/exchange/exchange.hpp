// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Grades as the files that learning platforms read, a row of platforms.def and a function for each
/// platform, and what all these files need of a grade. A withheld score never becomes a number
/// here: it is left out and said so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/base/csv.hpp"
#include "grader/base/result.hpp"
#include "grader/course/grade.hpp"

namespace membound::exchange {

/// What some platforms must be told.
struct Settings {
  /// The file the platform itself gave out (Canvas: the exported gradebook, Moodle: the grading
  /// worksheet), filled in where it can be matched.
  std::optional<base::CsvTable> sheet;
  std::string sheet_name;  ///< of that file, for messages
  /// The assignment's title there, "Lab 3 (4711)"; empty: the lab's own. For one lab only.
  std::string assignment;
  std::optional<double> maximum;        ///< points that it is worth there; for one lab only
  std::map<std::string, double> worth;  ///< of labs that count otherwise than they add up
  /// What the platform calls students in its own numbers, as its tables say: by student.
  std::map<std::string, std::vector<std::string>> numbers = {};
  /// Facts no grade holds, for classroom50: {"classroom": …, "commit": …}.
  nlohmann::json context = nlohmann::json::object();
};

/// One file to write, below the folder of the export.
struct Document {
  std::filesystem::path name;
  std::string text;
};

/// The files, what did not get into them, and what else a person should know, a sentence each.
struct Export {
  std::vector<Document> documents;
  std::vector<std::string> left_out;
  std::vector<std::string> notes = {};
  std::vector<std::string> unmatched =
      {};  ///< work whose author the platform's sheet does not hold
};

/// A platform.
struct Format {
  std::string_view name;  ///< as on the command line
  std::string_view what;  ///< what comes out and where it goes, for the help text
  base::Result<Export> (*write)(std::span<const course::Grade> grades, const Settings& settings);
};

/// All of them, in alphabetical order.
[[nodiscard]] std::span<const Format> formats();

/// The files of one platform; an error for an unknown name lists all.
[[nodiscard]] base::Result<Export> write(std::string_view format,
                                         std::span<const course::Grade> grades,
                                         const Settings& settings);

/// "<student>/<lab>", both as file names.
[[nodiscard]] std::string folder_of(const course::Grade& grade);

/// "7.50": points and ratios in every file.
[[nodiscard]] std::string two_decimals(double value);

/// Why a grade is not in a file, for Export::left_out.
[[nodiscard]] std::string why_withheld(const course::Grade& grade);

/// "Stage 2: One thread per row".
[[nodiscard]] std::string stage_name(const course::StageResult& stage);

/// The stage for its author: verdict, speed, findings, failed tests, each once; plain text, no line
/// end after.
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

/// At most `limit_bytes` of `text`, cut between characters, with "… (cut)" after where it was cut.
[[nodiscard]] std::string cut(std::string_view text, std::size_t limit_bytes);

/// Pretty, a newline at the end; bytes that are not UTF-8 are replaced instead of thrown about.
[[nodiscard]] inline std::string json_text(const nlohmann::json& value) {
  return value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// The text of one results.json, for the export of a class and for an autograder's container: a
/// grade with its stages as tests. A withheld score is none: Gradescope then shows a failure that a
/// person has to look at.
[[nodiscard]] nlohmann::json gradescope_results(const course::Grade& grade);

/// 0 points, and why.
[[nodiscard]] nlohmann::json gradescope_refusal(const std::string& why);

/// No score: our own part failed, in these words.
[[nodiscard]] nlohmann::json gradescope_failure(const std::string& why);

using Grades = std::span<const course::Grade>;

#define MEMBOUND_PLATFORM(name, what) \
  base::Result<Export> write_##name(Grades grades, const Settings& settings);
#include "grader/classroom/exchange/platforms.def"

}  // namespace membound::exchange
