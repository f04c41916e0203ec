// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/parser_parts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "grader/device_code/ptx/lexer.hpp"

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
      return cursor.fail(errors::unexpected(operation, "an integer after this operator"));
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

namespace {

constexpr std::uint64_t kWholeAddress = ~std::uint64_t{0};

double as_double(const Constant& value) {
  if (value.kind == TokenKind::kFloat64) return std::bit_cast<double>(value.bits);
  if (value.kind == TokenKind::kFloat32) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits));
  }
  return value.is_unsigned ? static_cast<double>(value.bits)
                           : static_cast<double>(static_cast<std::int64_t>(value.bits));
}

/// The bits to store for `value` in a variable of type `type`; nothing when they do not fit
/// together.
std::optional<std::uint64_t> bits_for(ScalarType type, const Constant& value) {
  if (type == ScalarType::kF64) {
    return value.kind == TokenKind::kFloat64 ? value.bits
                                             : std::bit_cast<std::uint64_t>(as_double(value));
  }
  if (type == ScalarType::kF32) {
    if (value.kind == TokenKind::kFloat32) return value.bits;
    return std::bit_cast<std::uint32_t>(static_cast<float>(as_double(value)));
  }
  if (value.kind == TokenKind::kInteger) return value.bits;
  const bool same_width = size_bytes(type) == (value.kind == TokenKind::kFloat32 ? 4 : 8);
  const bool untyped = type == ScalarType::kB32 || type == ScalarType::kB64;
  return same_width && untyped ? std::optional(value.bits) : std::nullopt;
}

}  // namespace

InitializerParser::InitializerParser(Cursor& cursor, Variable& variable, std::uint64_t limit_bytes)
    : cursor_(cursor),
      variable_(variable),
      limit_bytes_(limit_bytes),
      element_bytes_(size_bytes(variable.type)),
      open_ended_(variable.is_array && variable.dimensions.front() == 0) {
  std::vector<std::uint64_t> shape = variable.dimensions;
  if (variable.vector_width > 1) shape.push_back(variable.vector_width);
  block_.assign(shape.size() + 1, 1);
  for (std::size_t level = shape.size(); level-- > 0;) {
    block_[level] = block_[level + 1] * shape[level];
  }
}

/// initializer := element | '{' … '}'
bool InitializerParser::parse() {
  const Position position = cursor_.token().position;
  variable_.has_initial = true;
  if (variable_.type == ScalarType::kTexref || variable_.type == ScalarType::kSamplerref ||
      variable_.type == ScalarType::kSurfref) {
    // Settings of a texture reference of old PTX; references went away with CUDA 12.
    return cursor_.at('{') ? cursor_.skip_braces() : cursor_.fail_expected("'{'");
  }
  if (!open_ended_ && variable_.size_bytes > limit_bytes_) {
    return cursor_.fail(errors::too_large("the initial value", "2^28 bytes", position));
  }
  variable_.initial.resize(variable_.size_bytes);
  if (cursor_.accept('{') ? !parse_list(0, 0) : !parse_element(0)) return false;
  if (open_ended_) {
    const std::uint64_t item_bytes = block_.size() > 1 ? block_[1] * element_bytes_ : 0;
    if (item_bytes == 0) return cursor_.fail(errors::too_large("the array", "2^40", position));
    const std::uint64_t items = (variable_.initial.size() + item_bytes - 1) / item_bytes;
    if (items * item_bytes > limit_bytes_) {
      return cursor_.fail(errors::too_large("the initial value", "2^28 bytes", position));
    }
    variable_.dimensions.front() = items;
    variable_.size_bytes = items * item_bytes;
    variable_.initial.resize(variable_.size_bytes);
  }
  return true;
}

/// Behind '{': values one after the other, an inner '{ }' filling one item of the next level.
bool InitializerParser::parse_list(std::size_t level, std::uint64_t first) {
  std::uint64_t index = first;
  const bool is_open = level == 0 && open_ended_;
  while (!cursor_.at('}')) {
    const Position position = cursor_.token().position;
    if (!is_open && index - first >= block_[level]) {
      return cursor_.fail(errors::too_many_initial_values(variable_.name, position));
    }
    if (cursor_.at('{')) {
      if (level + 1 >= block_.size()) {
        return cursor_.fail(errors::too_deep(position));
      }
      cursor_.take();
      if (!parse_list(level + 1, index)) return false;
      index += block_[level + 1];
    } else {
      if (!parse_element(index)) return false;
      ++index;
    }
    if (!cursor_.accept(',')) break;
  }
  return cursor_.expect('}');
}

bool InitializerParser::make_room(std::uint64_t index, Position position) {
  if (element_bytes_ == 0 || index >= limit_bytes_ / element_bytes_) {
    return cursor_.fail(errors::too_large("the initial value", "2^28 bytes", position));
  }
  const std::uint64_t end = (index + 1) * element_bytes_;
  if (end <= variable_.initial.size()) return true;
  if (!open_ended_) return cursor_.fail(errors::too_many_initial_values(variable_.name, position));
  variable_.initial.resize(end);
  return true;
}

/// element := constant | mask '(' address ')' | address
bool InitializerParser::parse_element(std::uint64_t index) {
  const Token token = cursor_.token();
  if (!make_room(index, token.position)) return false;
  if (!begins_constant(cursor_, true) && !cursor_.at('!'))
    return parse_address(index, kWholeAddress);
  Constant value;
  if (!parse_constant(cursor_, value)) return false;
  if (!cursor_.accept('(')) return store(index, value, token);
  return parse_address(index, value.bits) && cursor_.expect(')');
}

bool InitializerParser::store(std::uint64_t index, const Constant& value, const Token& token) {
  const auto bits = bits_for(variable_.type, value);
  if (!bits) {
    return cursor_.fail(
        errors::wrong_initial_value(token.text, to_string(variable_.type), token.position));
  }
  const std::size_t bytes = std::min<std::size_t>(element_bytes_, sizeof *bits);
  std::memcpy(variable_.initial.data() + index * element_bytes_, &*bits, bytes);
  return true;
}

/// address := name { ± term } | 'generic' '(' name { ± term } ')' { ± term }
bool InitializerParser::parse_address(std::uint64_t index, std::uint64_t mask) {
  Relocation relocation;
  const Position position = cursor_.token().position;
  if (cursor_.at_name("generic")) {
    cursor_.take();
    relocation.generic = true;
    if (!cursor_.expect('(')) return false;
  }
  std::uint64_t offset = 0;
  if (!cursor_.expect_name(relocation.target.name, "a constant or the name of a variable") ||
      !parse_offsets(cursor_, offset)) {
    return false;
  }
  if (relocation.generic && (!cursor_.expect(')') || !parse_offsets(cursor_, offset))) return false;
  relocation.offset_bytes = index * element_bytes_;
  relocation.addend = static_cast<std::int64_t>(offset);
  relocation.size_bytes = element_bytes_;
  if (mask != kWholeAddress) {
    relocation.shift_bits = mask == 0 ? 64 : static_cast<std::uint32_t>(std::countr_zero(mask));
    if (relocation.shift_bits > 56 || mask >> relocation.shift_bits != 0xFF) {
      return cursor_.fail({position, "a mask that picks no single byte",
                           "0xFF, 0xFF00, … up to 0xFF00000000000000", ""});
    }
    relocation.size_bytes = 1;
  } else if (element_bytes_ != 8 && element_bytes_ != 4) {
    return cursor_.fail(
        errors::wrong_initial_value(relocation.target.name, to_string(variable_.type), position));
  }
  variable_.relocations.push_back(relocation);
  return true;
}

}  // namespace membound::ptx
