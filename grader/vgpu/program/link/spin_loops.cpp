// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loads by which threads wait for each other or try again, told from those that merely fetch data;
/// the race checker asks for them.
#include "grader/vgpu/program/link/decoder.hpp"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <vector>

#include "grader/vgpu/program/opcode_table.hpp"

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

/// Does it pass on what it reads, or some of its bits? A barrier of the grid looks at one bit.
bool moves_bits(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kMov:
    case Opcode::kCvt:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kShr:
      return true;
    default:
      return false;
  }
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
      if (!moves_bits(in)) return true;
      for (const Value& value : in.d)
        if (value.kind == ValueKind::kRegister) known.insert(value.index);
    }
  }
  return false;
}

bool same_place(const Instruction& a, const Instruction& b) {
  return a.s[0] == b.s[0] && a.space == b.space && a.as<Access>().offset == b.as<Access>().offset;
}

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

void mark_deciding_loads(Function& function) {
  for (Instruction& in : function.code) {
    const bool asks = (in.opcode == Opcode::kLd && in.order != Order::kWeak) ||
                      (in.opcode == Opcode::kAtom && !in.has(kResultUnused));
    if (asks) in.only_decides = !gives_data(function, in);
  }
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
