// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One .entry or .func: header, directives, and the body with its scopes and labels. Internal to
/// ptx. Source: PTX ISA 9.0, "Kernel and Function Directives", "Control Flow Directives".
#pragma once

#include <string_view>
#include <vector>

#include "grader/device_code/ptx/declarations.hpp"
#include "grader/device_code/ptx/instructions.hpp"
#include "grader/device_code/ptx/lexer.hpp"

namespace membound::ptx {

/// A `.loc … function_name LABEL + OFFSET` whose text stands in a section further down.
struct PendingName {
  std::uint32_t function = 0;  ///< index into Module::functions
  std::uint32_t location = 0;  ///< index into Function::locations
  std::string_view label = {};
  std::uint64_t offset = 0;
};

class FunctionParser {
 public:
  FunctionParser(Cursor& cursor, Names& names, Storage& storage, DeclarationParser& declarations,
                 Module& module)
      : cursor_(cursor),
        names_(names),
        declarations_(declarations),
        instructions_(cursor, names, storage),
        module_(module) {}

  /// At `.entry` or `.func`: adds a Function to the module, also when parts of it are wrong. False
  /// when the header could not be understood; errors in the body are recovered from inside.
  bool parse(Linkage linkage);

  [[nodiscard]] const std::vector<PendingName>& pending_names() const { return pending_names_; }

 private:
  bool parse_header(Function& function);
  bool parse_directives(Function& function);
  bool declare_parameters(std::vector<Variable>& variables, ReferenceKind kind);
  void parse_body();
  bool parse_statement();
  bool parse_directive_statement();
  bool parse_label_or_list();
  bool parse_instruction();
  bool parse_register_statement();
  bool parse_variable_statement();
  bool parse_location();
  bool parse_prototype(const Token& name);
  bool parse_targets(const Token& name);
  bool parse_pragma();
  bool begin_scope();
  bool end_scope();
  void resolve_pending(bool at_the_end);
  bool declare(std::string_view name, ReferenceKind kind, std::size_t index, Position position);
  void add_statement(StatementKind kind, std::size_t index);

  /// A name used before its declaration: an operand, or a reference of a Targets list.
  struct PendingLabel {
    std::string_view name;
    Position position;
    std::uint32_t instruction = kNoIndex;
    std::uint32_t targets = kNoIndex;  ///< with `reference`
    std::uint32_t reference = 0;
    std::size_t depth = 0;  ///< of the scope it waits in
  };

  Cursor& cursor_;
  Names& names_;
  DeclarationParser& declarations_;
  InstructionParser instructions_;
  Module& module_;
  Function* function_ = nullptr;
  std::uint32_t location_ = kNoIndex;
  std::vector<PendingLabel> pending_labels_;
  std::vector<PendingName> pending_names_;
};

/// `.maxntid 128, 1, 1` or `.pragma "nounroll";`: the name and its values; the ';' is optional.
bool parse_directive(Cursor& cursor, Directive& directive);

}  // namespace membound::ptx
