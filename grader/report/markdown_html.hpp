// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Markdown, which md4c reads, as HTML for the pages of the course and as text for a terminal; code
/// with its words coloured; and the files of templates/, which the build puts into the program.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace membound::report {

/// A file of templates/: "page". Our own bug when there is none.
[[nodiscard]] std::string_view template_text(std::string_view name);

/// A picture as a page needs it.
struct FigureSource {
  std::string address;        ///< for `src`
  std::string description;    ///< what it shows, for those who do not see it; XML text
  int width = 0, height = 0;  ///< pixels at its natural size; 0 = unknown
  std::string picture = {};   ///< not empty: an SVG element that stands in the page itself
};

/// What the addresses of a text become on the page it is for.
struct PageAddresses {
  /// For `href`; empty where the page cannot lead there: then only the words are shown.
  std::function<std::string(std::string_view target)> link;
  std::function<FigureSource(std::string_view target)> figure;
};

/// A heading that `href="#id"` leads to.
struct Heading {
  int level = 0;  ///< 1 to 6
  std::string id;
  std::string html;  ///< its words
};

/// `text` as HTML. Adds its headings to `headings`; an id is not given twice among those.
[[nodiscard]] std::string markdown_to_html(std::string_view text, const PageAddresses& addresses,
                                           std::vector<Heading>& headings);

/// One line of Markdown without a paragraph around it: "`in` is read" -> "<code>in</code> is read".
[[nodiscard]] std::string inline_html(std::string_view line);

struct Style;  // grader/report/text.hpp

/// `text` for a terminal, all of which fits the style's width; a line of code that does not is
/// broken at a space. A figure becomes its caption, a link its text and its address.
[[nodiscard]] std::string render_markdown(std::string_view text, const Style& style);

/// C++ with `<span class="…">` around comments, words of the language, texts and numbers.
[[nodiscard]] std::string highlighted_cpp(std::string_view code);

}  // namespace membound::report
