// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One kernel's part of the HTML page: launch, bounds, source lines, pictures.
/// Place in the chain: course/kernel_profile -> [html_kernel] -> html.
#pragma once

#include <string>

#include "grader/course/lab_result.hpp"
#include "grader/report/profile_text.hpp"

namespace membound::report {

/// The part of a page that shows `kernel`, a kernel of `stage`: templates/kernel.html.
[[nodiscard]] std::string kernel_section(const course::StageResult& stage,
                                         const course::KernelProfile& kernel,
                                         const SourceText& source);

}  // namespace membound::report
