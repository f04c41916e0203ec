// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The corpus: submissions that attack the grader, and honest ones that look odd, each a folder
/// with a case.json that says what must come of it; and the table of them in
/// grader/tests/attacks/corpus.md, which a test holds against it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::selftest {

/// What a case is made of, and so how it is tried.
enum class CaseKind {
  kGrade,   ///< kernel.cu: compiled in the jail, then graded
  kJail,    ///< attack.sh: run in a jail, as the program of a host-code lab is
  kIntake,  ///< an archive that a generator makes: taken in
  kGpu      ///< needs a GPU, or a machine of its own: listed, not run here
};

/// One folder.
struct Case {
  int number = 0;  ///< the row of the table of attacks in grader/tests/attacks/corpus.md; 0: honest
  std::string id;  ///< "B/12-include-passwd", from the folder
  std::string title;    ///< what it does
  std::string defence;  ///< what stops it first
  std::string note;     ///< how it was adapted to this design; may be empty
  CaseKind kind = CaseKind::kGrade;
  std::string lab = "01-reverse-array";
  int stage = 1;
  std::vector<std::string> expected;  ///< verdicts, any of which is right
  /// In their place with this compiler ("clang") or on a real GPU ("gpu"), where that makes a
  /// difference; PASS in it says that what is tried does nothing there, and leaves a right answer.
  std::map<std::string, std::vector<std::string>> expected_with = {};
  /// For one launch, in place of the corpus's own; 0: not said. Short for an attack that is over at
  /// some time, so that no machine is fast enough to let it pass.
  double launch_seconds = 0;
  std::string secret;      ///< text that must appear nowhere; may be empty
  std::string generator;   ///< of kIntake
  std::string switch_off;  ///< without these defences it must get through; may be empty
  std::filesystem::path folder;
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

/// "grade", "jail", "intake" or "gpu", as case.json writes it.
[[nodiscard]] std::string_view to_string(CaseKind kind);

/// All cases below `folder`, by id. An error names the file that cannot be read.
[[nodiscard]] base::Result<std::vector<Case>> read_corpus(const std::filesystem::path& folder);

/// A Markdown table with a row for each case, ordered by id, a line feed behind each row.
[[nodiscard]] std::string markdown_table(const std::vector<Case>& cases);

}  // namespace membound::selftest
