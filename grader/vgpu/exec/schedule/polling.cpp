// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/schedule/polling.hpp"

#include <functional>
#include <string_view>
#include <vector>

#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec {
namespace {

using program::Instruction;
using program::ValueKind;

/// Steps [first, last) of one function.
struct Loop {
  const Step* first = nullptr;
  const Step* last = nullptr;
};

/// The innermost loop that surely polls around `pc`, as its branch back says; else `pc` alone.
Loop loop_around(const FunctionCode& code, const Step* pc) {
  const Step* const end = code.begin + code.function->code.size();
  for (const Step* s = pc; s != end; ++s) {
    const Instruction& in = *s->extra->in;
    // One of several targets (brx.idx) is no BranchOperand.
    if (in.opcode == program::Opcode::kBra && in.has(program::kPollLoop) && s->branch.target <= pc)
      return {s->branch.target, s + 1};
  }
  return {pc, pc};
}

bool asks(const Instruction& in) {
  const bool loads = in.opcode == program::Opcode::kLd && in.order != program::Order::kWeak;
  return loads || in.opcode == program::Opcode::kAtom;
}

void add(std::size_t& digest, const std::byte* words, std::size_t bytes) {
  const std::string_view text(reinterpret_cast<const char*>(words), bytes);
  digest = digest * 31 + std::hash<std::string_view>{}(text);
}

}  // namespace

std::size_t polling_digest(const Warp& w) {
  const Group& group = w.groups[w.current];
  const FunctionCode& code = w.launch->code[group.frame->function];
  const Loop loop = loop_around(code, group.pc);
  const std::byte* const registers = group.frame->registers;
  std::size_t digest = std::hash<const Step*>{}(group.pc);
  std::vector<bool> written(code.function->register_slots, false);
  for (const Step* s = loop.first; s != loop.last; ++s) {
    const Instruction& in = *s->extra->in;
    for (const program::Value& value : in.d) {
      if (value.kind != ValueKind::kRegister) continue;
      for (std::size_t i = 0; i < in.d_slots && value.index + i < written.size(); ++i)
        written[value.index + i] = true;
    }
    if (asks(in) && in.s[0].kind == ValueKind::kRegister)
      add(digest, registers + std::size_t{in.s[0].index} * kSlotBytes,
          program::access_of(in).address_bits / 32 * kSlotBytes);
  }
  for (std::size_t slot = 0; slot < written.size(); ++slot)
    if (!written[slot]) add(digest, registers + slot * kSlotBytes, kSlotBytes);
  return digest;
}

}  // namespace membound::vgpu::exec
