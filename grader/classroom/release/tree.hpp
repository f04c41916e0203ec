// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A folder that is about to be handed out, in memory: looked at as a whole before anything is
/// written.
/// Place in the chain: student_tree, autograder -> [tree] -> target, archive.
#pragma once

#include <map>
#include <string>
#include <string_view>

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

}  // namespace membound::release
