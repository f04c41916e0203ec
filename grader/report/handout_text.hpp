// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A handout in the terminal: answers folded away, solutions kept until their stage has passed.
/// Place in the chain: handout.md -> [handout_text] -> `membound handout --text`.
#pragma once

#include <string>
#include <string_view>

#include "grader/base/result.hpp"
#include "grader/report/handout_page.hpp"
#include "grader/report/style.hpp"

namespace membound::report {

/// `markdown` as text. A folded answer is one line, unless `with_answers`. Of `view`, the lab, what
/// is unlocked and the drawings count. `file` is for errors.
[[nodiscard]] base::Result<std::string> handout_text(std::string_view markdown,
                                                     const std::string& file,
                                                     const HandoutView& view, bool with_answers,
                                                     const Style& style);

}  // namespace membound::report
