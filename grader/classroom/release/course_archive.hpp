// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A tree as a zip file, the same bytes for the same tree: fixed times, order, owners and rights.
/// libarchive writes it.
/// Place in the chain: autograder -> [course_archive] -> the instructor's disk.
#pragma once

#include <filesystem>
#include <string>

#include "grader/base/result.hpp"
#include "grader/classroom/release/tree.hpp"

namespace membound::release {

/// The zip's bytes. Files have mode 0644, or 0755 where they are programs.
[[nodiscard]] base::Result<std::string> zip_of(const Tree& tree);

}  // namespace membound::release
