// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/cursor.hpp"

#include <string>
#include <utility>

#include "grader/device_code/ptx/ptx_errors.hpp"

namespace membound::ptx {

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
