// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/facts.hpp"

#include "grader/vgpu/program/control_flow.hpp"

namespace membound::vgpu::program {
namespace {

bool may_be_global(const Instruction& in) {
  return in.space == ptx::StateSpace::kGlobal || in.space == ptx::StateSpace::kNone;
}

bool is_float_reduction(const Instruction& in) {
  return (in.opcode == Opcode::kAtom || in.opcode == Opcode::kRed) && may_be_global(in) &&
         in.has(kResultUnused) && in.as<AtomicAccess>().operation == Atomic::kAdd &&
         ptx::is_float(in.type);
}

/// Is a global load reachable after a float reduction (along forward and backward branches)?
bool loads_after(const Function& function) {
  const std::vector<BasicBlock> blocks = basic_blocks(function);
  std::vector<bool> after(blocks.size(), false);
  const auto scan = [&](const BasicBlock& block, bool armed) {
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      const Instruction& in = function.code[i];
      const bool load = in.opcode == Opcode::kLd && may_be_global(in) && !in.has(kNonCoherent);
      if (armed && (load || in.opcode == Opcode::kCall)) return std::pair(true, true);
      armed = armed || is_float_reduction(in);
    }
    return std::pair(false, armed);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const auto [found, armed] = scan(blocks[b], after[b]);
      if (found) return true;
      if (!armed) continue;
      for (const std::uint32_t successor : blocks[b].successors) {
        if (!after[successor]) after[successor] = true, changed = true;
      }
    }
  }
  return false;
}

}  // namespace

bool talks(const Instruction& in) {
  const Atomic operation = in.as<AtomicAccess>().operation;
  switch (in.opcode) {
    case Opcode::kAtom:
    case Opcode::kRed:
      if (!may_be_global(in)) return false;
      return !in.has(kResultUnused) || operation == Atomic::kExch || operation == Atomic::kCas ||
             (ptx::is_float(in.type) && operation != Atomic::kAdd);
    case Opcode::kLd:
      return may_be_global(in) && in.order != Order::kWeak;
    default:
      return false;
  }
}

bool counts_arrivals(const Instruction& in) {
  if (in.opcode != Opcode::kAtom || !talks(in)) return false;
  const Atomic operation = in.as<AtomicAccess>().operation;
  return (operation == Atomic::kAdd && !ptx::is_float(in.type)) || operation == Atomic::kInc ||
         operation == Atomic::kDec;
}

void gather_facts(const Function& function, FunctionFacts& facts) {
  for (const Instruction& in : function.code) {
    if (talks(in)) facts.talks_to_blocks = true;
    if (counts_arrivals(in)) facts.counts_arrivals = true;
    if (is_float_reduction(in)) facts.float_reductions = true;
  }
  if (facts.float_reductions) facts.loads_after_reduction = loads_after(function);
}

}  // namespace membound::vgpu::program
