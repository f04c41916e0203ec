// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The parts of the program `membound_site`, which makes the documentation site around Doxygen.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "grader/course/course_tree.hpp"

namespace membound::site {

/// What is wrong, a sentence each: "handouts/x/handout.md: no figure figures/y.svg".
using Problems = std::vector<std::string>;

/// Where a file of the tree is on the site.
class Addresses {
 public:
  explicit Addresses(const course::Course& course);

  /// The page that shows `file` ("handouts/03-transpose/handout.md", relative to the root); empty
  /// where none does.
  [[nodiscard]] std::string page_of(const std::filesystem::path& file) const;

 private:
  std::filesystem::path root_;
  std::vector<std::pair<std::string, std::string>> pages_;
};

/// "handout_03_transpose": a page's name, of what kind and for which lab or command.
[[nodiscard]] std::string page_name(const std::string& kind, const std::string& of);

/// Writes Markdown for Doxygen into `pages`; figures, and handouts to print, into `html`.
[[nodiscard]] Problems write_pages(const course::Course& course, const std::filesystem::path& pages,
                                   const std::filesystem::path& html);

/// The first page: the course, its labs in their order.
[[nodiscard]] std::string course_page(const course::Course& course);

/// Every address of every page in `html` that leads to a file or a place in one that is not there.
[[nodiscard]] Problems check_links(const std::filesystem::path& html);

/// Writes what the search field looks through: html/search_index.js.
[[nodiscard]] Problems write_index(const std::filesystem::path& html);

}  // namespace membound::site
