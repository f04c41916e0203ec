// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/comparisons.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::program {
namespace {

bool is_plain_load(const Instruction& in) {
  return in.opcode == Opcode::kLd && in.order == Order::kWeak && in.vector == 1 &&
         !in.has(kParamMemory);
}

const Instruction* as_compare_and_swap(const Instruction& in) {
  return in.opcode == Opcode::kAtom && in.as<AtomicAccess>().operation == Atomic::kCas ? &in
                                                                                       : nullptr;
}

bool is_at(const Instruction& load, const Instruction& swap) {
  return load.s[0] == swap.s[0] && load.space == swap.space &&
         load.as<Access>().offset == swap.as<AtomicAccess>().at.offset &&
         ptx::size_bytes(load.type) == ptx::size_bytes(swap.type);
}

/// Registers from which moves lead to `value`, and itself.
std::unordered_set<std::uint32_t> sources_of(const Function& function, const Value& value) {
  std::unordered_set<std::uint32_t> known;
  if (value.kind == ValueKind::kRegister) known.insert(value.index);
  for (bool grows = true; grows;) {
    grows = false;
    for (const Instruction& in : function.code) {
      if (in.opcode != Opcode::kMov || in.d[0].kind != ValueKind::kRegister ||
          !known.contains(in.d[0].index) || in.s[0].kind != ValueKind::kRegister)
        continue;
      grows = known.insert(in.s[0].index).second || grows;
    }
  }
  return known;
}

}  // namespace

void mark_compared_loads(Function& function) {
  std::vector<const Instruction*> swaps;
  for (const Instruction& in : function.code)
    if (const Instruction* swap = as_compare_and_swap(in)) swaps.push_back(swap);
  for (const Instruction* swap : swaps) {
    const auto expected = sources_of(function, swap->s[1]);
    for (Instruction& in : function.code)
      if (is_plain_load(in) && is_at(in, *swap) && in.d[0].kind == ValueKind::kRegister &&
          expected.contains(in.d[0].index))
        in.flags |= kCompared;
  }
}

}  // namespace membound::vgpu::program
