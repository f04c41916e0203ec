// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/handout_text.hpp"

#include <algorithm>

#include "grader/report/folds.hpp"
#include "grader/report/markdown.hpp"

namespace membound::report {
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
  const auto pieces = pieces_of(markdown, file);
  if (!pieces) return pieces.error();
  // The text is put together as Markdown first, so that blank lines come out as everywhere.
  std::string text;
  int folded = 0;
  for (const Piece& piece : *pieces) {
    const int stage = piece.solved_stage;
    if (!piece.folded()) {
      text += with_drawings(piece.text, view);
    } else if (stage > 0 && (!view.unlocked || !view.unlocked(stage))) {
      text += locked_note(view.lab, stage);
    } else if (with_answers) {
      text += in_markdown(piece.summary) + "\n" + with_drawings(piece.text, view);
    } else {
      ++folded;
      text += in_markdown(piece.summary) + " *(folded)*\n";
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
