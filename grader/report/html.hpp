// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A result as one HTML page that needs nothing beside it: what was decided, the source with what
/// each line costs, pictures of the accesses, what bounds the kernel.
/// Place in the chain: course/lab_result, kernel.cu's text -> [html] -> file. Decides nothing.
#pragma once

#include <string>

#include "grader/course/lab_result.hpp"
#include "grader/report/profile_text.hpp"

namespace membound::report {

/// The whole page. Looks follow the reader's light or dark theme; nothing is fetched, nothing runs.
[[nodiscard]] std::string render_html(const course::Result& result, const SourceText& source);

}  // namespace membound::report
