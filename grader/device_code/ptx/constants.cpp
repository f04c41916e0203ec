// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/constants.hpp"

#include "grader/device_code/ptx/ptx_errors.hpp"

namespace membound::ptx {
namespace {

constexpr int kMaxExpressionDepth = 64;
constexpr std::uint64_t kWarpSize = 32;

/// Binding strength of a binary operator, as in C; 0 for anything else.
int precedence_of(const Cursor& cursor) {
  if (!cursor.at(TokenKind::kPunctuation)) return 0;
  switch (cursor.token().symbol) {
    case kOrOr:
      return 1;
    case kAndAnd:
      return 2;
    case '|':
      return 3;
    case '^':
      return 4;
    case '&':
      return 5;
    case kEqual:
    case kNotEqual:
      return 6;
    case '<':
    case '>':
    case kLessEqual:
    case kGreaterEqual:
      return 7;
    case kShiftLeft:
    case kShiftRight:
      return 8;
    case '+':
    case '-':
      return 9;
    case '*':
    case '/':
    case '%':
      return 10;
    default:
      return 0;
  }
}

std::int64_t as_signed(const Constant& value) { return static_cast<std::int64_t>(value.bits); }

bool less(const Constant& a, const Constant& b, bool is_unsigned) {
  return is_unsigned ? a.bits < b.bits : as_signed(a) < as_signed(b);
}

std::uint64_t shift(const Constant& value, std::uint64_t count, bool left) {
  if (left) return count > 63 ? 0 : value.bits << count;
  if (value.is_unsigned) return count > 63 ? 0 : value.bits >> count;
  return static_cast<std::uint64_t>(as_signed(value) >> (count > 63 ? 63 : count));
}

/// Quotient or remainder; the one signed overflow (minimum by -1) wraps like the hardware's.
std::uint64_t divide(const Constant& a, const Constant& b, bool is_unsigned, bool remainder) {
  if (is_unsigned) return remainder ? a.bits % b.bits : a.bits / b.bits;
  if (as_signed(b) == -1) return remainder ? 0 : 0 - a.bits;
  const std::int64_t result = remainder ? as_signed(a) % as_signed(b) : as_signed(a) / as_signed(b);
  return static_cast<std::uint64_t>(result);
}

/// `a operator b`; a zero divisor was excluded by the caller.
Constant combine(const Constant& a, std::uint8_t symbol, const Constant& b) {
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  const auto integer = [&](std::uint64_t bits) {
    return Constant{TokenKind::kInteger, bits, is_unsigned};
  };
  const auto truth = [](bool value) {
    return Constant{TokenKind::kInteger, value ? 1u : 0u, false};
  };
  switch (symbol) {
    case kOrOr:
      return truth(a.bits != 0 || b.bits != 0);
    case kAndAnd:
      return truth(a.bits != 0 && b.bits != 0);
    case '|':
      return integer(a.bits | b.bits);
    case '^':
      return integer(a.bits ^ b.bits);
    case '&':
      return integer(a.bits & b.bits);
    case kEqual:
      return truth(a.bits == b.bits);
    case kNotEqual:
      return truth(a.bits != b.bits);
    case '<':
      return truth(less(a, b, is_unsigned));
    case '>':
      return truth(less(b, a, is_unsigned));
    case kLessEqual:
      return truth(!less(b, a, is_unsigned));
    case kGreaterEqual:
      return truth(!less(a, b, is_unsigned));
    case kShiftLeft:
      return {TokenKind::kInteger, shift(a, b.bits, true), a.is_unsigned};
    case kShiftRight:
      return {TokenKind::kInteger, shift(a, b.bits, false), a.is_unsigned};
    case '+':
      return integer(a.bits + b.bits);
    case '-':
      return integer(a.bits - b.bits);
    case '*':
      return integer(a.bits * b.bits);
    default:
      return integer(divide(a, b, is_unsigned, symbol == '%'));
  }
}

bool parse_unary(Cursor& cursor, Constant& value, int depth);
bool parse_conditional(Cursor& cursor, Constant& value, int depth);

/// binary := unary { operator binary of higher precedence }
bool parse_binary(Cursor& cursor, Constant& value, int weakest, int depth) {
  if (!parse_unary(cursor, value, depth)) return false;
  for (int strength = precedence_of(cursor); strength >= weakest && strength > 0;
       strength = precedence_of(cursor)) {
    const Token operation = cursor.take();
    Constant right;
    if (!parse_binary(cursor, right, strength + 1, depth + 1)) return false;
    if (value.kind != TokenKind::kInteger || right.kind != TokenKind::kInteger) {
      return cursor.fail(errors::unexpected(operation, "no arithmetic on floating constants"));
    }
    if ((operation.symbol == '/' || operation.symbol == '%') && right.bits == 0) {
      return cursor.fail(errors::division_by_zero(operation.position));
    }
    value = combine(value, operation.symbol, right);
  }
  return true;
}

bool negate(Constant& value) {
  if (value.kind == TokenKind::kFloat32) {
    value.bits ^= std::uint64_t{1} << 31;
  } else if (value.kind == TokenKind::kFloat64) {
    value.bits ^= std::uint64_t{1} << 63;
  } else {
    value.bits = 0 - value.bits;
    value.is_unsigned = false;
  }
  return true;
}

/// '(' [.s64 | .u64 ')' unary] expression ')'
bool parse_bracket(Cursor& cursor, Constant& value, int depth) {
  if (cursor.at_word(".s64") || cursor.at_word(".u64")) {
    const bool is_unsigned = cursor.take().text == ".u64";
    if (!cursor.expect(')') || !parse_unary(cursor, value, depth + 1)) return false;
    value.is_unsigned = is_unsigned;
    return true;
  }
  return parse_conditional(cursor, value, depth + 1) && cursor.expect(')');
}

/// unary := ('-' | '+' | '!' | '~') unary | '(' expression ')' | literal | WARP_SZ
bool parse_unary(Cursor& cursor, Constant& value, int depth) {
  if (depth > kMaxExpressionDepth) return cursor.fail(errors::too_deep(cursor.token().position));
  if (cursor.accept('-')) return parse_unary(cursor, value, depth + 1) && negate(value);
  if (cursor.accept('+')) return parse_unary(cursor, value, depth + 1);
  if (cursor.at('!') || cursor.at('~')) {
    const Token operation = cursor.take();
    if (!parse_unary(cursor, value, depth + 1)) return false;
    if (value.kind != TokenKind::kInteger) {
      return cursor.fail(errors::unexpected(operation, "an integer behind this operator"));
    }
    value.bits =
        operation.symbol == '~' ? ~value.bits : static_cast<std::uint64_t>(value.bits == 0);
    return true;
  }
  if (cursor.accept('(')) return parse_bracket(cursor, value, depth);
  if (cursor.accept_name("WARP_SZ")) {
    value = {TokenKind::kInteger, kWarpSize, false};
    return true;
  }
  if (cursor.at(TokenKind::kInteger) || cursor.at(TokenKind::kFloat32) ||
      cursor.at(TokenKind::kFloat64)) {
    const Token literal = cursor.take();
    value = {literal.kind, literal.bits, literal.is_unsigned};
    return true;
  }
  return cursor.fail_expected("a constant");
}

/// conditional := binary [ '?' conditional ':' conditional ]
bool parse_conditional(Cursor& cursor, Constant& value, int depth) {
  if (!parse_binary(cursor, value, 1, depth)) return false;
  if (!cursor.accept('?')) return true;
  Constant if_true, if_false;
  if (!parse_conditional(cursor, if_true, depth + 1) || !cursor.expect(':') ||
      !parse_conditional(cursor, if_false, depth + 1)) {
    return false;
  }
  value = value.bits != 0 ? if_true : if_false;
  return true;
}

}  // namespace

bool begins_constant(const Cursor& cursor, bool bracket) {
  switch (cursor.token().kind) {
    case TokenKind::kInteger:
    case TokenKind::kFloat32:
    case TokenKind::kFloat64:
      return true;
    case TokenKind::kIdentifier:
      return cursor.token().text == "WARP_SZ";
    case TokenKind::kPunctuation:
      return cursor.at('-') || cursor.at('+') || cursor.at('~') || (bracket && cursor.at('('));
    default:
      return false;
  }
}

bool parse_constant(Cursor& cursor, Constant& value) { return parse_conditional(cursor, value, 0); }

bool parse_term(Cursor& cursor, Constant& value) { return parse_binary(cursor, value, 10, 0); }

bool parse_offsets(Cursor& cursor, std::uint64_t& offset) {
  while (cursor.at('+') || cursor.at('-')) {
    const bool minus = cursor.take().symbol == '-';
    const Token start = cursor.token();
    Constant term;
    if (!parse_term(cursor, term)) return false;
    if (term.kind != TokenKind::kInteger) {
      return cursor.fail(errors::unexpected(start, "a number of bytes"));
    }
    offset = minus ? offset - term.bits : offset + term.bits;
  }
  return true;
}

}  // namespace membound::ptx
