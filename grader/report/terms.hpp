// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The glossary's words inside a page: where one is used, it unfolds what it means.
/// Place in the chain: docs/glossary.md -> [terms] -> handout page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace membound::report {

/// A word and what it means.
struct Term {
  std::vector<std::string> words;  ///< "SM", "multiprocessor": the first is its name
  std::string meaning;             ///< Markdown
};

/// What the glossary has below its heading "## Of the GPU".
[[nodiscard]] std::vector<Term> gpu_terms(std::string_view glossary);

/// `html` with buttons: under each heading of level 2 the first place of each term in running text.
/// What they unfold stands at the end, as a list where a browser knows no popovers.
[[nodiscard]] std::string with_terms(std::string_view html, const std::vector<Term>& terms);

}  // namespace membound::report
