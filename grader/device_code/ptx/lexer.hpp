// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// PTX text to tokens, one at a time. Internal to ptx.
/// Comments and white space disappear here. Source: PTX ISA 9.0, chapter "Syntax".
#pragma once

#include <cstdint>
#include <string_view>

#include "grader/device_code/ptx/ast.hpp"

namespace membound::ptx {

enum class TokenKind : std::uint8_t {
  kEnd,
  kIdentifier,   ///< name, %r1, $L__BB0_1, _
  kDotWord,      ///< .global, .v2, .shared::cta: `text` has the dot
  kInteger,      ///< `bits`
  kFloat32,      ///< `bits`, 0f…
  kFloat64,      ///< `bits`, 0d… or decimal
  kString,       ///< `text` without quotes
  kPunctuation,  ///< `symbol`
  kBad           ///< cannot start or finish a token; `text` is what was read
};

/// Operators of two characters get a symbol of their own beyond ASCII.
enum : std::uint8_t {
  kShiftLeft = 128,
  kShiftRight,
  kAndAnd,
  kOrOr,
  kEqual,
  kNotEqual,
  kLessEqual,
  kGreaterEqual
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::uint8_t symbol = 0;  ///< the character, or one of the codes above
  bool is_unsigned = false;
  std::string_view text = {};
  std::uint64_t bits = 0;
  Position position = {};
};

/// Reads tokens from a text that must outlive it and is followed by a zero byte.
class Lexer {
 public:
  explicit Lexer(std::string_view text);

  /// The next token; kEnd for ever at the end.
  Token next();

  /// The first character of the next token, without reading it; 0 at the end.
  char peek();

  /// True when the next character follows the last token without white space.
  [[nodiscard]] bool touches() const { return *at_ == '.'; }

  /// Skips to just behind the next line end.
  void skip_line();

 private:
  void skip_space();
  void skip_block_comment();
  Token number(Token token);
  Token decimal_float(Token token);
  Token string(Token token);
  Token punctuation(Token token);

  const char* at_;
  const char* end_;
  const char* line_start_;
  std::uint32_t line_ = 1;
};

/// The characters of a name after its first.
[[nodiscard]] bool is_name_character(char c);

}  // namespace membound::ptx
