// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What stands in a kernel.cu, as far as messages need it: its functions, its branches and loops
/// with their conditions, and brackets that nothing closes. A reader of text: no macro is expanded,
/// no type is known.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace membound::compilers {

/// An `if`, `for` or `while`, and what it governs; of a `do`, the line is that of the `do`'s
/// bracket. What stands in macros is left out.
struct Branch {
  std::string keyword;    ///< "if", "for", "while"
  std::string condition;  ///< between its brackets, as the source has it
  int line = 0;           ///< of the keyword, from 1
  std::size_t begin = 0;  ///< of what it governs, in bytes of the file
  std::size_t end = 0;    ///< after that
  bool is_empty = false;  ///< governs a `;` alone
  bool returns = false;   ///< governs a `return;` alone
};

/// A function, or what LAUNCH_SHAPE and LAUNCH_PLAN define.
struct SourceFunction {
  std::string name;                ///< of a launch: that of its kernel or stage
  int line = 0;                    ///< of its name
  std::size_t begin = 0, end = 0;  ///< of its body, in bytes of the file
  bool is_kernel = false;          ///< marked __global__
  bool is_device = false;          ///< marked __device__, or a launch
  bool is_launch = false;          ///< LAUNCH_SHAPE, LAUNCH_PLAN
};

/// A curly bracket without its counterpart.
struct LostBrace {
  bool never_closed = true;  ///< a `{`; else a `}` that closes nothing
  int line = 0, column = 0;  ///< of the bracket, from 1
  int found_line = 0;        ///< where that shows: of the `}` or the head that stands too far left
};

/// The text of a kernel.cu, read once. A file of more than 128 KiB counts as empty.
class StudentSource {
 public:
  explicit StudentSource(std::string text);

  /// Line `number` from 1 as it stands in the file; empty where there is none.
  [[nodiscard]] std::string_view line(int number) const;
  /// The same, with comments and the insides of quotation marks as spaces.
  [[nodiscard]] std::string_view code_of_line(int number) const;
  [[nodiscard]] int line_count() const { return static_cast<int>(starts_.size()); }
  /// The whole file as code_of_line() has it: every byte at its own place.
  [[nodiscard]] std::string_view code() const { return code_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  /// The line of a byte, from 1.
  [[nodiscard]] int line_of(std::size_t byte) const;
  [[nodiscard]] std::size_t start_of(int line) const;

  /// Branches and loops in the order in which they begin.
  [[nodiscard]] const std::vector<Branch>& branches() const { return branches_; }
  /// Those that govern the code of a line, innermost first; a one-line `if` governs its own.
  [[nodiscard]] std::vector<const Branch*> around(int line) const;
  [[nodiscard]] const std::vector<SourceFunction>& functions() const { return functions_; }
  /// Null where the line is in none.
  [[nodiscard]] const SourceFunction* function_at(int line) const;
  /// The first one of this name, or launch of it; null where there is none.
  [[nodiscard]] const SourceFunction* function(std::string_view name, bool is_launch = false) const;
  /// The first bracket without its counterpart, found by the indentation.
  [[nodiscard]] std::optional<LostBrace> lost_brace() const;
  /// The first line from `first` to `last` whose code holds `word`; 0 where none does.
  [[nodiscard]] int find_line(std::string_view word, int first = 1, int last = 1 << 30) const;

 private:
  void read_functions();
  void read_branches();

  std::string text_, code_;
  std::vector<std::size_t> starts_;  ///< of lines
  std::vector<Branch> branches_;
  std::vector<SourceFunction> functions_;
};

/// Whether `word` stands in `code` with no letter, digit or underscore beside it; where, or npos.
[[nodiscard]] std::size_t find_word(std::string_view code, std::string_view word,
                                    std::size_t from = 0);

}  // namespace membound::compilers
