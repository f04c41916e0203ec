// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/handout.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "grader/base/filled_template.hpp"
#include "grader/base/result.hpp"
#include "grader/report/access_picture.hpp"
#include "grader/report/markdown_html.hpp"

namespace membound::report {
namespace {

constexpr std::string_view kOpen = "<details>", kClose = "</details>";
constexpr std::string_view kSummary = "<summary>", kSummaryEnd = "</summary>";
constexpr std::string_view kSnippet = "<!-- snippet: solutions/", kOfStage = "#stage-";

/// The stage of "<!-- snippet: solutions/03-transpose/kernel.cu#stage-2 -->"; 0 for other lines.
int solved_stage(std::string_view line) {
  if (!line.starts_with(kSnippet)) return 0;
  const auto mark = line.find(kOfStage);
  int stage = 0;
  if (mark != std::string_view::npos)
    std::from_chars(line.data() + mark + kOfStage.size(), line.data() + line.size(), stage);
  return stage;
}

base::Error misfolded(const std::string& file, int line, std::string found) {
  base::Error error{.kind = base::ErrorKind::kInput};
  error.where = file + ":" + std::to_string(line);
  error.found = std::move(found);
  error.expected = "<details>, <summary>…</summary>, text, </details>, each at the line's start";
  error.advice = "mend the fold; folds do not stand in lists or in each other";
  return error;
}

}  // namespace

base::Result<std::vector<Section>> sections_of(std::string_view markdown, const std::string& file) {
  std::vector<Section> sections(1);
  sections.back().line = 1;
  bool in_fold = false, in_code = false;
  int number = 0;
  while (!markdown.empty()) {
    const auto end = std::min(markdown.find('\n'), markdown.size());
    const std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    ++number;
    if (line.starts_with("```")) in_code = !in_code;
    if (!in_code && line == kOpen) {
      if (in_fold) return misfolded(file, number, "a fold in a fold");
      const auto summary_end = markdown.find(kSummaryEnd);
      if (!markdown.starts_with(kSummary) || summary_end > markdown.find("\n\n"))
        return misfolded(file, number, "a fold without a summary");
      in_fold = true;
      std::string summary(markdown.substr(kSummary.size(), summary_end - kSummary.size()));
      markdown.remove_prefix(markdown.find('\n', summary_end) + 1);
      number += 1 + static_cast<int>(std::ranges::count(summary, '\n'));
      std::ranges::replace(summary, '\n', ' ');
      sections.push_back({.summary = std::move(summary), .line = number + 1});
    } else if (!in_code && line == kClose) {
      if (!in_fold) return misfolded(file, number, "the end of a fold that did not begin");
      in_fold = false;
      sections.push_back({.line = number + 1});
    } else {
      if (in_fold && sections.back().solved_stage == 0)
        sections.back().solved_stage = solved_stage(line);
      sections.back().text += std::string(line) + "\n";
    }
  }
  if (in_fold) return misfolded(file, sections.back().line, "a fold without an end");
  return sections;
}

namespace {

constexpr std::string_view kPart = "## Of the GPU", kMeans = " — ";

// Where a button has no place: in other controls, in code and pictures; in the narrow cells of
// tables only if the page explains the word nowhere else.
constexpr std::array<std::string_view, 15> kWithout = {
    "a",  "button", "code", "figure", "h1",      "h2",  "h3",   "h4",
    "h5", "h6",     "pre",  "script", "summary", "svg", "table"};

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}

/// The letters of the word that `text` begins with if it is `word` or its plural, or either at the
/// beginning of a sentence, else 0. A line may end between two words.
std::size_t taken(std::string_view text, const std::string& word) {
  if (text.size() < word.size() || word.empty()) return 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = text[i] == '\n' ? ' ' : text[i];
    const bool begins = i == 0 && std::tolower(static_cast<unsigned char>(c)) == word[i];
    if (c != word[i] && !begins) return 0;
  }
  const std::size_t size = word.size() + (text.substr(word.size()).starts_with('s') ? 1 : 0);
  return size < text.size() && is_letter(text[size]) ? 0 : size;
}

