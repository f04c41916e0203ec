// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reads a folder as if it were an archive: regular files only, no link followed, nothing opened
/// that could make us wait.
/// Place in the chain: folder -> [folder] -> entries.
#pragma once

#include <filesystem>

#include "grader/base/result.hpp"
#include "grader/classroom/intake/archive.hpp"

namespace membound::intake {

/// Visits all files and folders below `folder` in the order of their names. Links, pipes, devices
/// and files with a second hard link come with a problem. Folders that are litter (names.hpp) are
/// not entered; each is handed over once, as a member of its name.
[[nodiscard]] base::Status read_folder(const std::filesystem::path& folder,
                                       const ArchiveLimits& limits, const MemberVisitor& visitor);

/// The same for one file; its path is its name.
[[nodiscard]] base::Status read_single_file(const std::filesystem::path& file,
                                            const ArchiveLimits& limits,
                                            const MemberVisitor& visitor);

}  // namespace membound::intake
