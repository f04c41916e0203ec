// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/diagnostics.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>

#include "grader/base/strings.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

constexpr std::size_t kNumberWidth = 6;

/// Where the code of a line ends: before its comment and the spaces in front of that.
std::size_t end_of_code(std::string_view line) {
  const std::string_view code = line.substr(0, line.find("//"));
  return code.find_last_not_of(" \t\r") + 1;
}

}  // namespace

std::string source_excerpt(const SourceText& source, int line, int column, int width) {
  if (line < 1 || static_cast<std::size_t>(line) > source.size()) return "";
  std::string text = source[static_cast<std::size_t>(line) - 1];
  std::replace(text.begin(), text.end(), '\t', ' ');  // one column each, as compilers count
  const std::size_t first = text.find_first_not_of(" \r");
  if (first == std::string::npos) return "";
  const std::size_t at =
      column > 0 ? std::min(static_cast<std::size_t>(column) - 1, text.size()) : first;
  std::string mark = std::string(columns(text.substr(0, at)), ' ') + "^";
  const std::size_t end = end_of_code(text);
  if (column == 0 && end > at + 1)
    mark += std::string(columns(text.substr(at + 1, end - at - 1)), '~');
  const std::string number = std::to_string(line);
  const std::string left(kNumberWidth - std::min(kNumberWidth, number.size()), ' ');
  const auto room = static_cast<std::size_t>(std::max(20, width)) - kNumberWidth - 3;
  std::string shown = base::printable(text);
  if (columns(shown) > room) shown = std::string(first_columns(shown, room - 1)) + "…";
  return left + number + " | " + shown + "\n" + std::string(kNumberWidth, ' ') + " | " +
         std::string(first_columns(mark, room)) + "\n";
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestHead = 4096;

std::string shown(const std::string& file) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error || !fs::path(file).is_absolute()) return file;
  const std::string below = fs::path(file).lexically_relative(here).generic_string();
  return below.empty() || below.starts_with("..") ? file : below;
}

/// The head of a compiler's message.
struct Head {
  std::string file;
  std::string line;
  std::string rest;  ///< "error: …", "warning #177-D: …"
  bool as_nvcc;
};

/// nvcc writes "FILE(25): error: …", clang "FILE:25:7: error: …".
std::optional<Head> head_in(std::string_view line) {
  static const std::regex kNvcc(R"((.+)\((\d+)\): ((?:error|warning).*))");
  static const std::regex kClang(R"((.+?):(\d+):\d+: ((?:error|warning).*))");
  // std::regex recurses over what it matches.
  if (line.size() > kLongestHead) return std::nullopt;
  const std::string text(line);
  std::smatch match;
  const bool as_nvcc = std::regex_match(text, match, kNvcc);
  if (!as_nvcc && !std::regex_match(text, match, kClang)) return std::nullopt;
  return Head{match[1], match[2], match[3], as_nvcc};
}

/// One line of a compiler.
std::string with_place(std::string_view line) {
  const auto head = head_in(line);
  if (!head || !head->as_nvcc) return std::string(line);
  return shown(head->file) + ":" + head->line + ":1: " + head->rest;
}

}  // namespace

std::string diagnostic_head(const std::string& file, int line, std::string_view severity) {
  return shown(file) + ":" + std::to_string(line) + ":1: " + std::string(severity) + ": ";
}

std::string with_places(std::string_view compiler_output) {
  std::string text;
  while (!compiler_output.empty()) {
    const auto end = compiler_output.find('\n');
    text += with_place(compiler_output.substr(0, end));
    if (end == std::string_view::npos) break;
    text += "\n";
    compiler_output.remove_prefix(end + 1);
  }
  return text;
}

std::string warnings_in(std::string_view compiler_output,
                        const std::function<bool(const std::string&, int)>& wanted) {
  std::string text;
  bool inside = false;
  std::istringstream lines{std::string(compiler_output)};
  for (std::string line; std::getline(lines, line);) {
    const auto head = head_in(line);
    if (head)
      inside = head->rest.starts_with("warning") && wanted(head->file, std::stoi(head->line));
    else if (!line.starts_with(' '))
      inside = false;  // "Remark: …", "2 warnings generated."
    if (inside) text += line + "\n";
  }
  return text;
}

}  // namespace membound::report
