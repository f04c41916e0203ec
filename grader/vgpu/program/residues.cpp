// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/residues.hpp"

#include <algorithm>
#include <bit>

namespace membound::vgpu::program {
namespace {

// However long a program is, it is looked at in a time that grows no faster. Nested loops settle in
// a handful of rounds.
constexpr int kMostRounds = 64;
constexpr std::size_t kNearCompare = 32;  ///< a loop's comparison stands so near to its branch
constexpr Residue kUnseen{0, 0};

Residue residue(std::uint64_t modulus, std::uint64_t value) {
  modulus = std::min(kWidest, modulus);
  return {modulus, value % modulus};
}
/// What holds of both.
Residue either(Residue a, Residue b) {
  if (a.modulus == 0 || b.modulus == 0) return a.modulus == 0 ? b : a;
  const std::uint64_t apart = a.rest ^ b.rest;
  const std::uint64_t alike = apart == 0 ? kWidest : apart & -apart;
  return residue(std::min({a.modulus, b.modulus, alike}), a.rest);
}
Residue product(Residue a, Residue b) {
  const std::uint64_t all = a.modulus * b.modulus | a.modulus * b.rest | b.modulus * a.rest;
  return residue(all & -all, a.rest * b.rest);
}
/// Bits that are 0 in one of the two are known whatever the other is.
Residue common_bits(Residue a, Residue b) {
  const std::uint64_t of_a = a.modulus - 1, of_b = b.modulus - 1;
  const std::uint64_t known = (of_a & of_b) | (of_a & ~a.rest) | (of_b & ~b.rest);
  return residue(std::uint64_t{1} << std::countr_one(known), a.rest & b.rest);
}

/// The largest power of two that is known to divide the value, and no more.
Residue divided(Residue a) { return a.rest == 0 ? a : residue(a.rest & -a.rest, 0); }

Residue residue_of(const Constant& constant) {
  switch (constant.kind) {
    case Constant::Kind::kLiteral:
    case Constant::Kind::kDynamicShared:
    case Constant::Kind::kSharedWindow:
    case Constant::Kind::kSharedWindowDynamic:
      return residue(kWidest, constant.bits);
    default:
      return {};
  }
}

/// Does it add to its own result?
bool goes_on(const Instruction& in) {
  return (in.opcode == Opcode::kAdd || in.opcode == Opcode::kSub) &&
         (in.s[0] == in.d[0] || in.s[1] == in.d[0]);
}

}  // namespace

Residues::Residues(const Function& function, std::size_t registers)
    : function_(function), known_(registers, kUnseen) {
  const std::vector<bool> spread = spread_out(registers);
  bool changed = true;
  for (int round = 0; changed && round < kMostRounds; ++round) {
    changed = false;
    for (std::size_t i = 0; i < function.code.size(); ++i) {
      const Instruction& in = function.code[i];
      const Residue result = result_of(in);
      for (const Value& value : in.d) {
        if (value.kind != ValueKind::kRegister) continue;
        Residue both = either(known_[value.index], result);
        if (!spread[i] && goes_on(in)) both = divided(both);
        changed = changed || both != known_[value.index];
        known_[value.index] = both;
      }
    }
  }
  if (changed) std::fill(known_.begin(), known_.end(), Residue{});
}

Residue Residues::of(const Value& value) const {
  if (value.kind == ValueKind::kRegister) return known_[value.index];
  return value.kind == ValueKind::kConstant ? residue_of(constant_at(value.index)) : Residue{};
}

const Constant& Residues::constant_at(std::uint32_t slot) const {
  const auto& slots = function_.constant_slots;
  const auto place = std::lower_bound(slots.begin(), slots.end(), slot);
  return function_.constants[static_cast<std::size_t>(place - slots.begin())];
}

const Constant* Residues::literal(const Value& value) const {
  if (value.kind != ValueKind::kConstant) return nullptr;
  const Constant& constant = constant_at(value.index);
  return constant.kind == Constant::Kind::kLiteral ? &constant : nullptr;
}

/// Registers that hold nothing but literals and what was added to these.
std::vector<bool> Residues::counters(std::size_t registers) const {
  std::vector<bool> counts(registers, true);
  for (const Instruction& in : function_.code) {
    const bool begins = in.opcode == Opcode::kMov && literal(in.s[0]) != nullptr;
    const bool adds = goes_on(in) && (literal(in.s[0]) != nullptr || literal(in.s[1]) != nullptr);
    for (const Value& value : in.d)
      if (value.kind == ValueKind::kRegister && !begins && !adds) counts[value.index] = false;
  }
  return counts;
}

/// Instructions of loops that count from one literal to another: ptxas repeats their bodies.
std::vector<bool> Residues::spread_out(std::size_t registers) const {
  const auto& code = function_.code;
  const std::vector<bool> counts = counters(registers);
  const auto ends_known = [&](const Instruction& compare) {
    const bool first = literal(compare.s[0]) != nullptr;
    const Value& other = compare.s[first ? 1 : 0];
    return (first || literal(compare.s[1]) != nullptr) && other.kind == ValueKind::kRegister &&
           counts[other.index];
  };
  std::vector<int> opened(code.size() + 1, 0);
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].opcode != Opcode::kBra || !code[i].has(kBackward)) continue;
    const std::size_t begin = code[i].as<Branch>().target;
    const std::size_t first = std::max(begin, i - std::min(i, kNearCompare));
    for (std::size_t at = i; at > first; --at) {
      const Instruction& compare = code[at - 1];
      if (compare.opcode != Opcode::kSetp || compare.d[0].index != code[i].guard.index) continue;
      if (ends_known(compare)) ++opened[begin], --opened[i];
      break;
    }
  }
  std::vector<bool> spread(code.size(), false);
  for (std::size_t i = 0, depth = 0; i < code.size(); ++i)
    spread[i] = (depth += static_cast<std::size_t>(opened[i])) > 0;
  return spread;
}

