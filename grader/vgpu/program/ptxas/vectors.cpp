// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Vector loads of shared memory, and the alignment analysis that they rest on: what the code shows
/// of the lowest bits of each register's value, whether an address is a multiple of 16 bytes, or
/// lies 8 after one.
#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/opcode_table.hpp"
#include "grader/vgpu/program/ptxas/passes.hpp"

namespace membound::vgpu::program {
namespace {

// --- Alignment analysis --------------------------------------------------------------------------

constexpr std::uint64_t kWidest = 16;  ///< bytes of a load; nothing better aligned is of use

/// What is known of a value's lowest bits: what it leaves when divided by `modulus`, a power of
/// two.
struct Alignment {
  std::uint64_t modulus = 1;  ///< at most kWidest; 0 where no value was seen yet
  std::uint64_t rest = 0;

  friend bool operator==(const Alignment&, const Alignment&) = default;
};

/// Starts from nothing and holds only what is true of all that a register is given, until nothing
/// changes. Of a value that goes on from iteration to iteration only what divides it, as ptxas has
/// it, unless the loop's count is in the code: of such a loop ptxas repeats the body.
class AlignmentAnalysis {
 public:
  AlignmentAnalysis(const Function& function, std::size_t registers);

  [[nodiscard]] Alignment of(const Value& value) const;
  /// A Value names the first slot of a constant, not its number.
  [[nodiscard]] const Constant& constant_at(std::uint32_t slot) const;

 private:
  [[nodiscard]] const Constant* literal(const Value& value) const;
  [[nodiscard]] std::vector<bool> counters(std::size_t registers) const;
  [[nodiscard]] std::vector<bool> spread_out(std::size_t registers) const;
  [[nodiscard]] Alignment result_of(const Instruction& in) const;

