// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whole text files: read at once, written so that a reader sees the old or the new one, never
/// half.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "grader/base/result.hpp"

namespace membound::base {

/// The content of `file`.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& file);

/// Writes beside `file` and renames into place; makes the folder if it is missing.
[[nodiscard]] Status write_file(const std::filesystem::path& file, std::string_view text);

}  // namespace membound::base
