// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Does a lab agree with itself? Its files, its skeleton and solution, its wrong answers and
/// tests, its hints, its handout with snippets, links and figures. Reads files only: what a lab
/// does when it runs, `membound dev check --run` proves. And a lab in its least form, to begin
/// with.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"

namespace membound::authoring {

/// The lines of `file` without their ends; none if it cannot be read (check_files() tells).
[[nodiscard]] std::vector<std::string> read_lines(const std::filesystem::path& file);

/// The text after "// ", or an empty one if the line is no such comment.
[[nodiscard]] std::string_view comment_of(std::string_view line);

/// Two places that should agree and do not. `file` is relative to the course's root; `line` counts
/// from 1, 0 where the whole file is meant.
struct Drift {
  std::string file;
  int line = 0;
  std::string found;
  std::string expected;
  std::string advice;
  bool may_come_later = false;  ///< of a draft this is advice, not an error
};

/// "labs/03-transpose/kernel.cu:17: found\n  expected: …\n  try: …"
[[nodiscard]] std::string to_string(const Drift& drift);

using Drifts = std::vector<Drift>;

/// Where the three folders of a lab are.
struct LabFolders {
  std::filesystem::path root, lab, solution, handout;
  LabFolders(const course::Lab& lab, const std::filesystem::path& root);
  /// `file` as a message shows it: relative to the root.
  [[nodiscard]] std::string shown(const std::filesystem::path& file) const;
};

/// Every drift of one lab, in the order of the files a reader meets them.
[[nodiscard]] std::vector<Drift> check_lab(const course::Lab& lab,
                                           const std::filesystem::path& root);

/// Of a lab whose skeleton is to be mended: whether lab.json has the digests of its skeleton and of
/// the reference answers.md, and that has every answer. With `fix` lab.json gets them.
[[nodiscard]] std::vector<Drift> check_mended(const course::Lab& lab,
                                              const std::filesystem::path& root, bool fix);

/// What `membound dev new` writes.
struct NewLab {
  std::filesystem::path tree;  ///< its labs/, solutions/ and handouts/ take the lab
  std::string id;              ///< "15-my-lab"
  bool is_program = false;     ///< every stage is a whole program
  int stages = 1;
};

/// The text of new_lab/NAME.mustache.
[[nodiscard]] std::string_view new_lab_text(std::string_view name);

/// Writes a lab that builds, whose skeleton fails and whose answer passes; returns its six files.
/// An error where the id is none, or a lab has it or its number (`known`); then nothing is written.
[[nodiscard]] base::Result<std::vector<std::filesystem::path>> write_new_lab(
    const NewLab& request, const std::vector<course::Lab>& known);

}  // namespace membound::authoring
