// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/lexer.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>

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

}  // namespace membound::ptx
