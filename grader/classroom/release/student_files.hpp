// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which files of the course students get, and of handouts how much. What is not named here stays:
/// an allow-list, because a forgotten entry then is a missing page and not a solution given away.
/// And the built programs that go with them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/release/handed_out_tree.hpp"
#include "grader/course/lab.hpp"

namespace membound::release {

/// The files below `root` that a student needs to build and read, for the labs in `labs`, those of
/// other trees too; skeletons, handouts and what is written anew are left to the caller. Only what
/// git tracks, where there is git: a stray file beside a skeleton may be anything. Links are never
/// followed.
[[nodiscard]] base::Result<Tree> course_files(const std::filesystem::path& root,
                                              const std::vector<course::Lab>& labs);

/// CMakePresets.json with the preset `student` and what it inherits, and no other.
[[nodiscard]] base::Result<std::string> student_presets(const std::string& text);

/// labs/CMakeLists.txt without the labs that are not handed out.
[[nodiscard]] std::string student_lab_list(const std::string& text,
                                           const std::vector<std::string>& labs);

/// The heading from which on a handout is for those who are done.
inline constexpr const char* kAfterwards = "## After you are done";

/// The text up to that heading, and a sentence instead of the rest.
[[nodiscard]] std::string student_handout(const std::string& text);

/// Shortens handouts/LAB/handout.md, and takes out the files beside it that the rest of it no
/// longer names: pictures of what comes afterwards, programs and experiments to try it with.
void shorten_handout(Tree& tree, const std::string& lab);

/// Where the built programs lie that students may use instead of building.
inline constexpr const char* kBinaries = "released/binaries/";

/// The programs of the build folder `build` for the labs `labs`: what `cmake --install` puts into a
/// folder (grader/cmake/Install.cmake). An error if one is not built, or if the licence of a
/// library is not where Debian's packages put it.
[[nodiscard]] base::Result<Tree> built_programs(const std::filesystem::path& build,
                                                const std::vector<course::Lab>& labs);

}  // namespace membound::release
