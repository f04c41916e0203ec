// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One kernel's part of the HTML page: launch, bounds, source lines, pictures.
/// Place in the chain: course/profile -> [html_kernel] -> html.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "grader/course/lab_result.hpp"
#include "grader/report/profile_text.hpp"

namespace membound::report {

/// What templates/page.html shows of `kernel`, a kernel of `stage`.
[[nodiscard]] nlohmann::json kernel_values(const course::StageResult& stage,
                                           const course::KernelProfile& kernel,
                                           const SourceText& source);

}  // namespace membound::report
