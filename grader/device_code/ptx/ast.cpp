// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/ast.hpp"

#include <algorithm>

#include "grader/base/result.hpp"

namespace membound::ptx {

bool Instruction::has_suffix(std::string_view suffix) const {
  return std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end();
}

const Directive* Function::find_directive(std::string_view directive_name) const {
  const auto found = std::find_if(directives.begin(), directives.end(), [&](const Directive& each) {
    return each.name == directive_name;
  });
  return found == directives.end() ? nullptr : &*found;
}

const RegisterGroup& Function::group_of(std::uint32_t number) const {
  MEMBOUND_CHECK(number < register_count);
  const auto behind =
      std::upper_bound(registers.begin(), registers.end(), number,
                       [](std::uint32_t n, const RegisterGroup& group) { return n < group.first; });
  return *std::prev(behind);
}

const Function* Module::find_function(std::string_view name) const {
  const Function* found = nullptr;
  for (const Function& function : functions) {
    if (function.name != name) continue;
    if (function.has_body) return &function;
    if (found == nullptr) found = &function;
  }
  return found;
}

std::string_view Module::file_name(std::uint32_t index) const {
  for (const File& file : files) {
    if (file.index == index) return file.name;
  }
  return {};
}

}  // namespace membound::ptx
