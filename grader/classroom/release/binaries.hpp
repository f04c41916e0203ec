// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The built programs that students may use in place of building: what a check on the virtual GPU
/// starts, the libraries of Debian that these load, and the licences of all of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/release/handed_out_tree.hpp"
#include "grader/course/lab.hpp"

namespace membound::release {

/// Where they lie in a student's tree; below it as in a build folder, and lib/, licences/, machine
/// (what `uname -m` prints), sources.sha256 (of every file that they were built from).
inline constexpr const char* kBinaries = "released/binaries/";

/// The programs of the build folder `build` for the labs `labs`, which `students`, a
/// tree with its references, was released from. An error if one is not built, or if the licence of
/// a library is not where Debian's packages put it.
[[nodiscard]] base::Result<Tree> built_programs(const std::filesystem::path& build,
                                                const std::vector<course::Lab>& labs,
                                                const Tree& students);

/// The libraries in what `ldd` prints that are shipped, by name and path: not those of the C and
/// C++ compilers, which every machine has in the version that its programs need, nor the CUDA
/// runtime.
[[nodiscard]] std::vector<std::pair<std::string, std::filesystem::path>> shipped_libraries(
    const std::string& ldd);

}  // namespace membound::release
