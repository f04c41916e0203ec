// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Puts a tree into a folder, whole or not at all. An earlier release there is replaced in one
/// step; its .git stays, so that the folder can be the clone that students pull from.
/// Place in the chain: student_tree -> [target] -> the instructor's disk.
#pragma once

#include <filesystem>

#include "grader/base/result.hpp"
#include "grader/classroom/release/tree.hpp"

namespace membound::release {

/// Whether `folder` may be written: it is not there, empty but for a .git, or an earlier release in
/// which nothing was added or changed. Build folders and .membound do not count and are dropped.
[[nodiscard]] base::Status check_target(const std::filesystem::path& folder);

/// Writes beside it (FOLDER.part) and renames. Killed at any moment, FOLDER is the old tree or the
/// new one; the next call clears away what is left. Calls check_target() first.
[[nodiscard]] base::Status put_in_place(const Tree& tree, const std::filesystem::path& folder);

}  // namespace membound::release
