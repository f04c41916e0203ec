// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Declarations of registers, variables and parameters, with their initial values. Internal to ptx.
/// Source: PTX ISA 9.0, "Variables", "Attributes", "Kernel Parameter Attribute: .ptr".
#pragma once

#include <cstdint>
#include <vector>

#include "grader/device_code/ptx/cursor.hpp"
#include "grader/device_code/ptx/ptx_names.hpp"

namespace membound::ptx {

/// Reads declarations; what is declared is returned, not entered into any scope.
class DeclarationParser {
 public:
  explicit DeclarationParser(Cursor& cursor) : cursor_(cursor) {}

  /// At a state space: `.global .align 4 .u32 a[3] = {1, 2, 3}, b;` to behind the ';'.
  bool parse_variables(Linkage linkage, std::vector<Variable>& variables);
  /// At '(': `(.param .b32 a, .reg .u32 b)` to behind the ')'.
  bool parse_parameters(std::vector<Variable>& parameters);
  /// At `.reg`: `.reg .b32 %r<100>, a;` to behind the ';'. Numbers start at `first`.
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
