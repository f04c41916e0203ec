// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What Gradescope is given to grade with: setup.sh, run_autograder, and a student tree without
/// its texts, below course/.
/// Place in the chain: cli gradescope-autograder -> [autograder] -> archive.
#pragma once

#include <string>

#include "grader/base/result.hpp"
#include "grader/classroom/release/student_tree.hpp"
#include "grader/classroom/release/tree.hpp"

namespace membound::release {

/// How it grades.
struct AutograderOptions {
  std::string device = "vgpu:h200";
  std::string compiler;  ///< "nvcc" or "clang"
  std::string lab;       ///< the assignment's; empty: the submission tells
  int seconds = 540;     ///< for one submission, below Gradescope's own limit
};

/// The zip's tree. `students` is what student_tree() made for `request`.
[[nodiscard]] base::Result<Tree> autograder_tree(const ReleaseRequest& request, Tree students,
                                                 const AutograderOptions& options);

}  // namespace membound::release
