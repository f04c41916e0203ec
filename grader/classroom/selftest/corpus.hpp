// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The corpus: submissions that attack the grader, and honest ones that look odd, each a file that
/// says what must come of it; and the table of them in grader/tests/attacks/corpus.md, which a test
/// holds against it.
///
///     title: what it does            the head: lines of KEY: VALUE, and remarks after a #
///     expected: FAIL_WRONG, CRASH
///     frame: reverse_direct          what is added when it is read; this one if none is named
///     --- kernel                     a section: all that follows, up to the next one
///       out[0] = in[0];
///
/// A frame is a file of the folder frames beside the corpora: a submission with lines like
/// "@kernel@", each a place for the section of that name, which may be missing. What would repeat
/// no frame is a section "kernel.cu" or "attack.sh", the whole file.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::selftest {

/// What a case is made of, and so how it is tried.
enum class CaseKind {
  kGrade,   ///< kernel.cu: compiled in the jail, then graded
  kJail,    ///< attack.sh: run in a jail, as the program of a host-code lab is
  kIntake,  ///< an archive that a generator makes: taken in
  kGpu      ///< "kind: gpu", needs one, or a machine of its own: listed, not run here
};

/// One file.
struct Case {
  int number = 0;       ///< its row in the list of attacks that the corpus follows; 0: honest
  std::string id;       ///< "B-compile/12-include-passwd", from folder and name
  std::string title;    ///< what it does
  std::string defence;  ///< what stops it first
  CaseKind kind = CaseKind::kGrade;
  std::string lab = "01-reverse-array";
  int stage = 1;
  std::vector<std::string> expected;  ///< verdicts, any of which is right
  /// In their place with this compiler ("clang") or on a real GPU ("gpu"), where that makes a
  /// difference; PASS in it says that what is tried does nothing there, and leaves a right answer.
  std::map<std::string, std::vector<std::string>> expected_with = {};
  /// For one launch, instead of the corpus's own; 0: not said. Short for an attack that is over at
  /// some time, so that no machine is fast enough to let it pass.
  double launch_seconds = 0;
  std::string secret;      ///< text that must appear nowhere; may be empty
  std::string generator;   ///< of kIntake
  std::string switch_off;  ///< without these defences it must get through; may be empty
  /// What is handed in, kernel.cu or attack.sh, with its frame; empty for the other kinds.
  std::string submission;
};

/// What came of a case.
struct CaseOutcome {
  std::string got;     ///< a verdict; for a jail the limit that was hit or "ENDED"
  double points = 0;   ///< it earned; an attack must have none
  std::string detail;  ///< the first words of why
  bool as_expected = false;
  bool not_run = false;  ///< cannot be tried with this device or compiler
  double seconds = 0;
};

/// What must come of a case with this compiler on this device ("gpu", "vgpu:h200").
[[nodiscard]] const std::vector<std::string>& expected_of(const Case& one,
                                                          const std::string& compiler,
                                                          const std::string& device);

/// The case in this file, a .case two folders below where its frames lie.
[[nodiscard]] base::Result<Case> read_case(const std::filesystem::path& file);

/// Writes what it hands in into the folder, and returns where: FOLDER/kernel.cu or
/// FOLDER/attack.sh.
[[nodiscard]] base::Result<std::filesystem::path> write_submission(
    const Case& one, const std::filesystem::path& folder);

/// All cases below `folder`, by id. An error names the file that cannot be read.
[[nodiscard]] base::Result<std::vector<Case>> read_corpus(const std::filesystem::path& folder);

/// A Markdown table with a row for each case, ordered by id, a line feed after each row.
[[nodiscard]] std::string markdown_table(const std::vector<Case>& cases);

}  // namespace membound::selftest