std::size_t length_at(std::string_view text, const Term& term) {
  for (const std::string& word : term.words)
    if (const std::size_t size = taken(text, word); size > 0) return size;
  return 0;
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

  /// With buttons in tables for what the rest of the page does not explain.
  std::string marked(std::string_view html) {
    const std::string text = marked_once(html);
    here_ = met_;
    in_tables_ = true;
    return marked_once(text);
  }

  [[nodiscard]] std::string meanings() const {
    std::string html;
    for (const std::size_t i : used_)
      html += "<div class=\"meaning\" id=\"" + id_of(terms_[i]) + "\" popover=\"auto\"><strong>" +
              terms_[i].words.front() + "</strong>: " + inline_html(terms_[i].meaning) + "</div>\n";
    return html;
  }

 private:
  std::string marked_once(std::string_view html) {
    std::string out;
    while (!html.empty()) {
      const std::size_t size = html.front() == '<' ? tag(html) : word(html, out);
      if (html.front() == '<') out += html.substr(0, size);
      html.remove_prefix(size);
    }
    return out;
  }

  /// The size of the tag or comment at the front.
  std::size_t tag(std::string_view html) {
    const auto end = std::min(html.find('>'), html.size() - 1) + 1;
    const bool closes = html.substr(1).starts_with('/');
    std::string_view name = html.substr(closes ? 2 : 1);
    name = name.substr(0, name.find_first_of(" >\n"));
    if (name == "h2" && !closes && !in_tables_) here_.clear();
    if (name == "strong") explained_ = !closes;
    if (std::ranges::find(kWithout, name) != kWithout.end() && !(in_tables_ && name == "table"))
      depth_ += closes ? -1 : 1;
    return end;
  }

  /// Adds the word at the front, or one sign, to `out`, and says its size.
  std::size_t word(std::string_view html, std::string& out) {
    const bool begins = out.empty() || !is_letter(out.back());
    for (std::size_t i = 0; begins && depth_ == 0 && i < terms_.size(); ++i) {
      if (here_.contains(i)) continue;
      const std::size_t size = length_at(html, terms_[i]);
      if (size == 0) continue;
      here_.insert(i);
      met_.insert(i);
      if (explained_) continue;
      used_.insert(i);
      const std::string button = "<button type=\"button\" class=\"term\" popovertarget=\"" +
                                 id_of(terms_[i]) + "\">" + std::string(html.substr(0, size)) +
                                 "</button>";
      // A line may break before a button, and would leave its bracket behind.
      if (out.ends_with('(')) {
        out.pop_back();
        out += "<span class=\"kept\">(" + button + "</span>";
      } else {
        out += button;
      }
      return size;
    }
    out += html.front();
    return 1;
  }

  const std::vector<Term>& terms_;
  std::set<std::size_t> here_;  ///< terms that have a button or are explained under this heading
  std::set<std::size_t> met_;   ///< likewise, anywhere on the page
  std::set<std::size_t> used_;
  bool in_tables_ = false;
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

std::vector<TermPlace> places_of(std::string_view text, const Term& term) {
  std::vector<TermPlace> places;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool inside = at > 0 && is_letter(text[at - 1]);
    const std::size_t size = inside ? 0 : length_at(text.substr(at), term);
    if (size > 0) places.push_back({at, size});
  }
  return places;
}

std::string with_terms(std::string_view html, const std::vector<Term>& terms) {
  if (terms.empty()) return std::string(html);
  Marker marker(terms);
  const std::string marked = marker.marked(html);
  return marked + marker.meanings();
}

namespace {

/// What stands between `open` and `close` in `text`; empty where they do not.
std::string_view between(std::string_view text, std::string_view open, std::string_view close) {
  const auto begin = text.find(open);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + open.size());
  return text.substr(0, std::min(text.find(close), text.size()));
}

int pixels(std::string_view svg, std::string_view attribute) {
  const std::string_view head = between(svg, "<svg", ">");
  const std::string value(between(head, " " + std::string(attribute) + "=\"", "\""));
  return static_cast<int>(std::strtod(value.c_str(), nullptr));
}

/// Answers of a page for paper, in the order of their questions.
class AnswersAtTheEnd {
 public:
  /// The question with the number of its answer.
  std::string add(const std::string& question, const std::string& answer) {
    const std::string number = std::to_string(++count_);
    answers_ += "<section class=\"answer\" id=\"answer-" + number + "\"><h3>" + number + ". " +
                question + "</h3>\n" + answer + "</section>\n";
    return "<p class=\"question\">" + question + " <a href=\"#answer-" + number + "\">(answer " +
           number + ")</a></p>\n";
  }
  [[nodiscard]] std::string html() const {
    return count_ == 0 ? "" : "<h2 id=\"answers\">Answers</h2>\n" + answers_;
  }

 private:
  int count_ = 0;
  std::string answers_;
};

}  // namespace

std::string locked_note(const std::string& lab, int stage) {
  return "*Our answer to stage " + std::to_string(stage) +
         " is shown once yours has passed:* `./membound solution " + lab + "/" +
         std::to_string(stage) + "`.\n";
}

