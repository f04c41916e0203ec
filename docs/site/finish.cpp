// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "docs/site/site.hpp"
#include "grader/base/files.hpp"
#include "grader/base/result.hpp"

namespace membound::site {
namespace {

namespace fs = std::filesystem;

/// The pages of the site by file name.
std::map<std::string, std::string> read_pages(const fs::path& html) {
  std::map<std::string, std::string> pages;
  for (const fs::directory_entry& entry : fs::directory_iterator(html))
    if (entry.path().extension() == ".html")
      if (auto text = base::read_file(entry.path()))
        pages[entry.path().filename()] = *std::move(text);
  return pages;
}

/// The values of one attribute, `name="value"`, in `html`.
std::vector<std::string> values_of(std::string_view html, const std::string& name) {
  std::vector<std::string> values;
  const std::string begin = " " + name + "=\"";
  for (auto at = html.find(begin); at != std::string_view::npos; at = html.find(begin, at)) {
    at += begin.size();
    values.emplace_back(html.substr(at, html.find('"', at) - at));
  }
  return values;
}

/// Words without tags, entities as their signs, each gap one space.
std::string words_of(std::string_view html) {
  static const std::pair<std::string_view, char> kEntities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#160;", ' '}};
  std::string words;
  for (std::size_t i = 0; i < html.size(); ++i) {
    char c = html[i];
    if (c == '<') {
      i = std::min(html.find('>', i), html.size());
      c = ' ';
    } else if (c == '&') {
      for (const auto& [entity, sign] : kEntities)
        if (html.substr(i).starts_with(entity)) {
          c = sign;
          i += entity.size() - 1;
          break;
        }
    }
    if (static_cast<unsigned char>(c) <= ' ') c = ' ';
    if (c != ' ' || (!words.empty() && words.back() != ' ')) words += c;
  }
  while (words.ends_with(' ')) words.pop_back();
  return words;
}

/// The text between `open` and `close`.
std::string_view part(std::string_view html, std::string_view open, std::string_view close) {
  const auto begin = html.find(open);
  if (begin == std::string_view::npos) return {};
  html.remove_prefix(begin + open.size());
  return html.substr(0, std::min(html.find(close), html.size()));
}

constexpr std::string_view kContents = "<div class=\"contents\">", kEnd = "<!-- contents -->";

}  // namespace

Problems check_links(const fs::path& html) {
  const auto pages = read_pages(html);
  std::map<std::string, std::set<std::string>> places;
  for (const auto& [name, text] : pages) {
    for (const char* attribute : {"id", "name"})
      for (std::string& id : values_of(text, attribute)) places[name].insert(std::move(id));
  }
  std::set<std::string> problems;
  for (const auto& [name, text] : pages) {
    std::vector<std::string> targets = values_of(text, "href");
    for (std::string& source : values_of(text, "src")) targets.push_back(std::move(source));
    for (const std::string& target : targets) {
      if (target.starts_with("data:") || target.starts_with("javascript:") || target == "#")
        continue;
      if (target.find("://") != std::string::npos) continue;
      const auto mark = std::min(target.find('#'), target.size());
      const std::string file = mark == 0 ? name : target.substr(0, mark);
      const std::string place = mark < target.size() ? target.substr(mark + 1) : "";
      if (!fs::exists(html / file)) {
        problems.insert(name + ": " + target + " leads to no file");
      } else if (!place.empty() && pages.contains(file) && !places[file].contains(place)) {
        problems.insert(name + ": " + target + " leads to no place of that page");
      }
    }
  }
  return {problems.begin(), problems.end()};
}

Problems add_course_lists(const course::Course& course, const fs::path& html) {
  constexpr std::string_view kMark = "<!-- course -->", kList = "<nav class=\"contents\"",
                             kListEnd = "</nav>\n";
  Problems problems;
  if (const auto written = base::write_file(html / "course_list.js", course_list_script(course));
      !written)
    problems.push_back(base::to_string(written.error()));
  for (auto& [name, text] : read_pages(html)) {
    const auto mark = text.find(kMark);
    if (mark == text.npos) continue;
    std::string page = text, headings;
    if (const auto list = page.find(kList); list != page.npos) {
      const auto end = page.find(kListEnd, list) + kListEnd.size();
      headings = page.substr(list, end - list);
      page.erase(list, end - list);
    }
    page.replace(mark, kMark.size(),
                 "<div class=\"side\">\n" + course_list(course, fs::path(name).stem().string()) +
                     headings + "</div>\n");
    // Doxygen writes a page's title as a plain box, and no reader by ear would find its heading.
    constexpr std::string_view kTitle = "<div class=\"title\"";
    if (const auto title = page.find(kTitle);
        title != page.npos && page.find("<h1 class=\"pitch\"") == page.npos)
      page.insert(title + kTitle.size(), " role=\"heading\" aria-level=\"1\"");
    // Nor what a picture shows: its words stand in the caption alone.
    static const std::regex kPicture(
        "<object (type=\"image/svg\\+xml\"[^>]*)></object>(\\s*<div "
        "class=\"caption\">\\s*)([^<]*)");
    page = std::regex_replace(page, kPicture,
                              "<object $1 role=\"img\" aria-label=\"$3\"></object>$2$3");
    if (const auto written = base::write_file(html / name, page); !written)
      problems.push_back(base::to_string(written.error()));
  }
  return problems;
}

Problems check_size(const fs::path& html) {
  std::uintmax_t bytes = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(html))
    if (entry.is_regular_file() && entry.path().extension() != ".pdf") bytes += entry.file_size();
  if (bytes <= kMostBytes) return {};
  return {html.string() + ": the site takes " + std::to_string(bytes) + " bytes; at most " +
          std::to_string(kMostBytes) + " are wanted"};
}

