// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What becomes of the pages that Doxygen makes of the code: a list of namespaces, each with what
/// its rooms do, instead of Doxygen's indexes; members of long pages folded; no repeated markup.
#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "docs/site/site.hpp"
#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/report/svg.hpp"

namespace membound::site {
namespace {

namespace fs = std::filesystem;

/// A page with more members than this shows them folded.
constexpr std::size_t kMostOpenMembers = 12;
/// And with more than this the tables of their names, too.
constexpr std::size_t kMostListedMembers = 60;

/// Indexes, member lists and pages of files; scripts and pictures of a frame that is not used.
bool is_left_out(const std::string& name) {
  static const std::regex kIndexes(
      "(annotated|hierarchy|classes|files|functions[\\w~]*|globals\\w*|namespacemembers\\w*|dir_"
      "\\w+|"
      ".*-members|.*_8\\w+)\\.html|(jquery|dynsections|menu|menudata)\\.js|(doxygen|tabs)\\.css|"
      ".*\\.png|doxygen\\.svg");
  return std::regex_match(name, kIndexes);
}

bool is_of_code(const std::string& name) {
  return std::regex_match(name, std::regex("(namespace|class|struct|union|concept)\\w+\\.html")) &&
         name != "namespaces.html";
}

void replace_all(std::string& text, const char* what, const char* by) {
  text = std::regex_replace(text, std::regex(what), by);
}

/// Members as folds whose heading is the member's name. A browser that is led to a place in a fold
/// opens it.
std::string with_folds(std::string_view html) {
  constexpr std::string_view kTitle = "<h2 class=\"memtitle\">", kTitleEnd = "</h2>",
                             kPlace = "<a id=\"", kGroup = "<h2 class=\"groupheader\">",
                             kEnd = "</div><!-- contents -->";
  std::string out;
  for (;;) {
    const auto title = html.find(kTitle);
    if (title == html.npos) return out + std::string(html);
    out += html.substr(0, title);
    html.remove_prefix(title + kTitle.size());
    const auto title_end = html.find(kTitleEnd);
    out += "<details class=\"member\"><summary>";
    out += html.substr(0, title_end);
    out += "</summary>";
    html.remove_prefix(title_end + kTitleEnd.size());
    const auto next = html.find(kTitle);
    auto end = std::min({html.rfind(kPlace, next), html.find(kGroup), html.find(kEnd)});
    if (next == html.npos) end = std::min(html.find(kGroup), html.find(kEnd));
    out += html.substr(0, end);
    out += "</details>\n";
    html.remove_prefix(std::min(end, html.size()));
  }
}

/// Of every page: places of the code by shorter names, and no way to a page that is left out.
std::string with_short_links(std::string html) {
  // Names of 32 digits, of which eight tell the places of one page apart.
  replace_all(html, "\\ba([0-9a-f]{8})[0-9a-f]{24}", "a$1");
  replace_all(html, "<a [^>]*href=\"(?:[^\"]*_8\\w+|dir_\\w+)\\.html[^\"]*\"[^>]*>([^<]*)</a>",
              "$1");
  return html;
}

/// Tables of names as folds, each with its heading.
std::string with_folded_tables(const std::string& html) {
  static const std::regex kTable(
      "<table class=\"memberdecls\">\\s*<tr class=\"heading\"><td colspan=\"2\"><h2 "
      "class=\"groupheader\">"
      "(<a id=[^>]*></a>)?\\s*([^<]*)</h2></td></tr>");
  std::string out = std::regex_replace(
      html, kTable,
      "<details class=\"member\"><summary>$2</summary>$1<table class=\"memberdecls\">");
  std::size_t opened = 0;
  constexpr std::string_view kOpen = "</summary>", kTableTag = "<table class=\"memberdecls\">",
                             kEnd = "</table>";
  for (auto at = out.find(kTableTag); at != out.npos; at = out.find(kTableTag, at)) {
    const bool folded = out.rfind(kOpen, at) != out.npos && at - out.rfind(kOpen, at) < 120;
    at = out.find(kEnd, at);
    if (at == out.npos) break;
    at += kEnd.size();
    if (folded) out.insert(at, "</details>"), ++opened;
  }
  return opened > 0 ? out : html;
}

std::string slim(std::string html) {
  replace_all(html, "<tr class=\"separator:[^\n]*\n", "");
  replace_all(html, "( &#124;)?\\s*<a href=\"[^\"]*-members\\.html\">[^<]*</a>", "");
  // Doxygen names this place where the only nested classes are private, and leaves it out.
  if (html.find("id=\"nested-classes\"") == html.npos)
    replace_all(html, "<a href=\"#nested-classes\">[^<]*</a>( &#124;)?", "");
  replace_all(html, " class=\"el\"| class=\"mem(item|desc):\\w+\"| (align|valign)=\"\\w+\"", "");
  replace_all(html, "<img src=\"closed\\.png\"[^>]*>(&#160;)?| onclick=\"javascript:[^\"]*\"", "");
  replace_all(html, "<span class=\"permalink\"><a href=\"[^\"]*\">[^<]*</a></span>", "");
  // The name before it leads to the same place.
  replace_all(html, "\\s*<a href=\"[^\"]*\">More\\.\\.\\.</a>(<br />)?", "");
  replace_all(html, "<!--(?! co)[^>]*-->|<div class=\"memdoc\">\\s*</div>", "");
  replace_all(html, " class=\"(mdescLeft|memItemLeft|memItemRight)\"", "");
  replace_all(html, "&#160;</td>", "</td>");
  // What an id names needs no name.
  replace_all(html, "(<a id=\"[^\"]*\") (name|id)=\"[^\"]*\"", "$1");
  replace_all(html, "\n\\s+", "\n");
  std::size_t members = 0;
  for (auto at = html.find("class=\"memtitle\""); at != html.npos;
       at = html.find("class=\"memtitle\"", at + 1))
    ++members;
  if (members > kMostListedMembers) html = with_folded_tables(html);
  return members > kMostOpenMembers ? with_folds(html) : html;
}

/// Doxygen's list of everything as a table of our namespaces.
std::string namespace_list(const std::string& html) {
  static const std::regex kRow(
      "<span class=\"icon\">N</span></span><a class=\"el\" "
      "href=\"(namespacemembound\\w*\\.html)\"[^>]*>"
      "[^<]*</a></td><td class=\"desc\">(.*?)</td>");
  constexpr std::string_view kBegin = "<div class=\"contents\">", kEnd = "</div><!-- contents -->";
  std::map<std::string, std::string> rows;
  for (std::sregex_iterator it(html.begin(), html.end(), kRow), end; it != end; ++it) {
    const std::string page = (*it)[1], what = (*it)[2];
    std::string name = page.substr(9, page.size() - 14);
    name = std::regex_replace(std::regex_replace(name, std::regex("_1_1"), "::"), std::regex("__"),
                              "_");
    if (!what.empty() && name.find("MEMBOUND") == name.npos)
      rows[name] = "<tr><td><a href=\"" + page + "\"><code>" + name + "</code></a></td><td>" +
                   what + "</td></tr>\n";
  }
  std::string list =
      "<div class=\"textblock\"><p>Each room of <a href=\"architecture.html\">the architecture</a> "
      "has a "
      "namespace.</p>\n<table class=\"markdownTable\"><thead><tr><th>namespace</th><th>what its "
      "rooms "
      "do</th></tr></thead><tbody>\n";
  for (const auto& [name, row] : rows) list += row;
  const auto begin = html.find(kBegin), end = html.find(kEnd);
  if (begin == html.npos || end == html.npos) return html;
  return std::regex_replace(html.substr(0, begin + kBegin.size()), std::regex("Namespace List"),
                            "The code by its namespaces") +
         list + "</tbody></table></div>\n" + html.substr(end);
}

}  // namespace

Problems write_rooms(const fs::path& root, const fs::path& pages) {
  const auto text = base::read_file(root / "grader/rooms.txt");
  if (!text) return {base::to_string(text.error())};
  static const std::regex kNamespace("namespace (membound(?:::\\w+)+) \\{");
  std::map<std::string, std::string> briefs;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(": "), bar = line.find(" | ");
    if (line.starts_with('#') || colon == line.npos || bar == line.npos) continue;
    const std::string room = line.substr(0, colon);
    std::string does = line.substr(bar + 3);
    does.resize(std::min(does.find(" | "), does.size()));
    std::set<std::string> names;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(root / "grader" / room, error)) {
      const auto header = base::read_file(entry.path());
      std::smatch found;
      if (entry.path().extension() == ".hpp" && header &&
          std::regex_search(*header, found, kNamespace))
        names.insert(found[1]);
    }
    for (const std::string& name : names) {
      std::string& brief = briefs[name];
      brief += (brief.empty() ? "" : "; ") + does + " (" + room + ")";
    }
  }
  std::string header;
  for (const auto& [name, brief] : briefs)
    header += "/// @namespace " + name + "\n/// @brief " + brief + "\n\n";
  const auto written = base::write_file(pages / "rooms.hpp", header);
  return written ? Problems() : Problems{base::to_string(written.error())};
}

Problems slim_code_pages(const fs::path& html) {
  Problems problems;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(html))
    files.push_back(entry.path());
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    std::error_code error;
    if (is_left_out(name)) fs::remove(file, error);
    if (file.extension() != ".html" || name.starts_with("handout") || !fs::exists(file)) continue;
    const auto text = base::read_file(file);
    if (!text) continue;
    const bool is_list = name == "namespaces.html";
    const std::string page = is_list            ? namespace_list(*text)
                             : is_of_code(name) ? slim(*text)
                                                : *text;
    const auto written = base::write_file(file, with_short_links(page));
    if (!written) problems.push_back(base::to_string(written.error()));
  }
  return problems;
}

}  // namespace membound::site
