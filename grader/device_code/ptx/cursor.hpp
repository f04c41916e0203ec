// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One token of look-ahead, the list of diagnostics, and how to go on after an error. Internal to
/// ptx. The convention of all parsing functions: true means parsed; false means that a diagnostic
/// was recorded and the caller returns false as well, up to the statement loop, which recovers.
#pragma once

#include <string_view>
#include <vector>

#include "grader/device_code/ptx/lexer.hpp"
#include "grader/device_code/ptx/parser.hpp"

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

  /// After an error inside a body: moves behind the next ';', or in front of the next '}' or '{'.
  void skip_statement();
  /// After an error at module level: behind the next ';' or behind the next balanced { }.
  void skip_declaration();
  /// With '{' as the current token: moves behind its '}'. False when the text ends first.
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
