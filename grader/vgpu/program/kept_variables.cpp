// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/kept_variables.hpp"

#include <algorithm>
#include <vector>

#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::program {
namespace {

/// Of one function, the registers that may hold the address of a variable, in whatever order its
/// instructions run.
class Addresses {
 public:
  Addresses(const Program& program, const Function& function)
      : function_(function),
        constants_(function.constant_slot_count),
        registers_(function.register_slots) {
    for (std::size_t i = 0; i < function.constants.size(); ++i) {
      const Constant& constant = function.constants[i];
      if (constant.kind == Constant::Kind::kGlobal &&
          !program.globals()[constant.index].is_constant)
        constants_[function.constant_slots[i]] = any_ = true;
    }
  }

  [[nodiscard]] bool may_be_written() {
    if (!any_) return false;
    while (follow()) {
    }
    return std::ranges::any_of(function_.code, [this](const auto& in) { return may_write(in); });
  }

 private:
  [[nodiscard]] bool is_address(const Value& value) const {
    if (value.kind == ValueKind::kConstant) return constants_[value.index];
    return value.kind == ValueKind::kRegister && registers_[value.index];
  }
  [[nodiscard]] bool has_address(const Instruction& in) const {
    return std::ranges::any_of(in.s, [this](const Value& value) { return is_address(value); });
  }

  /// Whether one more register was found.
  bool follow() {
    bool found = false;
    for (const Instruction& in : function_.code) {
      // What is loaded is no address, unless one was stored, which counts as writing.
      if (shape_of(in) == Shape::kLoad || !has_address(in)) continue;
      for (const Value& to : in.d)
        if (to.kind == ValueKind::kRegister && !registers_[to.index])
          registers_[to.index] = found = true;
    }
    return found;
  }

  /// Of what calls pass, functions of the device runtime only read.
  [[nodiscard]] bool calls_others() const {
    return std::ranges::any_of(function_.calls, [](const Call& call) {
      return call.builtin == Builtin::kNone || call.builtin == Builtin::kUnknown;
    });
  }

  [[nodiscard]] bool may_write(const Instruction& in) const {
    if (!has_address(in)) return false;
    switch (shape_of(in)) {
      case Shape::kStore:
        return !in.has(kParamMemory) || !function_.is_entry || calls_others();
      case Shape::kAtom:
      case Shape::kRed:
      case Shape::kCpAsync:
      case Shape::kCall:
        return true;
      default:
        return false;
    }
  }

  const Function& function_;
  std::vector<bool> constants_, registers_;  // by slot
  bool any_ = false;
};

}  // namespace

bool may_write_variables(const Program& program, const Kernel& kernel) {
  // Whoever finds an address in memory may write there without ever naming the variable.
  const bool stands_in_memory = std::ranges::any_of(
      program.globals(),
      [](const GlobalVariable& variable) { return !variable.relocations.empty(); });
  if (stands_in_memory) return true;
  return std::ranges::any_of(kernel.reachable, [&](std::uint32_t f) {
    return Addresses(program, program.functions()[f]).may_be_written();
  });
}

}  // namespace membound::vgpu::program
