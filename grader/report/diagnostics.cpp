// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/diagnostics.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace membound::report {
namespace {

namespace fs = std::filesystem;

std::string shown(const std::string& file) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error || !fs::path(file).is_absolute()) return file;
  const std::string below = fs::path(file).lexically_relative(here).generic_string();
  return below.empty() || below.starts_with("..") ? file : below;
}

/// One line of a compiler.
std::string with_place(std::string_view line) {
  const auto close = line.find("): ");
  const auto open = line.rfind('(', close);
  const std::string same(line);
  if (close == std::string_view::npos || open == std::string_view::npos || open == 0) return same;
  const std::string_view number = line.substr(open + 1, close - open - 1);
  const std::string_view rest = line.substr(close + 3);
  if (number.empty() || !std::all_of(number.begin(), number.end(),
                                     [](unsigned char c) { return std::isdigit(c) != 0; }))
    return same;
  if (!rest.starts_with("error") && !rest.starts_with("warning")) return same;
  return shown(std::string(line.substr(0, open))) + ":" + std::string(number) +
         ":1: " + std::string(rest);
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

}  // namespace membound::report
