// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the virtual GPU saw of a whole program: its kernels in a table, then each of them as a
/// stage's profile shows it.
#pragma once

#include <string>
#include <vector>

#include "grader/course/lab_result.hpp"
#include "grader/report/profile_text.hpp"

namespace membound::report {

/// A program that has run.
struct ProgramProfile {
  std::string program;  ///< the command line
  std::string device;   ///< "NVIDIA H200 (virtual)"
  std::vector<course::KernelProfile> kernels;
  std::vector<course::SourceLine> lines;
};

/// No wider than `style`: a row for each kernel (launches of one shape together), the longest
/// first, then the first few in full.
[[nodiscard]] std::string render_program(const ProgramProfile& profile, const SourceReader& read,
                                         const Style& style);

/// The same as a page that needs nothing beside it, with pictures.
[[nodiscard]] std::string program_page(const ProgramProfile& profile, const SourceReader& read);

}  // namespace membound::report
