// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/lexer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <string>
#include <utility>

#include "grader/base/strings.hpp"

namespace membound::ptx {
namespace {

enum CharacterClass : std::uint8_t { kOther, kSpace, kDigit, kNameStart, kNameMark };

constexpr std::array<CharacterClass, 256> kClasses = [] {
  std::array<CharacterClass, 256> classes{};
  for (char c : {' ', '\t', '\r', '\n', '\f', '\v'}) classes[static_cast<std::uint8_t>(c)] = kSpace;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kDigit;
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = kNameStart;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = kNameStart;
  classes['_'] = classes['$'] = kNameStart;
  classes['%'] = kNameMark;  // starts a register's name, or is the remainder operator
  return classes;
}();

CharacterClass class_of(char c) { return kClasses[static_cast<std::uint8_t>(c)]; }

bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::string_view between(const char* first, const char* last) {
  return {first, static_cast<std::size_t>(last - first)};
}

/// Exactly `count` hexadecimal digits starting at `first`: the form of 0f… and 0d….
bool has_hex_digits(const char* first, const char* end, int count) {
  if (end - first < count) return false;
  for (int i = 0; i < count; ++i) {
    if (!is_hex_digit(first[i])) return false;
  }
  return true;
}

}  // namespace

bool is_name_character(char c) { return class_of(c) == kNameStart || class_of(c) == kDigit; }

Lexer::Lexer(std::string_view text)
    : at_(text.data()), end_(text.data() + text.size()), line_start_(text.data()) {}

void Lexer::skip_block_comment() {
  at_ += 2;
  while (at_ != end_ && !(at_[0] == '*' && at_[1] == '/')) {
    if (*at_++ == '\n') {
      ++line_;
      line_start_ = at_;
    }
  }
  at_ = at_ == end_ ? end_ : at_ + 2;
}

void Lexer::skip_line() {
  while (at_ != end_ && *at_ != '\n') ++at_;
}

void Lexer::skip_space() {
  while (at_ != end_) {
    if (class_of(*at_) == kSpace) {
      if (*at_++ == '\n') {
        ++line_;
        line_start_ = at_;
      }
    } else if (at_[0] == '/' && at_[1] == '/') {
      skip_line();
    } else if (at_[0] == '/' && at_[1] == '*') {
      skip_block_comment();
    } else {
      return;
    }
  }
}

char Lexer::peek() {
  skip_space();
  return at_ == end_ ? '\0' : *at_;
}

Token Lexer::next() {
  skip_space();
  Token token;
  token.position = {line_, static_cast<std::uint32_t>(at_ - line_start_) + 1};
  if (at_ == end_) return token;
  const char* const first = at_;
  const CharacterClass kind = class_of(*at_);
  if (kind == kNameStart || (kind == kNameMark && class_of(at_[1]) == kNameStart)) {
    ++at_;
    while (is_name_character(*at_)) ++at_;
    token.kind = TokenKind::kIdentifier;
    token.text = between(first, at_);
    return token;
  }
  if (*at_ == '.') {
    ++at_;
    while (is_name_character(*at_) ||
           (at_[0] == ':' && at_[1] == ':' && is_name_character(at_[2]))) {
      at_ += *at_ == ':' ? 2 : 1;
    }
    token.kind = at_ == first + 1 ? TokenKind::kBad : TokenKind::kDotWord;
    token.text = between(first, at_);
    return token;
  }
  if (kind == kDigit) return number(token);
  if (*at_ == '"') return string(token);
  return punctuation(token);
}

Token Lexer::string(Token token) {
  const char* const first = ++at_;
  while (at_ != end_ && *at_ != '"' && *at_ != '\n') {
    at_ += at_[0] == '\\' && at_ + 1 != end_ && at_[1] != '\n' ? 2 : 1;
  }
  token.text = between(first, at_);
  token.kind = at_ != end_ && *at_ == '"' ? TokenKind::kString : TokenKind::kBad;
  if (token.kind == TokenKind::kString) ++at_;
  return token;
}

Token Lexer::decimal_float(Token token) {
  const char* const first = at_;
  double value = 0;
  const auto [last, error] = std::from_chars(first, end_, value);
  at_ = last == first ? first + 1 : last;
  token.text = between(first, at_);
  token.kind = error == std::errc() ? TokenKind::kFloat64 : TokenKind::kBad;
  token.bits = std::bit_cast<std::uint64_t>(value);
  return token;
}

Token Lexer::number(Token token) {
  const char* const first = at_;
  int base = 10;
  if (at_[0] == '0' && (at_[1] == 'f' || at_[1] == 'F') && has_hex_digits(at_ + 2, end_, 8)) {
    token.kind = TokenKind::kFloat32;
    std::from_chars(at_ + 2, at_ + 10, token.bits, 16);
    at_ += 10;
    token.text = between(first, at_);
    return token;
  }
  if (at_[0] == '0' && (at_[1] == 'd' || at_[1] == 'D') && has_hex_digits(at_ + 2, end_, 16)) {
    token.kind = TokenKind::kFloat64;
    std::from_chars(at_ + 2, at_ + 18, token.bits, 16);
    at_ += 18;
    token.text = between(first, at_);
    return token;
  }
  if (at_[0] == '0' && (at_[1] == 'x' || at_[1] == 'X')) {
    base = 16, at_ += 2;
  } else if (at_[0] == '0' && (at_[1] == 'b' || at_[1] == 'B')) {
    base = 2, at_ += 2;
  } else {
    const char* after = at_;
    while (class_of(*after) == kDigit) ++after;
    const bool exponent = (*after == 'e' || *after == 'E') &&
                          (class_of(after[1]) == kDigit ||
                           ((after[1] == '-' || after[1] == '+') && class_of(after[2]) == kDigit));
    if (*after == '.' || exponent) return decimal_float(token);
    if (at_[0] == '0' && after != at_ + 1) base = 8, ++at_;
  }
  const auto [last, error] = std::from_chars(at_, end_, token.bits, base);
  const bool read = last != at_ && error == std::errc();
  at_ = last;
  if (*at_ == 'U') token.is_unsigned = true, ++at_;
  const bool clean = read && !is_name_character(*at_);
  while (is_name_character(*at_)) ++at_;
  token.kind = clean ? TokenKind::kInteger : TokenKind::kBad;
  token.is_unsigned |= token.bits > std::uint64_t{INT64_MAX};
  token.text = between(first, at_);
  return token;
}

Token Lexer::punctuation(Token token) {
  static constexpr struct {
    char first, second;
    std::uint8_t symbol;
  } kPairs[] = {{'<', '<', kShiftLeft}, {'>', '>', kShiftRight},  {'&', '&', kAndAnd},
                {'|', '|', kOrOr},      {'=', '=', kEqual},       {'!', '=', kNotEqual},
                {'<', '=', kLessEqual}, {'>', '=', kGreaterEqual}};
  const char* const first = at_;
  token.kind = TokenKind::kPunctuation;
  token.symbol = static_cast<std::uint8_t>(*at_++);
  for (const auto& pair : kPairs) {
    if (first[0] == pair.first && first[1] == pair.second) {
      token.symbol = pair.symbol;
      ++at_;
      break;
    }
  }
  token.text = between(first, at_);
  if (std::strchr(",;:{}[]()@!|+-*/%<>=~&^?", first[0]) == nullptr || first[0] == '\0') {
    token.kind = TokenKind::kBad;
  }
  return token;
}

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
                    : "the PTX has " + base::counted(diagnostics.size(), "error");
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

bool Cursor::expect(char symbol) {
  if (accept(symbol)) return true;
  return fail_expected(std::string("'") + symbol + "'");
}

bool Cursor::expect_name(std::string_view& name, std::string_view what) {
  if (!at(TokenKind::kIdentifier)) return fail_expected(what);
  name = take().text;
  return true;
}

bool Cursor::expect_integer(std::uint64_t& value, std::string_view what) {
  if (!at(TokenKind::kInteger)) return fail_expected(what);
  value = take().bits;
  return true;
}

bool Cursor::fail(Diagnostic diagnostic) {
  if (!stopped()) diagnostics_.push_back(std::move(diagnostic));
  return false;
}

bool Cursor::fail_expected(std::string_view what) { return fail(errors::unexpected(token_, what)); }

void Cursor::skip_statement() {
  while (!at(TokenKind::kEnd) && !at('}') && !at('{')) {
    if (accept(';')) return;
    take();
  }
}

void Cursor::skip_declaration() {
  while (!at(TokenKind::kEnd)) {
    if (at('{')) {
      skip_braces();
      if (!at(';')) return;
    }
    if (accept(';')) return;
    take();
  }
}

bool Cursor::skip_braces() {
  std::size_t depth = 0;
  do {
    if (at(TokenKind::kEnd)) return false;
    if (at('{')) ++depth;
    if (at('}')) --depth;
    take();
  } while (depth > 0);
  return true;
}

void Cursor::skip_line() {
  lexer_.skip_line();
  token_ = lexer_.next();
}

}  // namespace membound::ptx
