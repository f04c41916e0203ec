// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/opcodes.hpp"

#include <set>

namespace membound::ptx {

bool is_graded_opcode(std::string_view opcode) {
  constexpr bool kGraded = true, kRefused = false;
  static const std::set<std::string_view> kOpcodes = [] {
    std::set<std::string_view> names;
#define MEMBOUND_OPCODE(id, name, shape, suffixes, family, results, unit, cost, graded, section, \
                        doc)                                                                     \
  if (graded) names.insert(name);
#include "grader/device_code/ptx/opcodes.def"
#undef MEMBOUND_OPCODE
    return names;
  }();
  return kOpcodes.contains(opcode);
}

}  // namespace membound::ptx
