// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/parser_parts.hpp"

#include "grader/device_code/ptx/lexer.hpp"

namespace membound::ptx {
namespace {

constexpr int kMaxDepth = 64;

/// From the start of `first` to the end of `last`; both are views of the same text.
std::string_view joined(std::string_view first, std::string_view last) {
  return {first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data())};
}

OperandKind kind_of(TokenKind constant) {
  if (constant == TokenKind::kFloat32) return OperandKind::kFloat32;
  if (constant == TokenKind::kFloat64) return OperandKind::kFloat64;
  return OperandKind::kInteger;
}

bool is_register(const Reference& reference) {
  return reference.kind == ReferenceKind::kRegister ||
         reference.kind == ReferenceKind::kSpecialRegister;
}

void resolve_in(std::span<const Operand> operands, std::string_view name, Reference reference) {
  for (const Operand& operand : operands) {
    resolve_in(operand.children, name, reference);
    if (operand.reference.kind == ReferenceKind::kNone && operand.reference.name == name) {
      // The storage made these operands as mutable objects; only the span is const.
      const_cast<Operand&>(operand).reference = reference;
    }
  }
}

}  // namespace

void InstructionParser::resolve(const Instruction& instruction, std::string_view name,
                                Reference reference) {
  resolve_in(instruction.operands, name, reference);
}

/// instruction := [ '@' ['!'] register ] opcode { suffix } [ operand { ',' operand } ] ';'
bool InstructionParser::parse(Instruction& instruction) {
  unresolved_.clear();
  scratch_.clear();
  if (cursor_.at('@') && !parse_guard(instruction)) return false;
  if (!cursor_.at(TokenKind::kIdentifier)) return cursor_.fail_expected("an instruction");
  parse_opcode(instruction);
  is_call_ = instruction.opcode == "call";
  if (!cursor_.at(';')) {
    do {
      Operand operand;
      if (!parse_operand(operand, 0)) return false;
      scratch_.push_back(operand);
    } while (cursor_.accept(','));
  }
  if (!cursor_.at(';')) return cursor_.fail_expected("',' or ';'");
  cursor_.take();
  instruction.operands = storage_.keep(std::span<const Operand>(scratch_));
  return true;
}

bool InstructionParser::parse_guard(Instruction& instruction) {
  cursor_.take();
  instruction.guard_negated = cursor_.accept('!');
  const Position position = cursor_.token().position;
  std::string_view name;
  if (!cursor_.expect_name(name, "a predicate register")) return false;
  const Reference reference = names_.find(name);
  if (reference.kind == ReferenceKind::kNone) {
    return cursor_.fail(errors::unknown_name(name, position));
  }
  if (reference.kind != ReferenceKind::kRegister) {
    return cursor_.fail(errors::not_a_predicate(name, position));
  }
  instruction.guard = reference.index;
  return true;
}

void InstructionParser::parse_opcode(Instruction& instruction) {
  const Token opcode = cursor_.take();
  instruction.position = opcode.position;
  instruction.opcode = opcode.text;
  suffixes_.clear();
  while (cursor_.at(TokenKind::kDotWord)) suffixes_.push_back(cursor_.take().text);
  instruction.mnemonic = suffixes_.empty() ? opcode.text : joined(opcode.text, suffixes_.back());
  instruction.suffixes = storage_.keep(std::span<const std::string_view>(suffixes_));
}

/// operand := single [ '|' single ]
bool InstructionParser::parse_operand(Operand& operand, int depth) {
  operand.position = cursor_.token().position;
  if (!parse_single(operand, depth)) return false;
  if (!cursor_.accept('|')) return true;
  Operand pair[2] = {operand, {}};
  pair[1].position = cursor_.token().position;
  if (!parse_single(pair[1], depth)) return false;
  operand = Operand{};
  operand.kind = OperandKind::kPair;
  operand.position = pair[0].position;
  operand.children = storage_.keep(std::span<const Operand>(pair));
  return true;
}

