// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The parts of the program `membound_site`, which makes the documentation site around Doxygen.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "grader/base/result.hpp"
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

/// The first page: what the course is, a warp that moves, what a check prints (both made by
/// front_page.sh), the labs in their order.
[[nodiscard]] base::Result<std::string> course_page(const course::Course& course);

/// The list of the course that stands beside the page called `page` ("handout_03_transpose").
/// Beside a page of the code it is three links, until the page has run course_list.js.
[[nodiscard]] std::string course_list(const course::Course& course, const std::string& page);

/// course_list.js: the items of the list for pages of the code.
[[nodiscard]] std::string course_list_script(const course::Course& course);

/// What Doxygen is told of our namespaces, from grader/rooms.txt: pages/rooms.hpp.
[[nodiscard]] Problems write_rooms(const std::filesystem::path& root,
                                   const std::filesystem::path& pages);

/// Makes Doxygen's pages of the code small, and its list of namespaces one of ours.
[[nodiscard]] Problems slim_code_pages(const std::filesystem::path& html);

/// Puts the list of the course beside every page, and below it the headings of a page that has a
/// list of them.
[[nodiscard]] Problems add_course_lists(const course::Course& course,
                                        const std::filesystem::path& html);

/// A site that takes more bytes than kMostBytes.
[[nodiscard]] Problems check_size(const std::filesystem::path& html);
inline constexpr std::uintmax_t kMostBytes = 15'000'000;

/// Every address of every page in `html` that leads to a file or a place in one that is not there.
[[nodiscard]] Problems check_links(const std::filesystem::path& html);

/// Writes what the search field looks through: html/search_index.js. Words of people who call
/// things otherwise come from docs/site/keywords.json.
[[nodiscard]] Problems write_index(const std::filesystem::path& root,
                                   const std::filesystem::path& html);

}  // namespace membound::site
