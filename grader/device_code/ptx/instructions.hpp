// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One instruction: guard, opcode, suffixes, operands; and the memory in which a module keeps them.
/// Internal to ptx. Source: PTX ISA 9.0, "Instruction Statements", "Instruction Operands".
#pragma once

#include <algorithm>
#include <deque>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/device_code/ptx/declarations.hpp"
#include "grader/device_code/ptx/lexer.hpp"

namespace membound::ptx {

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

}  // namespace membound::ptx
