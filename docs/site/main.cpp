// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound_site pages ROOT PAGES HTML: what Doxygen reads, figures, and handouts to print.
/// membound_site finish ROOT HTML: after Doxygen, frames its pages, holds every link, writes the
/// search index. membound_site rules ROOT: holds handouts and a check's page against
/// docs/accessibility.md. membound_site look ROOT HTML: looks at every page of text of the site in
/// headless Chromium. Exit codes: 0 all is well, 1 something leads nowhere, 2 wrong use.
#include <cstdio>
#include <string_view>

#include "docs/site/page_rules.hpp"
#include "docs/site/site.hpp"
#include "grader/base/result.hpp"

int main(int count, char** words) {
  using namespace membound;
  site::Problems problems;
  if (count == 5 && std::string_view(words[1]) == "pages") {
    const auto course = course::read_course(words[2], course::other_trees());
    if (!course) {
      std::fprintf(stderr, "%s\n", base::to_string(course.error()).c_str());
      return 1;
    }
    problems = site::write_pages(*course, words[3], words[4]);
  } else if (count == 4 && std::string_view(words[1]) == "finish") {
    const auto course = course::read_course(words[2], course::other_trees());
    if (!course) {
      std::fprintf(stderr, "%s\n", base::to_string(course.error()).c_str());
      return 1;
    }
    problems = site::slim_code_pages(words[3]);
    for (const auto& more : {site::add_course_lists(*course, words[3]), site::check_links(words[3]),
                             site::write_index(words[2], words[3]), site::check_size(words[3])})
      problems.insert(problems.end(), more.begin(), more.end());
  } else if (count == 4 && std::string_view(words[1]) == "look") {
    problems = site::site_problems(words[2], words[3]);
  } else if (count == 3 && std::string_view(words[1]) == "rules") {
    const auto course = course::read_course(words[2], course::other_trees());
    if (!course) {
      std::fprintf(stderr, "%s\n", base::to_string(course.error()).c_str());
      return 1;
    }
    problems = site::check_rules(*course);
  } else {
    std::fputs(
        "membound_site pages ROOT PAGES HTML | finish ROOT HTML | rules ROOT | look ROOT HTML\n",
        stderr);
    return 2;
  }
  for (const std::string& problem : problems) std::fprintf(stderr, "%s\n", problem.c_str());
  return problems.empty() ? 0 : 1;
}