base::Result<HandoutBody> handout_body(std::string_view markdown, const std::string& file,
                                       const HandoutView& view) {
  const auto sections = sections_of(markdown, file);
  if (!sections) return sections.error();
  HandoutBody body;
  AnswersAtTheEnd at_the_end;
  for (const Section& section : *sections) {
    const int stage = section.solved_stage;
    if (stage > 0 && (!view.unlocked || !view.unlocked(stage))) {
      body.html += markdown_to_html(locked_note(view.lab, stage), view.addresses, body.headings);
      continue;
    }
    const std::string html = markdown_to_html(section.text, view.addresses, body.headings);
    if (!section.folded()) {
      body.html += html;
    } else if (view.answers == Answers::kAtTheEnd) {
      body.html += at_the_end.add(inline_html(section.summary), html);
    } else {
      body.html += "<details><summary>" + inline_html(section.summary) + "</summary>\n" + html +
                   "</details>\n";
    }
  }
  body.html = with_terms(body.html + at_the_end.html(), view.terms);
  if (has_steps(body.html)) body.html += steps_script();
  if (!body.headings.empty()) body.title = body.headings.front().html;
  return body;
}

std::string contents_html(const std::vector<Heading>& headings) {
  std::string html = "<ol>\n";
  for (const Heading& heading : headings) {
    if (heading.level != 2 && heading.level != 3) continue;
    html += "<li" + std::string(heading.level == 3 ? " class=\"inner\"" : "") + "><a href=\"#" +
            heading.id + "\">" + heading.html + "</a></li>\n";
  }
  return html + "</ol>\n";
}

std::string standalone_page(const HandoutBody& body) {
  auto page = base::filled_template(std::string(template_text("handout")),
                                    {{"title", body.title},
                                     {"style", template_text("reading")},
                                     {"contents", contents_html(body.headings)},
                                     {"body", body.html},
                                     {"script", template_text("narrow")}},
                                    base::Quoting::kHtml);
  MEMBOUND_CHECK(page.ok());
  return *std::move(page);
}

FigureSource figure_source(std::string_view svg, std::string address) {
  // A picture in a file of its own does not know that its page is printed, and what moves would be
  // on paper as it begins: empty.
  const bool moves = svg.find("prefers-reduced-motion") != std::string_view::npos;
  return {.address = std::move(address),
          .description = std::string(between(svg, "<desc>", "</desc>")),
          .width = pixels(svg, "width"),
          .height = pixels(svg, "height"),
          .picture = has_steps(svg) || moves ? std::string(svg.substr(svg.find("<svg"))) : ""};
}

std::string inlined_address(std::string_view svg) {
  constexpr std::string_view kPlain = "-_.~!$&()*+,;=:@/?'<> ";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string address = "data:image/svg+xml,";
  for (const char c : svg) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || kPlain.find(c) != std::string_view::npos) {
      address += c;
    } else {
      address += {'%', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return address;
}

namespace {

/// A fold's title is HTML, in which code stands between tags; in Markdown between backticks.
std::string in_markdown(std::string title) {
  for (const std::string_view tag : {"<code>", "</code>"})
    for (auto at = title.find(tag); at != std::string::npos; at = title.find(tag, at))
      title.replace(at, tag.size(), "`");
  return "**" + title + "**";
}

/// Above each picture that has one its drawing, as code.
std::string with_drawings(std::string_view markdown, const HandoutView& view) {
  if (!view.drawing) return std::string(markdown);
  std::string text;
  while (!markdown.empty()) {
    const std::string_view line = markdown.substr(0, markdown.find('\n'));
    const auto target = line.rfind("](");
    if (line.starts_with("![") && line.ends_with(')') && target != line.npos) {
      const std::string drawing = view.drawing(line.substr(target + 2, line.size() - target - 3));
      if (!drawing.empty()) text += "```text\n" + drawing + "```\n\n";
    }
    text += line;
    text += '\n';
    markdown.remove_prefix(std::min(line.size() + 1, markdown.size()));
  }
  return text;
}

}  // namespace

base::Result<std::string> handout_text(std::string_view markdown, const std::string& file,
                                       const HandoutView& view, bool with_answers,
                                       const Style& style) {
  const auto sections = sections_of(markdown, file);
  if (!sections) return sections.error();
  // The text is put together as Markdown first, so that blank lines come out as everywhere.
  std::string text;
  int folded = 0;
  for (const Section& section : *sections) {
    const int stage = section.solved_stage;
    if (!section.folded()) {
      text += with_drawings(section.text, view);
    } else if (stage > 0 && (!view.unlocked || !view.unlocked(stage))) {
      text += locked_note(view.lab, stage);
    } else if (with_answers) {
      text += in_markdown(section.summary) + "\n" + with_drawings(section.text, view);
    } else {
      ++folded;
      text += in_markdown(section.summary) + " *(folded)*\n";
    }
  }
  std::string shown = render_markdown(text, style);
  if (folded > 0)
    shown += "\n" + render_markdown(std::to_string(folded) +
                                        " answers are folded away; `./membound handout " +
                                        view.lab + " --text --answers` shows them.\n",
                                    style);
  return shown;
}

}  // namespace membound::report
