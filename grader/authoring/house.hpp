// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Does the code keep to its rooms: every include and every link is an arrow of
/// grader/rooms.txt, no two files share a name, each namespace is its room's; and the list as
/// docs/architecture.md shows it. Are the tests there that grader/tests/attacks/defended.md names?
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "grader/authoring/lab_check.hpp"
#include "grader/base/result.hpp"

namespace membound::authoring {

/// One line of rooms.txt.
struct Room {
  std::string path;               ///< below grader/: "vgpu/exec/lanes"
  std::vector<std::string> uses;  ///< rooms, or "classroom/" for every room inside
  std::string does;
  std::string leaves_out;
  int line = 0;
};

/// Reads rooms.txt. An error names the line: no colon, not three parts, a room twice.
[[nodiscard]] base::Result<std::vector<Room>> read_rooms(std::string_view text,
                                                         const std::string& file_name);

/// Everything in root/grader that does not keep to `rooms`.
[[nodiscard]] std::vector<Drift> check_house(const std::vector<Room>& rooms,
                                             const std::filesystem::path& root);

/// Picture and table of the rooms, as Markdown.
[[nodiscard]] std::string rooms_as_markdown(const std::vector<Room>& rooms);

/// Holds the part of docs/architecture.md against rooms_as_markdown(); with `fix`, writes it.
[[nodiscard]] std::vector<Drift> check_architecture_page(const std::vector<Room>& rooms,
                                                         const std::filesystem::path& root,
                                                         bool fix);

// grader/tests/attacks/defended.md says of what was found which test holds it. Whether the test
// shows what the row says is not looked at.

/// What the last cell of a table row names as its tests: one test, all of a suite, an attack of the
/// corpus, a wrong answer, or a script; as house.cpp tells them apart.
[[nodiscard]] std::vector<std::string> tests_named_in(std::string_view cell);

/// Rows of the page's tables with a column "test" whose test is not in the tree, or that name none
/// and do not say "not closed".
[[nodiscard]] std::vector<Drift> check_named_tests(const std::filesystem::path& root);

}  // namespace membound::authoring
