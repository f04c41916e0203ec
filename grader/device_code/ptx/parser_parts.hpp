// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The parts of the parser, each for one thing that a module is made of: constants and initial
/// values; the symbol table (scopes, numbered registers, special registers) and the declarations
/// that fill it; one instruction (guard, opcode, suffixes, operands) and the memory in which a
/// module keeps them; one .entry or .func with its scopes and labels. Internal to ptx.
/// Source: PTX ISA 9.0, "Constants", "Constant Expressions", "Initializers", "Parameterized
/// Variable Names", "Special Registers", "State Spaces, Types, and Variables", "Instruction
/// Statements", "Instruction Operands", "Kernel and Function Directives", "Control Flow
/// Directives".
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "grader/device_code/ptx/ast.hpp"
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

/// Everything the views of one tree point to. Does not move once made.
class Storage {
 public:
  Storage(std::string text, std::string file_name)
      : text_(std::move(text)), file_name_(std::move(file_name)) {}
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& file_name() const { return file_name_; }

  /// A copy of `items` that lives as long as the storage.
  template <typename T>
  std::span<T> keep(std::span<const T> items) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (items.empty()) return {};
    T* copy = static_cast<T*>(arena_.allocate(items.size_bytes(), alignof(T)));
    std::uninitialized_copy(items.begin(), items.end(), copy);
    return {copy, items.size()};
  }

  /// A string that is not part of the text.
  std::string_view keep_string(std::string text) { return strings_.emplace_back(std::move(text)); }

 private:
  std::string text_;
  std::string file_name_;
  std::pmr::monotonic_buffer_resource arena_;
  std::deque<std::string> strings_;
};

/// Reads instructions. Names that are not declared yet may be labels further down: they are left
/// with ReferenceKind::kNone and listed, for the body parser to resolve when the scope ends.
class InstructionParser {
 public:
  InstructionParser(Cursor& cursor, const Names& names, Storage& storage)
      : cursor_(cursor), names_(names), storage_(storage) {}

  /// From the guard or the opcode to after the ';'.
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
