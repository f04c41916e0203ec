// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/ptx_errors.hpp"

#include <algorithm>

#include "grader/base/strings.hpp"

namespace membound::ptx {
namespace {

/// Long lines (data tables) are cut to a window around the column.
constexpr std::size_t kShownColumns = 110;

std::string_view line_of(std::string_view text, std::uint32_t line) {
  std::size_t start = 0;
  for (std::uint32_t i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n', start);
    if (end == std::string_view::npos) return {};
    start = end + 1;
  }
  return text.substr(start, text.find('\n', start) - start);
}

/// A tab as one blank, so that the caret below the line fits.
std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\t' || c == '\r'; }, ' ');
  return base::printable(line);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  return "'" + on_one_line(text.substr(0, kLongest)) + (text.size() > kLongest ? "…'" : "'");
}

}  // namespace

std::string with_caret(std::string_view text, std::string_view file_name, Position position,
                       std::string_view message) {
  std::string result = std::string(file_name) + ":" + std::to_string(position.line) + ":" +
                       std::to_string(position.column) + ": " + std::string(message);
  std::string_view line = line_of(text, position.line);
  std::size_t column = position.column == 0 ? 0 : position.column - 1;
  if (line.empty() || column > line.size()) return result;
  if (line.size() > kShownColumns) {
    const std::size_t start = column > kShownColumns / 2 ? column - kShownColumns / 2 : 0;
    line = line.substr(start, kShownColumns);
    column -= start;
  }
  const std::string before = on_one_line(line.substr(0, column));
  const auto letters = std::count_if(before.begin(), before.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // not the rest of a letter in UTF-8
  });
  return result + "\n  " + before + on_one_line(line.substr(column)) + "\n  " +
         std::string(static_cast<std::size_t>(letters), ' ') + "^";
}

namespace errors {

Diagnostic unexpected(const Token& token, std::string_view what) {
  std::string found;
  if (token.kind == TokenKind::kEnd) {
    found = "the text ends";
  } else if (token.kind == TokenKind::kString) {
    found = "a string";
  } else {
    found = quoted(token.text);
  }
  return {token.position, std::move(found), std::string(what), ""};
}

Diagnostic unknown_name(std::string_view name, Position position) {
  const bool is_register = name.starts_with('%');
  return {position, quoted(name) + " is not declared",
          is_register ? "a register of an enclosing .reg, or a special register of PTX"
                      : "a register, variable, function or label declared in this module",
          is_register ? "declare it with .reg in this function" : ""};
}

Diagnostic declared_twice(std::string_view name, Position position) {
  return {position, quoted(name) + " is declared a second time in the same scope",
          "every name once", "rename one of them, or put one into its own { }"};
}

Diagnostic not_a_predicate(std::string_view name, Position position) {
  return {position, quoted(name) + " guards an instruction", "a register of type .pred", ""};
}

Diagnostic unknown_directive(std::string_view name, Position position) {
  return {position, "directive " + quoted(name), "a directive of PTX ISA 9.0",
          "the virtual GPU reads PTX up to version 9.0; check the spelling"};
}

Diagnostic too_deep(Position position) {
  return {position, "brackets nested too deeply", "at most 64 levels", ""};
}

Diagnostic too_large(std::string_view what, std::string_view limit, Position position) {
  return {position, std::string(what) + " is too large", "at most " + std::string(limit), ""};
}

Diagnostic division_by_zero(Position position) {
  return {position, "a division by zero in a constant expression", "a divisor other than 0", ""};
}

Diagnostic too_many_initial_values(std::string_view name, Position position) {
  return {position, "more initial values than " + quoted(name) + " has elements",
          "at most one value per element", ""};
}

Diagnostic wrong_initial_value(std::string_view found, std::string_view type, Position position) {
  return {position, quoted(found) + " cannot initialise a value of type " + std::string(type),
          "a constant of that type, or an address in 8 bytes", ""};
}

Diagnostic not_ptx(Position position) {
  return {position, "the text does not begin as PTX", ".version before anything else",
          "make PTX with `nvcc -ptx` or `clang -x cuda --cuda-device-only -S`"};
}

Diagnostic unclosed_body(std::string_view function, Position position) {
  return {position, "the text ends inside the body of " + quoted(function), "'}'",
          "the file may have been cut off; make it again"};
}

base::Error as_error(const std::vector<Diagnostic>& diagnostics, std::string_view text,
                     std::string_view file_name) {
  const Diagnostic& first = diagnostics.front();
  base::Error error{base::ErrorKind::kInput};
  error.where = std::string(file_name) + ":" + std::to_string(first.position.line) + ":" +
                std::to_string(first.position.column);
  error.found = diagnostics.size() == 1
                    ? "the PTX has an error"
                    : "the PTX has " + std::to_string(diagnostics.size()) + " errors";
  if (diagnostics.size() >= kMaxDiagnostics) error.found += " or more";
  for (const Diagnostic& each : diagnostics) {
    std::string message = each.found;
    if (!each.expected.empty()) message += "; expected " + each.expected;
    error.found += "\n" + with_caret(text, file_name, each.position, message);
  }
  error.expected = first.expected;
  error.advice = first.advice.empty()
                     ? "make the PTX again with nvcc or clang; text written by hand "
                       "can be checked with `ptxas`"
                     : first.advice;
  return error;
}

}  // namespace errors
}  // namespace membound::ptx
