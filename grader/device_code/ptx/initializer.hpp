// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The initial value of a variable, laid out as bytes with the places that hold addresses.
/// Internal to ptx. Source: PTX ISA 9.0, "Initializers".
#pragma once

#include <cstdint>
#include <vector>

#include "grader/device_code/ptx/constants.hpp"
#include "grader/device_code/ptx/cursor.hpp"

namespace membound::ptx {

/// Reads what stands behind the '='. The names of relocations are not resolved: the parser does it
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

}  // namespace membound::ptx
