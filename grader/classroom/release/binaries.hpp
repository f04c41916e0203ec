// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The built programs that students may use instead of building: what `cmake --install` puts into
/// a folder (grader/cmake/Install.cmake), for the labs that are handed out.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/release/handed_out_tree.hpp"
#include "grader/course/lab.hpp"

namespace membound::release {

/// Where they lie in a student's tree.
inline constexpr const char* kBinaries = "released/binaries/";

/// The programs of the build folder `build` for the labs `labs`. An error if one is not built, or
/// if the licence of a library is not where Debian's packages put it.
[[nodiscard]] base::Result<Tree> built_programs(const std::filesystem::path& build,
                                                const std::vector<course::Lab>& labs);

}  // namespace membound::release
