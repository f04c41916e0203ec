// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Warp-aggregated atomics: see mark_warp_aggregated_atomics.
#include <algorithm>
#include <vector>

#include "grader/vgpu/program/ptxas/passes.hpp"

namespace membound::vgpu::program {
namespace {

using ptx::ScalarType;

/// Which registers hold one value for all lanes of a warp, as far as the code shows. Starts from
/// "all of them" and takes back until nothing changes.
class Uniformity {
 public:
  Uniformity(const Function& function, std::size_t registers)
      : function_(function), varies_(registers, false), definitions_(registers, 0) {
    for (const Instruction& in : function.code) {
      for (const Value& value : in.d)
        if (is_register(value)) ++definitions_[value.index];
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction& in : function.code) changed |= join_paths_of(in);
    }
  }

  [[nodiscard]] bool holds(const Value& value) const {
    switch (value.kind) {
      case ValueKind::kRegister:
      case ValueKind::kPredicate:
        return !varies_[value.index];
      case ValueKind::kConstant:
        return !is_lane_number(constant_at(value.index));
      case ValueKind::kWarp:
        return value.index == kWarpId;
      default:
        return true;
    }
  }

  /// A number that the code itself names.
  [[nodiscard]] bool is_literal(const Value& value, std::uint64_t number) const {
    if (value.kind != ValueKind::kConstant) return false;
    const Constant& constant = constant_at(value.index);
    return constant.kind == Constant::Kind::kLiteral && constant.bits == number;
  }

 private:
  static bool is_register(const Value& value) {
    return value.kind == ValueKind::kRegister || value.kind == ValueKind::kPredicate;
  }

  /// A Value names the first slot of a constant, not its number.
  [[nodiscard]] const Constant& constant_at(std::uint32_t slot) const {
    const auto& slots = function_.constant_slots;
    const auto place = std::lower_bound(slots.begin(), slots.end(), slot);
    return function_.constants[static_cast<std::size_t>(place - slots.begin())];
  }

  static bool is_lane_number(const Constant& constant) {
    const auto index = static_cast<LaunchRegister>(constant.index);
    return constant.kind == Constant::Kind::kSpecial && index >= LaunchRegister::kLaneId &&
           index <= LaunchRegister::kLaneMaskGe;
  }

  /// True when this instruction gives its lanes different values whatever it is given.
  static bool differs_by_lane(const Instruction& in) {
    switch (in.opcode) {
      case Opcode::kAtom:
      case Opcode::kCall:
      case Opcode::kMatch:
      case Opcode::kElect:
      case Opcode::kReadSpecial:
        return true;
      case Opcode::kLd:
      case Opcode::kLdu:
        return in.space == ptx::StateSpace::kLocal || in.as<Access>().in_frame ||
               in.has(kParamMemory);
      default:
        return false;
    }
  }

  /// True when all lanes get the same whatever they give.
  static bool joins_lanes(const Instruction& in) {
    return in.opcode == Opcode::kVote || in.opcode == Opcode::kRedux ||
           in.opcode == Opcode::kActivemask;
  }

  bool join_paths_of(const Instruction& in) {
    const bool branches = in.opcode == Opcode::kBra || in.opcode == Opcode::kBrx;
    bool same = !differs_by_lane(in);
    if (same && !joins_lanes(in)) {
      for (const Value& value : in.s) same = same && holds(value);
    }
    same = same && (!in.guard || holds(in.guard));
    bool changed = false;
    if (branches && !same && !diverges_) diverges_ = changed = true;
    for (const Value& value : in.d) {
      if (!is_register(value) || varies_[value.index]) continue;
      // Written in several places: which of them a lane came by may differ.
      if (same && !(diverges_ && definitions_[value.index] > 1)) continue;
      varies_[value.index] = changed = true;
    }
    return changed;
  }

  const Function& function_;
  std::vector<bool> varies_;
  std::vector<std::uint32_t> definitions_;
  bool diverges_ = false;
};

/// ATOMS.POPC.INC: ptxas takes it where 1 is added to a 32-bit word and nobody reads the result.
bool counts_lanes(const Instruction& in, const Uniformity& uniform) {
  return in.space == ptx::StateSpace::kShared && in.vector == 1 &&
         in.as<AtomicAccess>().operation == Atomic::kAdd && !ptx::is_float(in.type) &&
         ptx::size_bytes(in.type) == 4 && uniform.is_literal(in.s[1], 1);
}

WarpAggregation aggregation_of(const Instruction& in, const Uniformity& uniform) {
  if (in.vector != 1 || in.space == ptx::StateSpace::kNone || !uniform.holds(in.s[0]))
    return WarpAggregation::kNever;
  const bool integer =
      in.type == ScalarType::kS32 || in.type == ScalarType::kU32 || in.type == ScalarType::kB32;
  const bool wide = in.type == ScalarType::kS64 || in.type == ScalarType::kU64;
  switch (in.as<AtomicAccess>().operation) {
    case Atomic::kAdd:
      if (integer || (wide && in.space == ptx::StateSpace::kGlobal && uniform.holds(in.s[1])))
        return WarpAggregation::kAlways;
      return WarpAggregation::kNever;
    case Atomic::kMin:
    case Atomic::kMax:
    case Atomic::kAnd:
    case Atomic::kOr:
    case Atomic::kXor:
      return integer ? WarpAggregation::kIfUnused : WarpAggregation::kNever;
    default:
      return WarpAggregation::kNever;
  }
}

}  // namespace

void mark_warp_aggregated_atomics(Function& function, RegisterSizes sizes) {
  bool any = false;
  for (const Instruction& in : function.code)
    any = any || in.opcode == Opcode::kAtom || in.opcode == Opcode::kRed;
  if (!any) return;
  const Uniformity uniform(function, sizes.size());
  for (Instruction& in : function.code) {
    if (in.opcode == Opcode::kAtom || in.opcode == Opcode::kRed) {
      AtomicAccess& access = in.make<AtomicAccess>();
      access.aggregation = aggregation_of(in, uniform);
      if (access.aggregation == WarpAggregation::kNever && counts_lanes(in, uniform))
        access.aggregation = WarpAggregation::kByWordIfUnused;
    }
  }
}

}  // namespace membound::vgpu::program
