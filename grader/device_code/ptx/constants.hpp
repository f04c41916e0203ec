// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Constant expressions: `42`, `-0f3F800000`, `(1 << 4) | 3`, `WARP_SZ * 2`. Internal to ptx.
/// Source: PTX ISA 9.0, "Constants" and "Constant Expressions". Left out: arithmetic on floating
/// constants beyond a sign, which no compiler emits.
#pragma once

#include <cstdint>

#include "grader/device_code/ptx/cursor.hpp"

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

/// `+ 8 - 4 …` behind a symbol or register: adds the terms to `offset`.
bool parse_offsets(Cursor& cursor, std::uint64_t& offset);

}  // namespace membound::ptx
