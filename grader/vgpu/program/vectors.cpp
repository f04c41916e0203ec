// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/vectors.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::program {
namespace {

constexpr std::uint64_t kWidest = 16;  ///< bytes of a load; nothing better aligned is of use
// However long a program is, it is looked at in a time that grows no faster. Nested loops settle in
// a handful of rounds; ptxas keeps fewer loads waiting for registers.
constexpr int kMostRounds = 64;
constexpr std::size_t kMostLoads = 256;

/// What each register's value can be divided by, as far as the code shows: a power of two. Starts
/// from kWidest and takes back until nothing changes.
class Alignments {
 public:
  Alignments(const Function& function, std::size_t registers)
      : function_(function), known_(registers, kWidest) {
    bool changed = true;
    for (int round = 0; changed && round < kMostRounds; ++round) {
      changed = false;
      for (const Instruction& in : function.code) {
        const std::uint64_t result = result_of(in);
        for (const Value& value : in.d) {
          if (value.kind != ValueKind::kRegister || known_[value.index] <= result) continue;
          known_[value.index] = result;
          changed = true;
        }
      }
    }
    if (changed) std::fill(known_.begin(), known_.end(), 1);
  }

  [[nodiscard]] std::uint64_t of(const Value& value) const {
    if (value.kind == ValueKind::kRegister) return known_[value.index];
    return value.kind == ValueKind::kConstant ? of(constant_at(value.index)) : 1;
  }

  /// A Value names the first slot of a constant, not its number.
  [[nodiscard]] const Constant& constant_at(std::uint32_t slot) const {
    const auto& slots = function_.constant_slots;
    const auto place = std::lower_bound(slots.begin(), slots.end(), slot);
    return function_.constants[static_cast<std::size_t>(place - slots.begin())];
  }

 private:
  static std::uint64_t of(const Constant& constant) {
    switch (constant.kind) {
      case Constant::Kind::kLiteral:
      case Constant::Kind::kDynamicShared:
      case Constant::Kind::kSharedWindow:
      case Constant::Kind::kSharedWindowDynamic:
        return constant.bits == 0 ? kWidest : lowest_bit(constant.bits);
      default:
        return 1;
    }
  }
  static std::uint64_t lowest_bit(std::uint64_t bits) {
    return std::min(kWidest, std::uint64_t{1} << std::countr_zero(bits));
  }

  [[nodiscard]] const Constant* literal(const Value& value) const {
    if (value.kind != ValueKind::kConstant) return nullptr;
    const Constant& constant = constant_at(value.index);
    return constant.kind == Constant::Kind::kLiteral ? &constant : nullptr;
  }

  [[nodiscard]] std::uint64_t product(const Value& a, const Value& b) const {
    return std::min(kWidest, of(a) * of(b));
  }
  [[nodiscard]] std::uint64_t result_of(const Instruction& in) const {
    if (ptx::is_float(in.type) || in.has(kHi)) return 1;
    switch (in.opcode) {
      case Opcode::kMov:
      case Opcode::kCvta:
      case Opcode::kCvt:
        return ptx::is_float(in.type2) ? 1 : of(in.s[0]);
      case Opcode::kAdd:
      case Opcode::kSub:
      case Opcode::kOr:
      case Opcode::kXor:
        return std::min(of(in.s[0]), of(in.s[1]));
      case Opcode::kAnd:
        return std::max(of(in.s[0]), of(in.s[1]));
      case Opcode::kShl: {
        const Constant* by = literal(in.s[1]);
        return by == nullptr
                   ? 1
                   : std::min(kWidest, of(in.s[0]) << std::min<std::uint64_t>(by->bits, 4));
      }
      case Opcode::kMul:
        return product(in.s[0], in.s[1]);
      case Opcode::kMad:
        return std::min(product(in.s[0], in.s[1]), of(in.s[2]));
      default:
        return 1;
    }
  }

  const Function& function_;
  std::vector<std::uint64_t> known_;
};

bool loads_words(const Instruction& in) {
  const std::uint64_t bytes = ptx::size_bytes(in.type);
  return in.opcode == Opcode::kLd && in.space == ptx::StateSpace::kShared && in.vector == 1 &&
         in.order == Order::kWeak && !in.guard && (bytes == 4 || bytes == 8);
}

/// Loads stay behind these.
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
  std::int64_t offset;  ///< from the base
};
/// What a piece of code loads around one address.
struct Words {
  Value base;
  std::uint64_t aligned;  ///< the base
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
  const auto piece_of = [&](const Load& load) { return load.offset & -width; };
  std::vector<Instruction*> others;
  Instruction* second_half = nullptr;
  for (const Load& load : loads.subspan(1)) {
    if (is_led(load) || load.in->type != first.in->type || piece_of(load) != piece_of(first))
      continue;
    others.push_back(load.in);
    if (second_half == nullptr && ((load.offset ^ first.offset) & 8) != 0) second_half = load.in;
  }
  const auto bytes =
      static_cast<std::int64_t>((others.size() + 1) * ptx::size_bytes(first.in->type));
  if (others.empty() || bytes * 4 < width * 3) return;
  led.push_back(first.in);
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
    std::uint64_t aligned = alignments_.of(base);
    if (base.kind == ValueKind::kConstant) {  // the address itself
      const Constant& constant = alignments_.constant_at(base.index);
      offset += static_cast<std::int64_t>(constant.bits);
      base.index = static_cast<std::uint32_t>(constant.kind);
      aligned = kWidest;
    }
    if (open_.size() >= kMostLoads) join_all();
    const auto words = std::find_if(open_.begin(), open_.end(),
                                    [&](const Words& each) { return each.base == base; });
    if (words == open_.end()) {
      open_.push_back({base, aligned, {{&in, offset}}});
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
  Alignments alignments_;
  std::vector<Words> open_;
};

}  // namespace

void mark_vectors(Function& function, std::size_t registers) {
  if (std::none_of(function.code.begin(), function.code.end(), loads_words)) return;
  Joiner joiner(function, registers);
  for (const BasicBlock& block : basic_blocks(function)) joiner.mark(block);
}

}  // namespace membound::vgpu::program
