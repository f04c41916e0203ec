// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A folder that is about to be handed out, in memory: looked at as a whole before anything is
/// written, then put into a folder whole or not at all, or into a zip file, the same bytes for the
/// same tree. libarchive writes that.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "grader/base/result.hpp"

namespace membound::release {

/// One file of it.
struct TreeFile {
  std::string bytes;
  bool executable = false;
};

/// By path from the top, with '/', in the order of their names.
using Tree = std::map<std::string, TreeFile>;

/// The file in a tree that says what the tree is: which labs, compilers and files.
inline constexpr const char* kManifest = "released/release.json";
inline constexpr const char* kManifestSchema = "membound-release/1";

/// Whether `folder` may be written: it is not there, empty but for a .git, or an earlier release in
/// which nothing was added or changed. Build folders and .membound do not count and are dropped.
[[nodiscard]] base::Status check_target(const std::filesystem::path& folder);

/// Writes beside it (FOLDER.part) and renames. Killed at any moment, FOLDER is the old tree or the
/// new one; the next call clears away what is left. Calls check_target() first.
[[nodiscard]] base::Status put_in_place(const Tree& tree, const std::filesystem::path& folder);

/// The zip's bytes. Files have mode 0644, or 0755 where they are programs.
[[nodiscard]] base::Result<std::string> zip_of(const Tree& tree);

}  // namespace membound::release
