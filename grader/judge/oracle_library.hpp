// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A lab's oracle.cpp as a library, which the test program loads: as the build made it, or compiled
/// here, because a lab of another tree, or one that has changed, has seen no build.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/workplace.hpp"

namespace membound::judge {

/// The lab's oracle.cpp as a library, compiled if it is not there or something has changed; empty
/// where the lab has none. An error names the lab's line that does not compile.
[[nodiscard]] base::Result<std::filesystem::path> make_oracle(const Workplace& place,
                                                              const course::Lab& lab);

/// The text of kernel_constants.hpp: all `inline constexpr NAME = VALUE;` of `contract`, the text
/// of a kernel.cuh. The build makes the same file for test programs
/// (grader/cmake/KernelConstants.cmake).
[[nodiscard]] std::string kernel_constants(std::string_view contract);

}  // namespace membound::judge
