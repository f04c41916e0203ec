// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The names of each layout, and by them whose file is whose.
/// Place in the chain: layout -> [layout_items].
#pragma once

#include <regex>
#include <string>
#include <vector>

#include "grader/classroom/intake/layout.hpp"

namespace membound::intake {

/// What Gradescope's record beside the submissions is called.
inline constexpr const char* kMetadata = "submission_metadata.yml";

/// "doejane_LATE_12345_67890_kernel-1.cu": name, late, user id, attachment id, file name.
[[nodiscard]] const std::regex& canvas_name();
/// "Jane Doe_123_assignsubmission_file_", and behind it the file's name where there is no folder.
[[nodiscard]] const std::regex& moodle_name();
/// "attempt2", "try 1".
[[nodiscard]] const std::regex& attempt_name();

/// An entry without the folder that everything lies in.
struct Rest {
  const Entry* entry;
  std::vector<std::string> path, raw;
};

[[nodiscard]] std::vector<Item> canvas_items(const std::vector<Rest>& rests);
[[nodiscard]] std::vector<Item> moodle_items(const std::vector<Rest>& rests);
[[nodiscard]] std::vector<Item> gradescope_items(const std::vector<Rest>& rests);
/// `github`: what all folders' names start with is the assignment's.
[[nodiscard]] std::vector<Item> plain_items(const std::vector<Rest>& rests, bool github);

}  // namespace membound::intake
