// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/vectors.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/residues.hpp"
#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::program {
namespace {

// However long a program is, it is looked at in a time that grows no faster; ptxas keeps fewer
// loads waiting for registers.
constexpr std::size_t kMostLoads = 256;

std::uint64_t bytes_of(const Instruction& load) { return ptx::size_bytes(load.type) * load.vector; }

/// Of 4 or 8 bytes, two words that nvcc has made one load among them.
bool loads_words(const Instruction& in) {
  return in.opcode == Opcode::kLd && in.space == ptx::StateSpace::kShared &&
         in.order == Order::kWeak && !in.guard && ptx::size_bytes(in.type) >= 4 &&
         bytes_of(in) <= 8;
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
  std::int64_t offset;  ///< from a place that is aligned as well as the base is known
};
/// What a piece of code loads around one address.
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
  const auto piece_of = [&](const Load& load) { return load.offset & -width; };
  std::vector<Instruction*> others;
  Instruction* second_half = nullptr;
  std::uint64_t bytes = bytes_of(*first.in);
  for (const Load& load : loads.subspan(1)) {
    if (is_led(load) || load.in->type != first.in->type || piece_of(load) != piece_of(first))
      continue;
    others.push_back(load.in);
    bytes += bytes_of(*load.in);
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
      : function_(function), residues_(function, registers) {}

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
    Residue known = residues_.of(base);
    if (base.kind == ValueKind::kConstant) {  // the address itself
      const Constant& constant = residues_.constant_at(base.index);
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
  Residues residues_;
  std::vector<Words> open_;
};

}  // namespace

void mark_vectors(Function& function, std::size_t registers) {
  if (std::none_of(function.code.begin(), function.code.end(), loads_words)) return;
  Joiner joiner(function, registers);
  for (const BasicBlock& block : basic_blocks(function)) joiner.mark(block);
}

}  // namespace membound::vgpu::program