  const Function& function_;
  std::vector<Alignment> known_;
};

// However long a program is, it is looked at in a time that grows no faster. Nested loops settle in
// a handful of passes.
constexpr int kMostPasses = 64;
constexpr std::size_t kNearCompare = 32;  ///< a loop's comparison stands so near to its branch
constexpr Alignment kUnseen{0, 0};

Alignment aligned_at(std::uint64_t modulus, std::uint64_t value) {
  modulus = std::min(kWidest, modulus);
  return {modulus, value % modulus};
}
/// What holds of both.
Alignment either(Alignment a, Alignment b) {
  if (a.modulus == 0 || b.modulus == 0) return a.modulus == 0 ? b : a;
  const std::uint64_t apart = a.rest ^ b.rest;
  const std::uint64_t alike = apart == 0 ? kWidest : apart & -apart;
  return aligned_at(std::min({a.modulus, b.modulus, alike}), a.rest);
}
Alignment product(Alignment a, Alignment b) {
  const std::uint64_t all = a.modulus * b.modulus | a.modulus * b.rest | b.modulus * a.rest;
  return aligned_at(all & -all, a.rest * b.rest);
}
/// Bits that are 0 in one of the two are known whatever the other is.
Alignment common_bits(Alignment a, Alignment b) {
  const std::uint64_t of_a = a.modulus - 1, of_b = b.modulus - 1;
  const std::uint64_t known = (of_a & of_b) | (of_a & ~a.rest) | (of_b & ~b.rest);
  return aligned_at(std::uint64_t{1} << std::countr_one(known), a.rest & b.rest);
}

/// The largest power of two that is known to divide the value, and no more.
Alignment divided(Alignment a) { return a.rest == 0 ? a : aligned_at(a.rest & -a.rest, 0); }

Alignment alignment_of(const Constant& constant) {
  switch (constant.kind) {
    case Constant::Kind::kLiteral:
    case Constant::Kind::kDynamicShared:
    case Constant::Kind::kSharedWindow:
    case Constant::Kind::kSharedWindowDynamic:
      return aligned_at(kWidest, constant.bits);
    default:
      return {};
  }
}

/// Does it add to its own result?
bool goes_on(const Instruction& in) {
  return (in.opcode == Opcode::kAdd || in.opcode == Opcode::kSub) &&
         (in.s[0] == in.d[0] || in.s[1] == in.d[0]);
}

AlignmentAnalysis::AlignmentAnalysis(const Function& function, std::size_t registers)
    : function_(function), known_(registers, kUnseen) {
  const std::vector<bool> spread = spread_out(registers);
  bool changed = true;
  for (int pass = 0; changed && pass < kMostPasses; ++pass) {
    changed = false;
    for (std::size_t i = 0; i < function.code.size(); ++i) {
      const Instruction& in = function.code[i];
      const Alignment result = result_of(in);
      for (const Value& value : in.d) {
        if (value.kind != ValueKind::kRegister) continue;
        Alignment both = either(known_[value.index], result);
        if (!spread[i] && goes_on(in)) both = divided(both);
        changed = changed || both != known_[value.index];
        known_[value.index] = both;
      }
    }
  }
  if (changed) std::fill(known_.begin(), known_.end(), Alignment{});
}

Alignment AlignmentAnalysis::of(const Value& value) const {
  if (value.kind == ValueKind::kRegister) return known_[value.index];
  return value.kind == ValueKind::kConstant ? alignment_of(constant_at(value.index)) : Alignment{};
}

const Constant& AlignmentAnalysis::constant_at(std::uint32_t slot) const {
  const auto& slots = function_.constant_slots;
  const auto place = std::lower_bound(slots.begin(), slots.end(), slot);
  return function_.constants[static_cast<std::size_t>(place - slots.begin())];
}

const Constant* AlignmentAnalysis::literal(const Value& value) const {
  if (value.kind != ValueKind::kConstant) return nullptr;
  const Constant& constant = constant_at(value.index);
  return constant.kind == Constant::Kind::kLiteral ? &constant : nullptr;
}

/// Registers that hold nothing but literals and what was added to these.
std::vector<bool> AlignmentAnalysis::counters(std::size_t registers) const {
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
std::vector<bool> AlignmentAnalysis::spread_out(std::size_t registers) const {
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

Alignment AlignmentAnalysis::result_of(const Instruction& in) const {
  if (ptx::is_float(in.type) || in.has(kHi)) return {};
  const Alignment a = of(in.s[0]), b = of(in.s[1]);
  const auto unseen = [&](std::size_t sources) {
    return std::any_of(in.s.begin(), in.s.begin() + sources,
                       [&](const Value& value) { return of(value).modulus == 0; });
  };
  switch (in.opcode) {
    case Opcode::kMov:
    case Opcode::kCvta:
    case Opcode::kCvt:
      return ptx::is_float(in.type2) ? Alignment{} : a;
    case Opcode::kAdd:
      return unseen(2) ? kUnseen : aligned_at(std::min(a.modulus, b.modulus), a.rest + b.rest);
    case Opcode::kSub:
      return unseen(2) ? kUnseen : aligned_at(std::min(a.modulus, b.modulus), a.rest - b.rest);
    case Opcode::kOr:
      return unseen(2) ? kUnseen : aligned_at(std::min(a.modulus, b.modulus), a.rest | b.rest);
    case Opcode::kXor:
      return unseen(2) ? kUnseen : aligned_at(std::min(a.modulus, b.modulus), a.rest ^ b.rest);
    case Opcode::kAnd:
      return unseen(2) ? kUnseen : common_bits(a, b);
    case Opcode::kShl: {
      const Constant* by = literal(in.s[1]);
      if (by == nullptr) return {};
      const std::uint64_t bits = std::min<std::uint64_t>(by->bits, 4);
      return unseen(1) ? kUnseen : aligned_at(a.modulus << bits, a.rest << bits);
    }
    case Opcode::kMul:
      return unseen(2) ? kUnseen : product(a, b);
    case Opcode::kMad: {
      if (unseen(3)) return kUnseen;
      const Alignment c = of(in.s[2]), ab = product(a, b);
      return aligned_at(std::min(ab.modulus, c.modulus), ab.rest + c.rest);
    }
    default:
      return {};
  }
}

// --- Vectors -------------------------------------------------------------------------------------

// However long a program is, it is looked at in a time that grows no faster; ptxas keeps fewer
// loads waiting for registers.
constexpr std::size_t kMostLoads = 256;

std::uint64_t width_of(const Instruction& load) { return ptx::size_bytes(load.type) * load.vector; }

/// Of 4 or 8 bytes, two words that nvcc has made one load among them.
bool loads_words(const Instruction& in) {
  return in.opcode == Opcode::kLd && in.space == ptx::StateSpace::kShared &&
         in.order == Order::kWeak && !in.guard && ptx::size_bytes(in.type) >= 4 &&
         width_of(in) <= 8;
}

/// Loads stay after these.
bool may_write_shared(const Instruction& in) {
  switch (shape_of(in)) {
    case Shape::kStore:
    case Shape::kAtom:
    case Shape::kRed:
      return in.space == ptx::StateSpace::kShared || in.space == ptx::StateSpace::kNone;
    case Shape::kCall:
    case Shape::kCpAsync:
      return true;
    default:
      return info_of(in.opcode).cost == Cost::kBarrier ||
             info_of(in.opcode).cost == Cost::kFenceDevice;
  }
}

struct Load {
  Instruction* in;
  std::int64_t offset;  ///< from a place that is aligned as well as the base is known
};
/// What a stretch of code loads around one address.
struct Words {
  Value base;
  std::uint64_t aligned;  ///< what an offset of 0 can be divided by
  std::vector<Load> loads;
};

/// Those of `loads` that lie in the same `width` bytes as the first become one with it where they
/// are both halves, or three quarters, of these.
void join_first(std::span<const Load> loads, std::int64_t width, std::vector<Instruction*>& led) {
  const Load& first = loads.front();
  const auto is_led = [&](const Load& load) {
    return load.in->fused || std::find(led.begin(), led.end(), load.in) != led.end();
  };
  if (is_led(first)) return;
  const auto vector_of = [&](const Load& load) { return load.offset & -width; };
  std::vector<Instruction*> others;
  Instruction* second_half = nullptr;
  std::uint64_t bytes = width_of(*first.in);
  for (const Load& load : loads.subspan(1)) {
    if (is_led(load) || load.in->type != first.in->type || vector_of(load) != vector_of(first))
      continue;
    others.push_back(load.in);
    bytes += width_of(*load.in);
    if (second_half == nullptr && ((load.offset ^ first.offset) & 8) != 0) second_half = load.in;
  }
  if (others.empty() || bytes * 4 < static_cast<std::uint64_t>(width) * 3) return;
  led.push_back(first.in);
  first.in->led_bytes = static_cast<std::uint8_t>(width);
  for (Instruction* other : others) other->fused = true;
  if (second_half != nullptr) second_half->second_half = true;
}

class Joiner {
 public:
  Joiner(Function& function, std::size_t registers)
      : function_(function), alignments_(function, registers) {}

  void mark(const BasicBlock& block) {
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      Instruction& in = function_.code[i];
      if (may_write_shared(in)) join_all();
      if (loads_words(in)) add(in);
      for (const Value& value : in.d)
        if (value.kind == ValueKind::kRegister) join(value);
    }
    join_all();
  }

 private:
  void add(Instruction& in) {
    Value base = in.s[0];
    std::int64_t offset = in.as<Access>().offset;
    Alignment known = alignments_.of(base);
    if (base.kind == ValueKind::kConstant) {  // the address itself
      const Constant& constant = alignments_.constant_at(base.index);
      offset += static_cast<std::int64_t>(constant.bits);
      base.index = static_cast<std::uint32_t>(constant.kind);
      known = {kWidest, 0};
    }
    offset += static_cast<std::int64_t>(known.rest);
    if (open_.size() >= kMostLoads) join_all();
    const auto words = std::find_if(open_.begin(), open_.end(),
                                    [&](const Words& each) { return each.base == base; });
    if (words == open_.end()) {
      open_.push_back({base, known.modulus, {{&in, offset}}});
      return;
    }
    words->loads.push_back({&in, offset});
    if (words->loads.size() < kMostLoads) return;
    join(*words);
    open_.erase(words);
  }
  /// The register gets another value.
  void join(const Value& base) {
    const auto is_it = [&](const Words& words) { return words.base == base; };
    for (const Words& words : open_)
      if (is_it(words)) join(words);
    std::erase_if(open_, is_it);
  }
  void join_all() {
    for (const Words& words : open_) join(words);
    open_.clear();
  }
  static void join(const Words& words) {
    std::vector<Instruction*> led;  // first of a vector
    for (const std::int64_t width : {16, 8}) {
      if (words.aligned < static_cast<std::uint64_t>(width)) continue;
      for (std::size_t i = 0; i < words.loads.size(); ++i)
        join_first(std::span(words.loads).subspan(i), width, led);
    }
  }

  Function& function_;
  AlignmentAnalysis alignments_;
  std::vector<Words> open_;
};

}  // namespace

void mark_vectors(Function& function, RegisterSizes sizes) {
  if (std::none_of(function.code.begin(), function.code.end(), loads_words)) return;
  Joiner joiner(function, sizes.size());
  for (const BasicBlock& block : basic_blocks(function)) joiner.mark(block);
}

}  // namespace membound::vgpu::program