bool InstructionParser::parse_single(Operand& operand, int depth) {
  if (depth > kMaxDepth) return cursor_.fail(errors::too_deep(cursor_.token().position));
  if (cursor_.at('{')) return parse_group(operand, OperandKind::kVector, '}', depth);
  if (cursor_.at('[')) return parse_brackets(operand, depth);
  if (cursor_.at('(') && is_call_) return parse_group(operand, OperandKind::kList, ')', depth);
  if (cursor_.at('!')) return parse_not(operand);
  if (begins_constant(cursor_, true)) return parse_constant_operand(operand);
  if (!cursor_.at(TokenKind::kIdentifier)) return cursor_.fail_expected("an operand");
  if (cursor_.accept_name("_")) {
    operand.kind = OperandKind::kSink;
    return true;
  }
  if (!parse_name(operand)) return false;
  return operand.kind != OperandKind::kSymbol || parse_offsets(cursor_, operand.bits);
}

bool InstructionParser::parse_not(Operand& operand) {
  cursor_.take();
  if (cursor_.at(TokenKind::kIdentifier)) {
    operand.negated = true;
    return parse_name(operand);
  }
  if (!parse_constant_operand(operand)) return false;
  operand.bits = operand.bits == 0 ? 1 : 0;
  return true;
}

/// A register with its component, or a symbol.
bool InstructionParser::parse_name(Operand& operand) {
  const bool component = cursor_.dot_touches();
  const Token token = cursor_.take();
  Reference& reference = operand.reference;
  reference = names_.find(token.text);
  if (reference.kind == ReferenceKind::kLabel &&
      names_.find_innermost(token.text).kind == ReferenceKind::kNone) {
    reference = {};  // a label of this scope may follow and would be meant
  }
  if (reference.kind == ReferenceKind::kNone) {
    if (token.text.starts_with('%')) {
      return cursor_.fail(errors::unknown_name(token.text, token.position));
    }
    reference.name = token.text;
    unresolved_.push_back({token.text, token.position});
  }
  operand.kind = is_register(reference) ? OperandKind::kRegister : OperandKind::kSymbol;
  if (operand.kind != OperandKind::kRegister || !component) return true;
  if (!cursor_.at(TokenKind::kDotWord)) return cursor_.fail_expected("a component like '.x'");
  operand.component = cursor_.take().text;
  if (reference.kind == ReferenceKind::kSpecialRegister) {
    reference.name = joined(reference.name, operand.component);
    operand.component = {};
  }
  return true;
}

bool InstructionParser::parse_constant_operand(Operand& operand) {
  Constant value;
  if (!parse_constant(cursor_, value)) return false;
  operand.kind = kind_of(value.kind);
  operand.bits = value.bits;
  operand.is_unsigned = value.is_unsigned;
  return true;
}

/// Moves the operands collected since `first` into `operand.children`.
bool InstructionParser::collect_until(char close, Operand& operand, std::size_t first, int depth) {
  while (!cursor_.at(close)) {
    Operand child;
    if (!parse_operand(child, depth + 1)) return false;
    scratch_.push_back(child);
    if (!cursor_.accept(',')) break;
  }
  if (!cursor_.expect(close)) return false;
  operand.children = storage_.keep(std::span<const Operand>(scratch_).subspan(first));
  scratch_.resize(first);
  return true;
}

bool InstructionParser::parse_group(Operand& operand, OperandKind kind, char close, int depth) {
  cursor_.take();
  operand.kind = kind;
  return collect_until(close, operand, scratch_.size(), depth);
}

/// What an address or a tuple begins with: register, symbol or number.
bool InstructionParser::parse_base(Operand& operand) {
  operand.position = cursor_.token().position;
  if (begins_constant(cursor_, true)) return parse_constant_operand(operand);
  if (!cursor_.at(TokenKind::kIdentifier)) return cursor_.fail_expected("an address");
  return parse_name(operand);
}

/// brackets := '[' base { ('+'|'-') term } ']'  |  '[' base { ',' operand } ']'
bool InstructionParser::parse_brackets(Operand& operand, int depth) {
  cursor_.take();
  Operand base;
  if (!parse_base(base)) return false;
  if (cursor_.accept(',')) {
    operand.kind = OperandKind::kTuple;
    const std::size_t first = scratch_.size();
    scratch_.push_back(base);
    return collect_until(']', operand, first, depth);
  }
  operand.kind = OperandKind::kAddress;
  operand.reference = base.reference;
  operand.component = base.component;
  operand.bits = base.bits;
  return parse_offsets(cursor_, operand.bits) && cursor_.expect(']');
}

}  // namespace membound::ptx
