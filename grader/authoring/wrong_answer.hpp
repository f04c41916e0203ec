// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A lab's wrong answers: solutions/NN-name/wrong/stage-3.patch has those of stage 3, each a head
/// and a diff against the reference answer. Where most of the kernel differs, it is a whole `.cu`,
/// whose head is a comment. And the reference answer with its stages' kernels under each
/// other's names.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grader/authoring/lab_check.hpp"
#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"

namespace membound::authoring {

/// A wrong answer shows its mistake in so many lines at most: a patch changes no more, a whole file
/// has no more below its head. With head and context that is one screen.
inline constexpr int kMostLines = 40;

/// What stands at the head of a wrong answer, "# 3-missing-barrier fails OneBlock" and fields below
/// it; a field that does not is empty.
struct WrongAnswerHead {
  int stage = 0;      ///< the one it answers: its name begins with the number
  std::string fails;  ///< the test that must be the first to fail
  /// On a GPU: the test there, "fails" where a race decides which, "passes" where a GPU forgives
  /// it, "chance" where a race, the compiler or the model of the GPU decides; empty: as on the
  /// virtual GPU
  std::string fails_on_gpu;
  std::string finds;  ///< Finds: what the virtual GPU's checkers say first, and at which line
  std::string why;    ///< Why: what the student believed; on one line
};

struct WrongAnswer {
  std::string name;            ///< "3-missing-barrier"
  std::filesystem::path file;  ///< the stage's patches, or the whole .cu
  int line = 0;                ///< of its head's first line in `file`
  WrongAnswerHead head;
  std::string text;       ///< the whole kernel.cu, and with it what is handed in beside it
  std::string diff;       ///< from its first "@@" on; empty of a whole .cu
  int changed_lines = 0;  ///< that show the mistake: see kMostLines

  /// "stage-3.patch:12" with the folders before it, for messages.
  [[nodiscard]] std::string where() const { return file.string() + ":" + std::to_string(line); }
};

/// The reference answer as one text: solution/kernel.cu, and answers.md where that is there.
[[nodiscard]] base::Result<std::string> reference_text(const std::filesystem::path& solution);

/// The wrong answers of solution/wrong by stage and name, each alone an error if it cannot be read:
/// what stands before the first head of a file, a head that is none, a name that is the file's
/// stage's not or is there twice, a field that no head has, a patch that cannot be applied. The
/// error says file and line. A folder that is missing has none.
[[nodiscard]] std::vector<base::Result<WrongAnswer>> each_wrong_answer(
    const std::filesystem::path& solution);

/// Reads all of them; an error is the first one's.
[[nodiscard]] base::Result<std::vector<WrongAnswer>> read_wrong_answers(
    const std::filesystem::path& solution);

/// Reads the one that is called `name`, "3-missing-barrier". An error names the most alike.
[[nodiscard]] base::Result<WrongAnswer> find_wrong_answer(const std::filesystem::path& solution,
                                                          const std::string& name);

/// At least three wrong answers a stage; each opens with its name, the test it must fail, which is
/// one of `tests`, and why. What is not so joins `drifts`.
void check_wrong_answers(const course::Lab& lab, const LabFolders& folders,
                         const std::set<std::string>& tests, std::vector<Drift>& drifts);

/// The tests of a lab's test.cpp that call far_blocks(): they run some blocks of a launch that is
/// too large to run, which only a virtual GPU does. On a GPU they say nothing.
[[nodiscard]] std::set<std::string> tests_by_some_blocks(const std::filesystem::path& test_source);

/// Writes the whole kernel.cu into `folder` by its name, so that a compiler's messages name lines
/// which can be looked up, and returns the file.
[[nodiscard]] base::Result<std::filesystem::path> write_kernel(const WrongAnswer& answer,
                                                               const std::filesystem::path& folder);

/// `kernel` with names[(i + by) % names.size()] wherever the word names[i] stands: the function
/// that was called names[i] now answers for the other. So each text asks every name once.
[[nodiscard]] std::string with_names_turned(std::string_view kernel,
                                            const std::vector<std::string>& names, std::size_t by);

}  // namespace membound::authoring
