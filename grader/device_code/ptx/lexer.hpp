// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// PTX text to tokens, the cursor by which all parsing functions move over them, and the texts of
/// all diagnostics. Internal to ptx. Source: PTX ISA 9.0, chapter "Syntax".
///
/// The convention of all parsing functions: true means parsed; false means that a diagnostic was
/// recorded and the caller returns false as well, up to the statement loop, which recovers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "grader/device_code/ptx/ast.hpp"
#include "grader/device_code/ptx/parser.hpp"

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

  /// Skips to just after the next line end.
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

namespace membound::ptx::errors {

/// What stands where something else should: "found ';'", expected `what`.
[[nodiscard]] Diagnostic unexpected(const Token& token, std::string_view what);
[[nodiscard]] Diagnostic unknown_name(std::string_view name, Position position);
[[nodiscard]] Diagnostic declared_twice(std::string_view name, Position position);
[[nodiscard]] Diagnostic not_a_predicate(std::string_view name, Position position);
[[nodiscard]] Diagnostic unknown_directive(std::string_view name, Position position);
[[nodiscard]] Diagnostic too_deep(Position position);
[[nodiscard]] Diagnostic too_large(std::string_view what, std::string_view limit,
                                   Position position);
[[nodiscard]] Diagnostic division_by_zero(Position position);
[[nodiscard]] Diagnostic too_many_initial_values(std::string_view name, Position position);
[[nodiscard]] Diagnostic wrong_initial_value(std::string_view found, std::string_view type,
                                             Position position);
[[nodiscard]] Diagnostic not_ptx(Position position);
[[nodiscard]] Diagnostic unclosed_body(std::string_view function, Position position);

/// All diagnostics as the one error parse() returns.
[[nodiscard]] base::Error as_error(const std::vector<Diagnostic>& diagnostics,
                                   std::string_view text, std::string_view file_name);

}  // namespace membound::ptx::errors

namespace membound::ptx {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : lexer_(text), token_(lexer_.next()) {}

  [[nodiscard]] const Token& token() const { return token_; }
  [[nodiscard]] bool at(char symbol) const {
    return token_.kind == TokenKind::kPunctuation &&
           token_.symbol == static_cast<std::uint8_t>(symbol);
  }
  [[nodiscard]] bool at(TokenKind kind) const { return token_.kind == kind; }
  [[nodiscard]] bool at_word(std::string_view word) const {
    return token_.kind == TokenKind::kDotWord && token_.text == word;
  }
  [[nodiscard]] bool at_name(std::string_view name) const {
    return token_.kind == TokenKind::kIdentifier && token_.text == name;
  }

  /// The current token; moves on.
  Token take() {
    const Token taken = token_;
    token_ = lexer_.next();
    return taken;
  }
  bool accept(char symbol) { return at(symbol) ? (take(), true) : false; }
  bool accept_word(std::string_view word) { return at_word(word) ? (take(), true) : false; }
  bool accept_name(std::string_view name) { return at_name(name) ? (take(), true) : false; }

  /// Takes `symbol`, or records what stands there instead.
  bool expect(char symbol);
  /// Takes an identifier into `name`.
  bool expect_name(std::string_view& name, std::string_view what);
  /// Takes a non-negative integer into `value`.
  bool expect_integer(std::uint64_t& value, std::string_view what);

  /// The character after the current token and white space.
  [[nodiscard]] char after() { return lexer_.peek(); }
  /// True when a '.' follows the current token directly: `%tid.x`, `ld.global`.
  [[nodiscard]] bool dot_touches() const { return lexer_.touches(); }

  /// Records a diagnostic; always false.
  bool fail(Diagnostic diagnostic);
  /// fail() with "found the current token, expected `what`".
  bool fail_expected(std::string_view what);
  /// True once no more diagnostics are taken: parsing ends.
  [[nodiscard]] bool stopped() const { return diagnostics_.size() >= kMaxDiagnostics; }

  /// After an error inside a body: moves after the next ';', or in front of the next '}' or '{'.
  void skip_statement();
  /// After an error at module level: after the next ';' or after the next balanced { }.
  void skip_declaration();
  /// With '{' as the current token: moves past its '}'. False when the text ends first.
  bool skip_braces();
  /// Drops the rest of the current line.
  void skip_line();

  [[nodiscard]] std::vector<Diagnostic>& diagnostics() { return diagnostics_; }

 private:
  Lexer lexer_;
  Token token_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace membound::ptx
