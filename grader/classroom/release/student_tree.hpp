// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The course as students get it: builds and checks by itself, and holds no reference answer in any
/// form that a person wrote. Everything is made and looked through before a file is written. And
/// the same as Gradescope is given it to grade with.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/release/handed_out_tree.hpp"
#include "grader/course/lab.hpp"
#include "grader/device_code/compilers/compiler.hpp"

namespace membound::release {

/// For whom a tree is made.
enum class Reader {
  kClass,     ///< no answers, and handouts up to where they explain them
  kSelfStudy  ///< the answers, which `membound solution` shows after a pass, and whole handouts
};

/// What to hand out.
struct ReleaseRequest {
  std::filesystem::path root;                    ///< of the instructors' course
  std::filesystem::path scratch;                 ///< a folder of its own
  std::vector<course::Lab> labs;                 ///< those that are handed out
  std::map<std::string, std::string> skeletons;  ///< by the lab's id: the untouched kernel.cu
  /// Texts whose lines are no secrets: skeletons and contracts of all labs, handed out or not.
  std::vector<std::string> open;
  std::vector<compilers::CompilerInfo> compilers;  ///< students have one of these
  std::vector<std::string> architectures;          ///< of their GPUs, for nvcc: "86"
  std::string version;                             ///< Membound's
  Reader reader = Reader::kClass;
  std::filesystem::path binaries_of;  ///< the build folder whose programs go along; empty: none do
  const std::atomic<bool>* stop = nullptr;
  /// Called from several threads.
  std::function<void(const std::string& what, int done, int all)> on_step = {};
};

/// The tree; an error names the first lines by which it would give a solution away.
[[nodiscard]] base::Result<Tree> student_tree(const ReleaseRequest& request);

/// root/grader/classroom/release/templates/NAME with `values` instead of "{{name}}"; besides them
/// there are `version`, `first` (a lab's id), and the list `labs` with id, title and summary.
[[nodiscard]] base::Result<std::string> filled_template(
    const ReleaseRequest& request, const std::string& name,
    const std::map<std::string, std::string>& values = {});

/// How it grades.
struct AutograderOptions {
  std::string device = "vgpu:h200";
  std::string
      compilers;      ///< "nvcc", "clang", or "nvcc clang": the first that the container can have
  std::string lab;    ///< the assignment's; empty: the submission tells
  int seconds = 540;  ///< for one submission, below Gradescope's own limit
};

/// The zip's tree. `students` is what student_tree() made for `request`.
[[nodiscard]] base::Result<Tree> autograder_tree(const ReleaseRequest& request, Tree students,
                                                 const AutograderOptions& options);

}  // namespace membound::release
