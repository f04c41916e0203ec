// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/handout_page.hpp"

#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "grader/base/check.hpp"
#include "grader/base/filled_template.hpp"
#include "grader/report/folds.hpp"
#include "grader/report/html_template.hpp"
#include "grader/report/step_through.hpp"

namespace membound::report {
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
  const auto pieces = pieces_of(markdown, file);
  if (!pieces) return pieces.error();
  HandoutBody body;
  AnswersAtTheEnd at_the_end;
  for (const Piece& piece : *pieces) {
    const int stage = piece.solved_stage;
    if (stage > 0 && (!view.unlocked || !view.unlocked(stage))) {
      body.html += markdown_to_html(locked_note(view.lab, stage), view.addresses, body.headings);
      continue;
    }
    const std::string html = markdown_to_html(piece.text, view.addresses, body.headings);
    if (!piece.folded()) {
      body.html += html;
    } else if (view.answers == Answers::kAtTheEnd) {
      body.html += at_the_end.add(inline_html(piece.summary), html);
    } else {
      body.html += "<details><summary>" + inline_html(piece.summary) + "</summary>\n" + html +
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
  return {.address = std::move(address),
          .description = std::string(between(svg, "<desc>", "</desc>")),
          .width = pixels(svg, "width"),
          .height = pixels(svg, "height"),
          .picture = has_steps(svg) ? std::string(svg.substr(svg.find("<svg"))) : ""};
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

}  // namespace membound::report
