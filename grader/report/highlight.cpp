// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>

#include "grader/report/markdown_html.hpp"
#include "grader/report/svg.hpp"

namespace membound::report {
namespace {

constexpr std::array<std::string_view, 47> kLanguageWords = {"__device__",   "__global__",
                                                             "__host__",     "__launch_bounds__",
                                                             "__restrict__", "__shared__",
                                                             "alignas",      "auto",
                                                             "bool",         "break",
                                                             "case",         "char",
                                                             "const",        "constexpr",
                                                             "continue",     "do",
                                                             "double",       "else",
                                                             "enum",         "false",
                                                             "float",        "for",
                                                             "if",           "inline",
                                                             "int",          "long",
                                                             "namespace",    "nullptr",
                                                             "operator",     "reinterpret_cast",
                                                             "return",       "short",
                                                             "signed",       "sizeof",
                                                             "static",       "static_cast",
                                                             "struct",       "switch",
                                                             "template",     "true",
                                                             "typename",     "unsigned",
                                                             "using",        "void",
                                                             "volatile",     "while",
                                                             "class"};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t end_of_word(std::string_view code) {
  return static_cast<std::size_t>(std::ranges::find_if_not(code, in_word) - code.begin());
}

std::size_t end_of_text(std::string_view code) {
  std::size_t end = 1;
  while (end < code.size() && code[end] != code[0] && code[end] != '\n')
    end += code[end] == '\\' ? 2 : 1;
  return std::min(end + 1, code.size());
}

}  // namespace

std::string highlighted_cpp(std::string_view code) {
  std::string html;
  const auto take = [&](std::size_t size, std::string_view look) {
    const std::string text = escaped(code.substr(0, size));
    html += look.empty() ? text : "<span class=\"" + std::string(look) + "\">" + text + "</span>";
    code.remove_prefix(std::min(size, code.size()));
  };
  while (!code.empty()) {
    if (code.starts_with("//")) {
      take(std::min(code.find('\n'), code.size()), "comment");
    } else if (code.starts_with("/*")) {
      take(std::min(code.find("*/", 2), code.size() - 2) + 2, "comment");
    } else if (code[0] == '"') {
      take(end_of_text(code), "text");
    } else if (code[0] == '#') {
      take(1 + end_of_word(code.substr(1)), "word");
    } else if (in_word(code[0])) {
      const auto end = end_of_word(code);
      const bool number = std::isdigit(static_cast<unsigned char>(code[0])) != 0;
      const bool word =
          std::ranges::find(kLanguageWords, code.substr(0, end)) != kLanguageWords.end();
      take(end, number ? "number" : word ? "word" : "");
    } else {
      take(1, "");
    }
  }
  return html;
}

}  // namespace membound::report
