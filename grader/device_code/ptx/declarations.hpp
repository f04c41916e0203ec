// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The symbol table (scopes, numbered registers, special registers) and the declarations that fill
/// it. Internal to ptx. Source: PTX ISA 9.0, "Parameterized Variable Names", "Special Registers",
/// "State Spaces, Types, and Variables".
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grader/device_code/ptx/ast.hpp"
#include "grader/device_code/ptx/lexer.hpp"

namespace membound::ptx {

/// The stack of scopes. The bottom one is the module; it is never left.
class Names {
 public:
  Names() : scopes_(1) {}

  void enter_scope() { scopes_.emplace_back(); }
  void leave_scope() { scopes_.pop_back(); }
  /// Scopes around this place: 1 in the module, 2 in a function's outermost braces, …
  [[nodiscard]] std::size_t depth() const { return scopes_.size(); }

  /// Declares `name` in the innermost scope; false when it is there already.
  bool declare(std::string_view name, Reference reference);
  /// Declares the registers of a group; false when a name is there already.
  bool declare(const RegisterGroup& group);
  /// Declares in the module whatever the depth; false when it is there already.
  bool declare_in_module(std::string_view name, Reference reference);

  /// What `name` means here; kind kNone when nobody declared it and it is no special register.
  [[nodiscard]] Reference find(std::string_view name) const;
  /// Only in the innermost scope; kind kNone otherwise.
  [[nodiscard]] Reference find_innermost(std::string_view name) const;

 private:
  struct Scope {
    std::unordered_map<std::string_view, Reference> names;
    std::vector<RegisterGroup> groups;  ///< numbered ones; single registers are in `names`
  };
  [[nodiscard]] static Reference find_in(const Scope& scope, std::string_view name);

  std::vector<Scope> scopes_;
};

/// True for "%tid", "%laneid", "%clock64", "%envreg2", … without a component.
[[nodiscard]] bool is_special_register(std::string_view name);

/// Reads declarations; what is declared is returned, not entered into any scope.
class DeclarationParser {
 public:
  explicit DeclarationParser(Cursor& cursor) : cursor_(cursor) {}

  /// At a state space: `.global .align 4 .u32 a[3] = {1, 2, 3}, b;` to after the ';'.
  bool parse_variables(Linkage linkage, std::vector<Variable>& variables);
  /// At '(': `(.param .b32 a, .reg .u32 b)` to after the ')'.
  bool parse_parameters(std::vector<Variable>& parameters);
  /// At `.reg`: `.reg .b32 %r<100>, a;` to after the ';'. Numbers start at `first`.
  bool parse_registers(std::uint32_t first, std::vector<RegisterGroup>& groups);

 private:
  bool parse_attributes(Variable& variable);
  bool parse_word(Variable& variable);
  bool parse_alignment(Variable& variable);
  bool parse_attribute_list(Variable& variable);
  bool parse_declarator(Variable& variable);
  bool parse_register_name(RegisterGroup& group);

  Cursor& cursor_;
  std::uint64_t initial_bytes_ = 0;  ///< of the module so far, for the limit
};

/// Elements one after the other: those of the dimensions times the vector width.
[[nodiscard]] std::uint64_t element_count(const Variable& variable);

}  // namespace membound::ptx
