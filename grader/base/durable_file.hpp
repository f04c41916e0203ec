// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files that survive a power cut whole or not at all: written beside their place, synced, renamed,
/// and the folder synced. What a cut leaves behind is swept away at the next start.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "grader/base/result.hpp"

namespace membound::base {

/// Writes `text` to `file`, whose folder is made if it is missing. On return it is on the disk.
/// `point` is the first half of the failpoints' names: "result" for result.begin, .written,
/// .renamed.
[[nodiscard]] Status write_durably(const std::filesystem::path& file, std::string_view text,
                                   std::string_view point, unsigned mode = 0644);

/// Removes what a killed write_durably left in `folder` (not below it); returns how many. Only for
/// whoever knows that nobody is writing there.
int sweep(const std::filesystem::path& folder);

/// Syncs a folder, so that names made or renamed in it survive.
[[nodiscard]] Status sync_folder(const std::filesystem::path& folder);

}  // namespace membound::base
