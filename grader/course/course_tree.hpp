// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The course on disk: where its root is, which labs it has, and which of them the words on a
/// command line mean.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"

namespace membound::course {

/// The nearest folder at or above `start` that has a labs folder and CMakePresets.json.
[[nodiscard]] std::optional<std::filesystem::path> find_root(std::filesystem::path start);

/// All labs of a course, in teaching order (that of the numbers in their names).
struct Course {
  std::filesystem::path root;
  std::vector<Lab> labs;
  /// Labs that cannot be used, and why: a lab.json that cannot be read, a number that another lab
  /// has. The others go on.
  struct Broken {
    std::string id;
    base::Error why;
  };
  std::vector<Broken> broken = {};

  /// The lab that `word` means: its number ("3", "03"), its id ("03-transpose"), its name without
  /// the number ("transpose"), or a prefix of either that fits only one lab. A word for a broken
  /// lab gives what is wrong with it.
  [[nodiscard]] base::Result<const Lab*> find(std::string_view word) const;
};

/// Where a tree that was handed out keeps a second copy of the files that the grader works with, by
/// their paths in the course: what somebody changed in labs/ counts for nothing.
inline constexpr const char* kOwnCopies = "released/course";

/// That copy of the file or folder `name` (a path in the course), or `name` itself where there is
/// none.
[[nodiscard]] std::filesystem::path own_copy(const std::filesystem::path& root,
                                             const std::filesystem::path& name);

/// The files below these folders of the course that are not what their second copy is, or are gone.
[[nodiscard]] std::vector<std::string> changed_files(const std::filesystem::path& root,
                                                     const std::vector<std::string>& below);

/// Reads root/labs/*/lab.json (by their second copies where there are some), then those of other
/// trees, folders with labs/, solutions/ and handouts/ of their own. An error where one of the
/// folders cannot be read.
[[nodiscard]] base::Result<Course> read_course(
    const std::filesystem::path& root, const std::vector<std::filesystem::path>& trees = {});

/// The trees that MEMBOUND_LABS names, with ':' between, as absolute paths.
[[nodiscard]] std::vector<std::filesystem::path> other_trees();

/// One lab of the command line, and the numbers of its stages; never empty.
struct Selection {
  const Lab* lab = nullptr;
  std::vector<int> stages;
};

/// "transpose" (all stages), "3/2", "transpose/tiled", "transpose/til", "3/2-4", "3/1,5".
[[nodiscard]] base::Result<Selection> select(const Course& course, std::string_view word);

/// Every word, with selections of one lab joined in the order of its stages.
[[nodiscard]] base::Result<std::vector<Selection>> select_all(
    const Course& course, const std::vector<std::string>& words);

}  // namespace membound::course
