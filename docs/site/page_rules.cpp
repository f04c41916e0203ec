// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "docs/site/page_rules.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace membound::site {
namespace {

/// A tag as it stands in the page.
struct Tag {
  std::string name;  ///< "/p" where it ends something
  std::map<std::string, std::string> attributes;
  std::size_t end = 0;  ///< after its ">"
};

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// The tag that begins at `at`, which holds "<".
Tag tag_at(std::string_view html, std::size_t at) {
  Tag tag;
  std::size_t i = at + 1;
  while (i < html.size() && !is_space(html[i]) && html[i] != '>') tag.name += html[i++];
  while (i < html.size() && html[i] != '>') {
    if (is_space(html[i]) || html[i] == '/') {
      ++i;
      continue;
    }
    std::string name, value;
    while (i < html.size() && !is_space(html[i]) && html[i] != '=' && html[i] != '>')
      name += html[i++];
    if (i + 1 < html.size() && html[i] == '=' && html[i + 1] == '"') {
      const auto close = std::min(html.find('"', i + 2), html.size());
      value = html.substr(i + 2, close - i - 2);
      i = close + 1;
    }
    tag.attributes[name] = value;
  }
  tag.end = std::min(i + 1, html.size());
  return tag;
}

/// All tags but those inside of comments, scripts and style sheets.
std::vector<Tag> tags_of(std::string_view html) {
  std::vector<Tag> tags;
  for (std::size_t at = html.find('<'); at != html.npos; at = html.find('<', at)) {
    if (html.substr(at).starts_with("<!--")) {
      at = std::min(html.find("-->", at), html.size());
      continue;
    }
    tags.push_back(tag_at(html, at));
    at = tags.back().end;
    if (tags.back().name == "script" || tags.back().name == "style")
      at = std::min(html.find("</" + tags.back().name, at), html.size());
  }
  return tags;
}

/// Words between a tag and the one that ends it, or an attribute that says the same.
bool has_name(std::string_view html, const Tag& tag) {
  if (tag.attributes.contains("aria-label") || tag.attributes.contains("title")) return true;
  std::string_view inner = html.substr(tag.end);
  inner = inner.substr(0, inner.find("</" + tag.name));
  if (inner.find("alt=\"") != inner.npos || inner.find("<title>") != inner.npos) return true;
  bool in_tag = false;
  for (const char c : inner) {
    if (c == '<') in_tag = true;
    if (!in_tag && !is_space(c)) return true;
    if (c == '>') in_tag = false;
  }
  return false;
}

int level_of(const std::string& name) {
  return name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' ? name[1] - '0' : 0;
}

void check_headings(const std::vector<Tag>& tags, const std::string& page, bool whole,
                    Problems& problems) {
  int before = 0, first_level = 0;
  for (const Tag& tag : tags) {
    const int level = level_of(tag.name);
    if (level == 0) continue;
    if (whole && before == 0 && level != 1)
      problems.push_back(page + ": its first heading is an " + tag.name + ", not the h1");
    if (before > 0 && level > before + 1)
      problems.push_back(page + ": an " + tag.name + " follows an h" + std::to_string(before));
    first_level += level == 1;
    before = level;
  }
  if (whole && first_level != 1)
    problems.push_back(page + ": " + std::to_string(first_level) + " headings h1, not one");
}

}  // namespace

Problems page_problems(std::string_view html, const std::string& page, bool whole) {
  Problems problems;
  const std::vector<Tag> tags = tags_of(html);
  std::set<std::string> ids, labelled;
  bool has_language = false, in_label = false;
  int mains = 0;
  for (const Tag& tag : tags)
    if (tag.name == "label" && tag.attributes.contains("for"))
      labelled.insert(tag.attributes.at("for"));
  for (const Tag& tag : tags) {
    const auto value = [&](const char* name) {
      const auto found = tag.attributes.find(name);
      return found == tag.attributes.end() ? std::string() : found->second;
    };
    if (tag.name == "html") has_language = !value("lang").empty();
    if (tag.name == "title" && !has_name(html, tag)) problems.push_back(page + ": an empty title");
    if (tag.name == "label" || tag.name == "/label") in_label = tag.name == "label";
    mains += tag.name == "main";
    // What the style sheets let scroll sideways; without this only some browsers' Tab stops there.
    if ((tag.name == "figure" || value("class") == "wide" || value("class") == "table") &&
        value("tabindex") != "0")
      problems.push_back(page +
                         ": what may scroll sideways is not reached by keyboard: " + tag.name);
    if (tag.name == "img" && value("alt").empty())
      problems.push_back(page + ": a picture without words: " + value("src").substr(0, 60));
    if (tag.name == "svg" && html.substr(tag.end, 200).find("<title>") == html.npos)
      problems.push_back(page + ": a picture in the page without a title");
    if (tag.name == "input" && !in_label && !labelled.contains(value("id")) &&
        value("aria-label").empty())
      problems.push_back(page + ": a field without a label: " + value("id"));
    if ((tag.name == "a" && tag.attributes.contains("href")) || tag.name == "button" ||
        tag.name == "summary" || level_of(tag.name) > 0)
      if (!has_name(html, tag))
        problems.push_back(page + ": <" + tag.name + "> without words: " + value("href"));
    if (!value("id").empty() && !ids.insert(value("id")).second)
      problems.push_back(page + ": two places are called \"" + value("id") + "\"");
  }
  if (!has_language) problems.push_back(page + ": its language is not said");
  if (whole && mains != 1)
    problems.push_back(page + ": " + std::to_string(mains) + " main parts, not one");
  check_headings(tags, page, whole, problems);
  return problems;
}

}  // namespace membound::site
