// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/waits.hpp"

#include <algorithm>
#include <span>
#include <unordered_set>

#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::program {
namespace {

bool is_volatile_load(const Instruction& in) {
  return in.opcode == Opcode::kLd && in.order == Order::kVolatile;
}

bool writes(const Instruction& in) {
  switch (shape_of(in)) {
    case Shape::kStore:
    case Shape::kAtom:
    case Shape::kRed:
    case Shape::kCpAsync:
    case Shape::kSust:
    case Shape::kCall:
      return true;
    default:
      return false;
  }
}

/// Does what `load` gives decide a branch of the loop? Registers and predicates have one numbering.
bool decides_a_branch(std::span<const Instruction> loop, const Instruction& load) {
  std::unordered_set<std::uint32_t> known;
  const auto holds = [&](const Value& value) {
    return (value.kind == ValueKind::kRegister || value.kind == ValueKind::kPredicate) &&
           known.contains(value.index);
  };
  const auto add = [&](const Instruction& in) {
    for (const Value& value : in.d)
      if (value) known.insert(value.index);
  };
  add(load);
  for (const Instruction* in = &load + 1; in != loop.data() + loop.size(); ++in) {
    if (in->opcode == Opcode::kBra && in->guard && holds(in->guard)) return true;
    if (std::any_of(in->s.begin(), in->s.end(), holds)) add(*in);
  }
  return false;
}

/// Does the value of `load` go anywhere but into comparisons? A register has one name all along
/// here, so the order of instructions does not matter.
bool gives_data(const Function& function, const Instruction& load) {
  std::unordered_set<std::uint32_t> known;
  for (const Value& value : load.d)
    if (value) known.insert(value.index);
  const auto holds = [&](const Value& value) {
    return value.kind == ValueKind::kRegister && known.contains(value.index);
  };
  for (std::size_t before = 0; before != known.size();) {
    before = known.size();
    for (const Instruction& in : function.code) {
      if (std::none_of(in.s.begin(), in.s.end(), holds)) continue;
      if (in.opcode == Opcode::kSetp) continue;
      const bool moves =
          in.opcode == Opcode::kMov || in.opcode == Opcode::kCvt || in.opcode == Opcode::kAnd;
      if (!moves) return true;
      for (const Value& value : in.d)
        if (value.kind == ValueKind::kRegister) known.insert(value.index);
    }
  }
  return false;
}

bool same_place(const Instruction& a, const Instruction& b) {
  return a.s[0] == b.s[0] && a.space == b.space && a.as<Access>().offset == b.as<Access>().offset;
}

}  // namespace

void mark_deciding_loads(Function& function) {
  for (Instruction& in : function.code)
    if (is_volatile_load(in)) in.only_decides = !gives_data(function, in);
}

void mark_waiting_loads(Function& function) {
  auto& code = function.code;
  std::vector<const Instruction*> waiting;
  for (std::size_t end = 0; end < code.size(); ++end) {
    const auto* const branch = std::get_if<Branch>(&code[end].detail);
    if (branch == nullptr || !code[end].has(kBackward)) continue;
    const std::span loop(code.data() + branch->target, end + 1 - branch->target);
    if (std::any_of(loop.begin(), loop.end(), writes)) continue;
    for (Instruction& in : loop) {
      if (!is_volatile_load(in) || !decides_a_branch(loop, in)) continue;
      in.flags |= kWaits;
      waiting.push_back(&in);
    }
  }
  for (Instruction& in : code)
    if (is_volatile_load(in) && std::any_of(waiting.begin(), waiting.end(), [&](const auto* each) {
          return same_place(in, *each);
        }))
      in.flags |= kWaits;
}

}  // namespace membound::vgpu::program
