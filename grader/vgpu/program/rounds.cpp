// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/rounds.hpp"

#include <vector>

#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::program {
namespace {

enum class Reads : std::uint8_t { kNothing, kGlobal, kShared };

Reads what_it_reads(const Instruction& in) {
  const bool load = shape_of(in) == Shape::kLoad;
  const bool atomic = in.opcode == Opcode::kAtom && !in.has(kResultUnused);
  if ((!load && !atomic) || in.has(kParamMemory) || in.has(kConstantMemory)) return Reads::kNothing;
  return in.space == ptx::StateSpace::kShared ? Reads::kShared : Reads::kGlobal;
}

/// Loads are not moved across these.
bool separates(const Instruction& in, Reads what) {
  switch (shape_of(in)) {
    case Shape::kCall:
      return true;
    case Shape::kStore:
    case Shape::kAtom:
    case Shape::kRed:
      return !in.has(kParamMemory) &&
             (in.space == ptx::StateSpace::kShared) == (what == Reads::kShared);
    default:
      return info_of(in.opcode).cost == Cost::kBarrier ||
             info_of(in.opcode).cost == Cost::kFenceDevice;
  }
}

/// Registers whose value comes from a load that is still in flight.
class InFlight {
 public:
  explicit InFlight(std::size_t registers) : since_(registers, 0) {}
  void start_round() { ++round_; }
  [[nodiscard]] bool holds(const Value& value) const {
    return value.kind == ValueKind::kRegister && since_[value.index] == round_;
  }
  void add(const Value& value) {
    if (value.kind == ValueKind::kRegister) since_[value.index] = round_;
  }
  void remove(const Value& value) {
    if (value.kind == ValueKind::kRegister) since_[value.index] = 0;
  }

 private:
  std::vector<std::uint32_t> since_;
  std::uint32_t round_ = 1;
};

void mark_block(Function& function, const BasicBlock& block, Reads what, std::uint32_t flag,
                InFlight& in_flight) {
  bool fresh = true;  // the next load starts a round
  for (std::uint32_t i = block.begin; i < block.end; ++i) {
    Instruction& in = function.code[i];
    if (what_it_reads(in) == what) {
      if (fresh || in_flight.holds(in.s[0])) {
        in.flags |= flag;
        in_flight.start_round();
      }
      fresh = in.opcode == Opcode::kAtom;
      for (const Value& value : in.d) in_flight.add(value);
      continue;
    }
    if (separates(in, what)) fresh = true;
    bool depends = false;
    for (const Value& value : in.s) depends = depends || in_flight.holds(value);
    for (const Value& value : in.d) depends ? in_flight.add(value) : in_flight.remove(value);
  }
}

}  // namespace

void mark_rounds(Function& function, std::size_t registers) {
  InFlight global(registers), shared(registers);
  for (const BasicBlock& block : basic_blocks(function)) {
    mark_block(function, block, Reads::kGlobal, kStartsGlobalRound, global);
    mark_block(function, block, Reads::kShared, kStartsSharedRound, shared);
  }
}

}  // namespace membound::vgpu::program
