// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/figure_words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace membound::authoring {
namespace {

constexpr std::string_view kOpen = "<?membound-figure ", kClose = "?>";

/// In quotes, with a backslash before quotes and backslashes, where a word is not plain.
std::string quoted(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string("-_.,/:").find(c) != std::string::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string text = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

void add(std::string& text, const char* name, const std::string& value,
         const std::string& default_value) {
  if (value != default_value) text += std::string(" ") + name + " " + quoted(value);
}

}  // namespace

std::string figure_mark(const FigureOptions& options) {
  const FigureOptions usual;
  std::string text = quoted(options.what);
  const auto number = [](int value) { return std::to_string(value); };
  add(text, "--stage", number(options.stage), number(usual.stage));
  add(text, "--answer", options.answer, usual.answer);
  add(text, "--line", options.line, usual.line);
  add(text, "--ptx-line", number(options.ptx_line), number(usual.ptx_line));
  add(text, "--kernel", options.kernel, usual.kernel);
  add(text, "--access", options.access, usual.access);
  add(text, "--kind", options.kind, usual.kind);
  add(text, "--block", options.block, usual.block);
  add(text, "--warp", number(options.warp), number(usual.warp));
  add(text, "--occurrence", number(options.occurrence), number(usual.occurrence));
  add(text, "--steps", number(options.steps), number(usual.steps));
  add(text, "--size", options.size, usual.size);
  add(text, "--title", options.title, usual.title);
  add(text, "--device", options.device, usual.device);
  return std::string(kOpen) + text + std::string(kClose) + "\n";
}

std::vector<std::string> figure_words(const std::string& svg) {
  const std::size_t open = svg.find(kOpen);
  const std::size_t close = open == std::string::npos ? open : svg.find(kClose, open);
  if (close == std::string::npos) return {};
  std::vector<std::string> words;
  bool in_word = false, in_quotes = false;
  for (std::size_t i = open + kOpen.size(); i < close; ++i) {
    const char c = svg[i];
    if (!in_quotes && c == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '"')
      in_quotes = !in_quotes;
    else if (c == '\\' && in_quotes && i + 1 < close)
      words.back() += svg[++i];
    else
      words.back() += c;
  }
  return words;
}

base::Result<FigureOptions> figure_options(const std::vector<std::string>& words) {
  FigureOptions options;
  CLI::App app;
  add_figure_options(app, options);
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants them
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return base::Error{base::ErrorKind::kInput, "", error.what(), "options of membound dev figure",
                       "make the figure again"};
  }
  return options;
}

}  // namespace membound::authoring