namespace {

/// Entries [address, title, words, note] of docs/site/keywords.json.
Problems add_keywords(const fs::path& root, const std::map<std::string, std::string>& pages,
                      nlohmann::json& index) {
  const auto text = base::read_file(root / "docs/site/keywords.json");
  if (!text) return {base::to_string(text.error())};
  Problems problems;
  const auto keywords = nlohmann::json::parse(*text, nullptr, false);
  if (!keywords.is_object()) return {"docs/site/keywords.json: is no object of JSON"};
  for (const auto& [word, where] : keywords.items()) {
    if (word.empty()) continue;
    const std::string name = where.value("page", "") + ".html";
    const auto page = pages.find(name);
    if (page == pages.end()) {
      problems.push_back("docs/site/keywords.json: " + word + " leads to no page " + name);
      continue;
    }
    index.push_back({name, words_of(part(page->second, "<div class=\"title\">", "</div>")), word,
                     where.value("note", "")});
  }
  return problems;
}

}  // namespace

Problems write_index(const fs::path& root, const fs::path& html) {
  // One entry for each heading of a page of text; the reference of the code is found by its titles.
  static const std::regex kPlace(R"re(<h[1-4]([^>]*)>(?:<a class="anchor" id="([^"]+)"></a>)?)re");
  const auto pages = read_pages(html);
  nlohmann::json index = nlohmann::json::array(), keywords = nlohmann::json::array();
  Problems problems = add_keywords(root, pages, keywords);
  for (const auto& [name, text] : pages) {
    const std::string title = words_of(part(text, "<div class=\"title\">", "</div>"));
    std::string_view body = part(text, kContents, kEnd);
    if (title.empty() || name.starts_with("dir_") || name.ends_with("_source.html") ||
        name.ends_with("_8md.html"))
      continue;
    if (body.find("class=\"textblock\"") == std::string_view::npos ||
        body.find("class=\"memitem\"") != std::string_view::npos) {
      index.push_back({name, title, "", ""});
      continue;
    }
    std::string place, heading;
    // What words unfold is the glossary's, which is found by itself.
    static const std::regex kMeaning("<div class=\"meaning\".*\n");
    const std::string all = std::regex_replace(std::string(body), kMeaning, "");
    std::size_t from = 0;
    for (std::sregex_iterator it(all.begin(), all.end(), kPlace), end;; ++it) {
      const auto to = it == end ? all.size() : static_cast<std::size_t>(it->position());
      index.push_back({name + (place.empty() ? "" : "#" + place), title, heading,
                       words_of(std::string_view(all).substr(from, to - from))});
      if (it == end) break;
      place = (*it)[2].matched ? (*it)[2].str() : std::string(part((*it)[1].str(), "id=\"", "\""));
      const auto begin = to + static_cast<std::size_t>(it->length());
      from = std::min(all.find("</h", begin), all.size());
      heading = words_of(std::string_view(all).substr(begin, from - begin));
    }
  }
  const auto written = base::write_file(
      html / "search_index.js",
      "window.membound_keywords = " +
          keywords.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
          ";\nwindow.membound_index = " +
          index.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + ";\n");
  if (!written) problems.push_back(base::to_string(written.error()));
  return problems;
}

}  // namespace membound::site
