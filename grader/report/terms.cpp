// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/terms.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <sstream>

#include "grader/report/markdown_html.hpp"

namespace membound::report {
namespace {

constexpr std::string_view kPart = "## Of the GPU", kMeans = " — ";

// Where a button has no place: in other controls, in code and pictures, in the narrow cells of
// tables.
constexpr std::array<std::string_view, 15> kWithout = {
    "a",  "button", "code", "figure", "h1",      "h2",  "h3",   "h4",
    "h5", "h6",     "pre",  "script", "summary", "svg", "table"};

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}

/// The letters of the word that `text` begins with if it is `word` or its plural, else 0.
std::size_t taken(std::string_view text, const std::string& word) {
  if (!text.starts_with(word)) return 0;
  const std::size_t size = word.size() + (text.substr(word.size()).starts_with('s') ? 1 : 0);
  return size < text.size() && is_letter(text[size]) ? 0 : size;
}

std::string id_of(const Term& term) {
  std::string id = "word-" + term.words.front();
  std::ranges::replace(id, ' ', '-');
  return id;
}

/// Walks through the text of a page and marks what it finds.
class Marker {
 public:
  explicit Marker(const std::vector<Term>& terms) : terms_(terms) {}

  std::string marked(std::string_view html) {
    std::string out;
    while (!html.empty()) {
      const std::size_t size = html.front() == '<' ? tag(html) : word(html, out);
      if (html.front() == '<') out += html.substr(0, size);
      html.remove_prefix(size);
    }
    return out;
  }

  [[nodiscard]] std::string meanings() const {
    std::string html;
    for (const std::size_t i : used_)
      html += "<div class=\"meaning\" id=\"" + id_of(terms_[i]) + "\" popover=\"auto\"><strong>" +
              terms_[i].words.front() + "</strong>: " + inline_html(terms_[i].meaning) + "</div>\n";
    return html;
  }

 private:
  /// The size of the tag or comment at the front.
  std::size_t tag(std::string_view html) {
    const auto end = std::min(html.find('>'), html.size() - 1) + 1;
    const bool closes = html.substr(1).starts_with('/');
    std::string_view name = html.substr(closes ? 2 : 1);
    name = name.substr(0, name.find_first_of(" >\n"));
    if (name == "h2" && !closes) here_.clear();
    if (name == "strong") explained_ = !closes;
    if (std::ranges::find(kWithout, name) != kWithout.end()) depth_ += closes ? -1 : 1;
    return end;
  }

  /// Adds the word at the front, or one sign, to `out`, and says its size.
  std::size_t word(std::string_view html, std::string& out) {
    const bool begins = out.empty() || !is_letter(out.back());
    for (std::size_t i = 0; begins && depth_ == 0 && i < terms_.size(); ++i) {
      if (here_.contains(i)) continue;
      for (const std::string& name : terms_[i].words) {
        const std::size_t size = taken(html, name);
        if (size == 0) continue;
        here_.insert(i);
        if (explained_) continue;
        used_.insert(i);
        out += "<button type=\"button\" class=\"term\" popovertarget=\"" + id_of(terms_[i]) +
               "\">" + std::string(html.substr(0, size)) + "</button>";
        return size;
      }
    }
    out += html.front();
    return 1;
  }

  const std::vector<Term>& terms_;
  std::set<std::size_t> here_;  ///< terms that have a button or are explained under this heading
  std::set<std::size_t> used_;
  int depth_ = 0;           ///< elements without buttons that are open
  bool explained_ = false;  ///< inside of <strong>: the text itself says what the word means
};

}  // namespace

std::vector<Term> gpu_terms(std::string_view glossary) {
  std::vector<Term> terms;
  const auto begin = glossary.find(kPart);
  if (begin == glossary.npos) return terms;
  std::istringstream lines{std::string(glossary.substr(begin + kPart.size()))};
  for (std::string line; std::getline(lines, line) && !line.starts_with("## ");) {
    const auto means = line.find(kMeans);
    if (line.starts_with("**") && means != std::string::npos) {
      Term term{.words = {}, .meaning = line.substr(means + kMeans.size())};
      std::string_view head = std::string_view(line).substr(0, means);
      for (auto at = head.find("**"); at != head.npos; at = head.find("**")) {
        head.remove_prefix(at + 2);
        term.words.emplace_back(head.substr(0, head.find("**")));
        head.remove_prefix(std::min(term.words.back().size() + 2, head.size()));
      }
      terms.push_back(std::move(term));
    } else if (!line.empty() && !terms.empty()) {
      terms.back().meaning += " " + line;
    }
  }
  // "shared memory" is found before a word that it begins with would be.
  std::ranges::stable_sort(terms, std::ranges::greater(),
                           [](const Term& term) { return term.words.front().size(); });
  return terms;
}

std::string with_terms(std::string_view html, const std::vector<Term>& terms) {
  if (terms.empty()) return std::string(html);
  Marker marker(terms);
  const std::string marked = marker.marked(html);
  return marked + marker.meanings();
}

}  // namespace membound::report
