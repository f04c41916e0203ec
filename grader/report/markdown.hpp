// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Markdown as text for a terminal; md4c reads it.
#pragma once

#include <string>
#include <string_view>

#include "grader/report/text.hpp"

namespace membound::report {

/// All of it fits the style's width; a line of code that does not is broken at a space. A figure
/// becomes its caption, a link its text and its address.
[[nodiscard]] std::string render_markdown(std::string_view text, const Style& style);

}  // namespace membound::report
