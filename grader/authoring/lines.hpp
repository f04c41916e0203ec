// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A text file as lines, and the few questions the checks ask of a line.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace membound::authoring {

/// The lines of `file` without their ends; none if it cannot be read (check_files() tells).
[[nodiscard]] std::vector<std::string> read_lines(const std::filesystem::path& file);

/// The text after "// ", or an empty one if the line is no such comment.
[[nodiscard]] std::string_view comment_of(std::string_view line);

}  // namespace membound::authoring
