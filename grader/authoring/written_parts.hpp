// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Parts of pages that are written from a table of the code, and whole files that editors read,
/// written from what the grader itself uses.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "grader/authoring/lab_check.hpp"
#include "grader/base/result.hpp"
#include "grader/course/course_tree.hpp"

namespace membound::authoring {

// A part of a page stands between the comments "<!-- NAME: written by `membound dev check --fix`
// -->" (or what command writes it) and "<!-- end of NAME -->", a line each.

/// One part of one page.
struct WrittenPart {
  std::string page;  ///< below the root: "docs/checkers.md"
  std::string name;
  std::string text;                                  ///< whole lines
  std::string table;                                 ///< the file that it is written from
  std::string command = "membound dev check --fix";  ///< what writes it
};

/// Holds the page against the part; with `fix`, writes it.
[[nodiscard]] std::vector<Drift> check_written_part(const WrittenPart& part,
                                                    const std::filesystem::path& root, bool fix);

/// The checkers, as docs/checkers.md and the help of `membound run` list them.
[[nodiscard]] std::vector<WrittenPart> checker_parts();
/// The rules of the guided analysis, as docs/guided_analysis.md lists them.
[[nodiscard]] std::vector<WrittenPart> rule_parts();
/// The roles of colours in drawn figures, as docs/drawing_figures.md lists them.
[[nodiscard]] std::vector<WrittenPart> role_parts();
/// The verdicts, as docs/result.md, docs/grading.md and the help of check and grade list them.
[[nodiscard]] std::vector<WrittenPart> verdict_parts();

/// How long a load takes, as each handout that has a place for it tells it.
[[nodiscard]] base::Result<std::vector<WrittenPart>> latency_parts(
    const std::filesystem::path& root);

/// The questions of a lab's stages, as its handout asks them, a part each: "prediction 2".
[[nodiscard]] std::vector<WrittenPart> prediction_parts(const course::Lab& lab);

/// What the stages of a lab have to reach and may not pass, as its task page tells it: one part, or
/// none where no stage is compared with a reference answer.
[[nodiscard]] std::vector<WrittenPart> bar_parts(const course::Lab& lab);

/// A week of a syllabus.
struct SyllabusWeek {
  std::vector<std::string_view> labs;  ///< "03"; one that takes two weeks stands in both
  int marks = 0;                       ///< of 100
};
/// The course in 6 weeks, or in 12.
[[nodiscard]] const std::vector<SyllabusWeek>& syllabus(int weeks);

/// What the "Minutes" of a lab's notes add up to: "15 for the handout, 20 each for stages 1 and 2".
/// 0 where they say none.
[[nodiscard]] int minutes_in(std::string_view notes);

/// The labs in the order in which they are read, and the two syllabi, as
/// docs/course_at_a_glance.md shows them.
[[nodiscard]] std::vector<WrittenPart> course_parts(const std::filesystem::path& root,
                                                    const course::Course& course);

// How clangd reads the labs' kernels, from the flags of our clang; a development container, from
// the launcher's packages.

/// A whole file that is written from others.
struct WrittenFile {
  std::string name;  ///< below the root: ".clangd"
  std::string text;
  std::string source;  ///< what it is written from
};

/// The flags of `clang_flags` that say what a kernel means, without those that say what is made of
/// it: optimisation, output.
[[nodiscard]] std::vector<std::string> reading_flags(std::string_view clang_flags);

/// The packages that `needs_sh` lists for those who use the course, not for continuous integration
/// alone; in its order.
[[nodiscard]] std::vector<std::string> listed_packages(std::string_view needs_sh);

/// .clangd and .devcontainer/Dockerfile. An error where a source cannot be read.
[[nodiscard]] base::Result<std::vector<WrittenFile>> editor_files(const std::filesystem::path& root,
                                                                  const course::Course& course);

/// How long each lab takes, as a picture: docs/site/course.svg.
[[nodiscard]] WrittenFile course_picture(const std::filesystem::path& root,
                                         const course::Course& course);

/// Holds the file against its text; with `fix`, writes it.
[[nodiscard]] std::vector<Drift> check_written_file(const WrittenFile& file,
                                                    const std::filesystem::path& root, bool fix);

}  // namespace membound::authoring
