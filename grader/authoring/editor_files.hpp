// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The files that editors read, written from what the grader itself uses: how clangd reads the
/// labs' kernels, from the flags of our clang; a development container, from the launcher's
/// packages. Place in the chain: clang.flags, needs.sh, lab.json -> [editor_files] -> dev check.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/authoring/drift.hpp"
#include "grader/course/course_tree.hpp"

namespace membound::authoring {

/// A whole file that is written from others.
struct WrittenFile {
  std::string name;  ///< below the root: ".clangd"
  std::string text;
  std::string source;  ///< what it is written from
};

/// The flags of `clang_flags` that say what a kernel means, without those that say what is made of
/// it: optimisation, output.
[[nodiscard]] std::vector<std::string> reading_flags(std::string_view clang_flags);

/// The packages that `needs_sh` lists for building the grader, in its order.
[[nodiscard]] std::vector<std::string> listed_packages(std::string_view needs_sh);

/// .clangd and .devcontainer/Dockerfile. An error where a source cannot be read.
[[nodiscard]] base::Result<std::vector<WrittenFile>> editor_files(const std::filesystem::path& root,
                                                                  const course::Course& course);

/// Holds the file against its text; with `fix`, writes it.
[[nodiscard]] std::vector<Drift> check_written_file(const WrittenFile& file,
                                                    const std::filesystem::path& root, bool fix);

}  // namespace membound::authoring