Residue Residues::result_of(const Instruction& in) const {
  if (ptx::is_float(in.type) || in.has(kHi)) return {};
  const Residue a = of(in.s[0]), b = of(in.s[1]);
  const auto unseen = [&](std::size_t sources) {
    return std::any_of(in.s.begin(), in.s.begin() + sources,
                       [&](const Value& value) { return of(value).modulus == 0; });
  };
  switch (in.opcode) {
    case Opcode::kMov:
    case Opcode::kCvta:
    case Opcode::kCvt:
      return ptx::is_float(in.type2) ? Residue{} : a;
    case Opcode::kAdd:
      return unseen(2) ? kUnseen : residue(std::min(a.modulus, b.modulus), a.rest + b.rest);
    case Opcode::kSub:
      return unseen(2) ? kUnseen : residue(std::min(a.modulus, b.modulus), a.rest - b.rest);
    case Opcode::kOr:
      return unseen(2) ? kUnseen : residue(std::min(a.modulus, b.modulus), a.rest | b.rest);
    case Opcode::kXor:
      return unseen(2) ? kUnseen : residue(std::min(a.modulus, b.modulus), a.rest ^ b.rest);
    case Opcode::kAnd:
      return unseen(2) ? kUnseen : common_bits(a, b);
    case Opcode::kShl: {
      const Constant* by = literal(in.s[1]);
      if (by == nullptr) return {};
      const std::uint64_t bits = std::min<std::uint64_t>(by->bits, 4);
      return unseen(1) ? kUnseen : residue(a.modulus << bits, a.rest << bits);
    }
    case Opcode::kMul:
      return unseen(2) ? kUnseen : product(a, b);
    case Opcode::kMad: {
      if (unseen(3)) return kUnseen;
      const Residue c = of(in.s[2]), ab = product(a, b);
      return residue(std::min(ab.modulus, c.modulus), ab.rest + c.rest);
    }
    default:
      return {};
  }
}

}  // namespace membound::vgpu::program
