// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Constant expressions, and the initial values of variables that are made of them. Internal to
/// ptx.
/// Source: PTX ISA 9.0, "Constants", "Constant Expressions", "Initializers".
#pragma once

#include <cstdint>
#include <vector>

#include "grader/device_code/ptx/lexer.hpp"

namespace membound::ptx {

struct Constant {
  TokenKind kind = TokenKind::kInteger;  ///< kInteger, kFloat32 or kFloat64
  std::uint64_t bits = 0;
  bool is_unsigned = false;
};

/// True when the current token can begin a constant expression (a bracket counts only if
/// `bracket`).
[[nodiscard]] bool begins_constant(const Cursor& cursor, bool bracket);

/// A whole expression.
bool parse_constant(Cursor& cursor, Constant& value);

/// One term with its signs, no binary operator: what may follow the '+' of an address.
bool parse_term(Cursor& cursor, Constant& value);

/// `+ 8 - 4 …` after a symbol or register: adds the terms to `offset`.
bool parse_offsets(Cursor& cursor, std::uint64_t& offset);

/// Reads what stands after the '='. The names of relocations are not resolved: the parser does it
/// at the end of the module, when every function is known.
class InitializerParser {
 public:
  /// At most `limit_bytes` of initial value are accepted.
  InitializerParser(Cursor& cursor, Variable& variable, std::uint64_t limit_bytes);

  bool parse();

 private:
  bool parse_list(std::size_t level, std::uint64_t first);
  bool parse_element(std::uint64_t index);
  bool parse_address(std::uint64_t index, std::uint64_t mask);
  bool store(std::uint64_t index, const Constant& value, const Token& token);
  bool make_room(std::uint64_t index, Position position);

  Cursor& cursor_;
  Variable& variable_;
  std::uint64_t limit_bytes_;
  std::uint32_t element_bytes_;
  bool open_ended_;                   ///< `[]`: the number of values decides
  std::vector<std::uint64_t> block_;  ///< elements in one item of each level of braces
};

}  // namespace membound::ptx
