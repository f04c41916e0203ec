// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <set>

#include "docs/site/page_rules.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/result.hpp"

namespace membound::site {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAtOnce = 24;  // pages of one start of the browser
constexpr double kPatienceSeconds = 240;

/// A page with a frame of its own, as wide as a phone, for each page that is looked at.
std::string frames(const std::vector<fs::path>& pages, std::string_view look,
                   std::string_view script) {
  std::string html = "<!DOCTYPE html><html><body data-look=\"" + std::string(look) + "\">\n";
  for (const fs::path& page : pages)
    html += "<iframe data-page=\"" + page.stem().string() +
            "\" width=\"360\" height=\"640\" style=\"border:0\" src=\"file://" + page.string() +
            "\"></iframe>\n";
  return html + "<script>\n" + std::string(script) + "</script></body></html>";
}

/// Reads what look.js wrote into the page.
Problems read_lines(std::string_view told, const std::vector<fs::path>& pages,
                    std::string_view look) {
  Problems problems;
  std::set<std::string> looked;
  for (std::size_t at = 0; at < told.size();) {
    const auto end = std::min(told.find('\n', at), told.size());
    const std::string_view line = told.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("problem ")) problems.emplace_back(line.substr(8));
    if (line.starts_with("looked ")) looked.emplace(line.substr(7));
    if (!line.starts_with("file ")) continue;
    const auto gap = line.find(' ', 5);
    const fs::path file(line.substr(gap + 1));
    if (!fs::exists(file))
      problems.push_back(std::string(line.substr(5, gap - 5)) +
                         ": leads to no file: " + file.filename().string());
  }
  for (const fs::path& page : pages)
    if (!looked.contains(page.stem().string()))
      problems.push_back(page.stem().string() + ": was not looked at, " + std::string(look));
  return problems;
}

/// A page that Doxygen made of the code or of its files, and not of a text.
bool is_of_the_code(const std::string& name) {
  static const char* const kBegin[] = {
      "class",  "struct",     "union",      "namespace", "dir_",   "functions", "globals",
      "files.", "annotated.", "hierarchy.", "concepts.", "pages.", "classes.",  "concept"};
  if (name == "namespaces.html") return false;  // made by code_pages.cpp
  return name.find("_8") != name.npos || name.find("-members") != name.npos ||
         std::ranges::any_of(kBegin, [&](const char* begin) { return name.starts_with(begin); });
}

}  // namespace

Problems browser_problems(const fs::path& root, const std::vector<fs::path>& pages) {
  const auto there = base::run_process({.arguments = {"chromium", "--version"}});
  if (!there || there->exit_code != 0) {
    std::puts("skipped: there is no Chromium here that could look at the pages");
    return {};
  }
  const auto script = base::read_file(root / "docs/site/look.js");
  if (!script) return {base::to_string(script.error())};
  const base::ScratchFolder folder("membound-look");
  const fs::path driver = folder.path() / "frames.html";
  Problems problems;
  for (std::size_t from = 0; from < pages.size(); from += kAtOnce) {
    const std::vector<fs::path> some(
        pages.begin() + static_cast<std::ptrdiff_t>(from),
        pages.begin() + static_cast<std::ptrdiff_t>(std::min(from + kAtOnce, pages.size())));
    for (const bool dark : {false, true}) {
      const std::string look = dark ? "dark" : "light";
      if (const auto written = base::write_file(driver, frames(some, look, *script)); !written)
        return {base::to_string(written.error())};
      const auto shown = base::run_process(
          {.arguments = {"chromium", "--headless", "--no-sandbox", "--disable-gpu",
                         "--user-data-dir=" + (folder.path() / "profile").string(),
                         "--allow-file-access-from-files",
                         "--enable-blink-features=ComputedAccessibilityInfo",
                         "--blink-settings=preferredColorScheme=" + std::string(dark ? "0" : "1"),
                         "--dump-dom", "file://" + driver.string()},
           .timeout_seconds = kPatienceSeconds,
           .output_limit_bytes = 64 << 20});
      if (!shown) return {base::to_string(shown.error())};
      for (std::string& problem : read_lines(shown->output, some, look))
        problems.push_back(std::move(problem));
    }
  }
  std::printf("Chromium looked at %zu pages, light and dark, 360 pixels wide\n", pages.size());
  return problems;
}

Problems site_problems(const fs::path& root, const fs::path& html) {
  std::vector<fs::path> pages, of_code;
  std::error_code error;
  for (fs::directory_iterator entry(fs::absolute(html), error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".html")
      (is_of_the_code(entry->path().filename()) ? of_code : pages).push_back(entry->path());
  if (pages.empty()) return {html.string() + ": there is no page"};
  std::ranges::sort(of_code);
  // Of the code one page of each kind: the others have the same frame.
  for (const char* const kind : {"namespace", "class", "struct"})
    if (const auto first = std::ranges::find_if(
            of_code,
            [&](const fs::path& page) { return page.filename().string().starts_with(kind); });
        first != of_code.end())
      pages.push_back(*first);
  std::ranges::sort(pages);
  return browser_problems(root, pages);
}

}  // namespace membound::site
