// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One instruction: guard, opcode, suffixes, operands. Internal to ptx.
/// Source: PTX ISA 9.0, "Instruction Statements", "Instruction Operands".
#pragma once

#include <string_view>
#include <vector>

#include "grader/device_code/ptx/cursor.hpp"
#include "grader/device_code/ptx/ptx_names.hpp"
#include "grader/device_code/ptx/storage.hpp"

namespace membound::ptx {

/// Reads instructions. Names that are not declared yet may be labels further down: they are left
/// with ReferenceKind::kNone and listed, for the body parser to resolve when the scope ends.
class InstructionParser {
 public:
  InstructionParser(Cursor& cursor, const Names& names, Storage& storage)
      : cursor_(cursor), names_(names), storage_(storage) {}

  /// From the guard or the opcode to behind the ';'.
  bool parse(Instruction& instruction);

  struct Unresolved {
    std::string_view name;
    Position position;
  };
  /// The names of the last instruction that nobody has declared so far.
  [[nodiscard]] const std::vector<Unresolved>& unresolved() const { return unresolved_; }

  /// Sets the reference of every operand of `instruction` called `name` that has none yet.
  static void resolve(const Instruction& instruction, std::string_view name, Reference reference);

 private:
  bool parse_guard(Instruction& instruction);
  void parse_opcode(Instruction& instruction);
  bool parse_operand(Operand& operand, int depth);
  bool parse_single(Operand& operand, int depth);
  bool parse_name(Operand& operand);
  bool parse_not(Operand& operand);
  bool parse_constant_operand(Operand& operand);
  bool parse_group(Operand& operand, OperandKind kind, char close, int depth);
  bool parse_brackets(Operand& operand, int depth);
  bool parse_base(Operand& operand);
  bool collect_until(char close, Operand& operand, std::size_t first, int depth);

  Cursor& cursor_;
  const Names& names_;
  Storage& storage_;
  bool is_call_ = false;
  std::vector<Operand> scratch_;
  std::vector<std::string_view> suffixes_;
  std::vector<Unresolved> unresolved_;
};

}  // namespace membound::ptx
