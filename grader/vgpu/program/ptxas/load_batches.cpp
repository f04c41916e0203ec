// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory-level parallelism: see mark_load_batches.
#include <algorithm>
#include <vector>

#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/opcode_table.hpp"
#include "grader/vgpu/program/ptxas/passes.hpp"

namespace membound::vgpu::program {
namespace {

enum class Reads : std::uint8_t { kNothing, kGlobal, kShared };

Reads what_it_reads(const Instruction& in) {
  if (is_fetch(in)) return Reads::kGlobal;
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

/// How many loads, one waiting for the other, each register's value needs. ptxas moves a load up to
/// where its address is known, so those of one level are in flight together, whatever stands
/// between them.
class Levels {
 public:
  explicit Levels(std::size_t registers) : known_(registers) {}
  /// What follows waits for all before it.
  void restart() { ++segment_, highest_ = 0; }
  [[nodiscard]] std::uint32_t of(const Value& value) const {
    if (value.kind != ValueKind::kRegister) return 0;
    const Known& known = known_[value.index];
    return known.segment == segment_ ? known.level : 0;
  }
  void set(const Value& value, std::uint32_t level) {
    if (value.kind == ValueKind::kRegister) known_[value.index] = {segment_, level};
  }
  /// True for the first of its level.
  bool rises_to(std::uint32_t level) {
    if (level <= highest_) return false;
    highest_ = level;
    return true;
  }
  [[nodiscard]] std::uint32_t highest() const { return highest_; }

 private:
  struct Known {
    std::uint32_t segment = 0, level = 0;
  };
  std::vector<Known> known_;
  std::uint32_t segment_ = 1, highest_ = 0;
};

/// ptxas makes predicated instructions of a guarded stretch of code up to this long, and none of a
/// longer one: of guarded loads with a chain of multiply-adds after them and a store into shared
/// memory, those of 17 instructions were, those of 21 were not (nvcc 13.0, sm_90, nvdisasm).
constexpr std::uint32_t kLongestGuarded = 20;

/// How many guards it keeps at once where guarded stores need them again later: of seven
/// predicates one is the loop's or the next comparison's. Seen in the same machine code.
constexpr std::uint32_t kGuardsAtOnce = 6;

bool stays_behind_its_guard(const Instruction& in) {
  return shape_of(in) == Shape::kStore || shape_of(in) == Shape::kRed;
}

/// Code that ptxas has in one stretch although branches lead around parts of it: block B of
/// `@p bra C; B; C:` is guarded where it is short and nothing else leads to it.
class Guards {
 public:
  Guards(const Function& function, const std::vector<BasicBlock>& blocks)
      : guarded_(blocks.size(), false), goes_on_(blocks.size(), false) {
    std::vector<std::uint32_t> ways_in(blocks.size() + 1, 0);
    for (const BasicBlock& block : blocks)
      for (const std::uint32_t next : block.successors) ++ways_in[next];
    for (std::uint32_t b = 1; b + 1 < blocks.size(); ++b) {
      const auto& around = blocks[b - 1].successors;
      if (around.size() != 2 || around[0] + around[1] != 2 * b + 1) continue;  // b and b + 1
      if (blocks[b].successors != std::vector{b + 1} || ways_in[b] != 1) continue;
      if (!is_short(function, blocks[b])) continue;
      guarded_[b] = goes_on_[b] = true;
      goes_on_[b + 1] = ways_in[b + 1] == 2;
    }
  }
  [[nodiscard]] bool guarded(std::size_t block) const { return guarded_[block]; }
  /// Does it go on where the block before it ends?
  [[nodiscard]] bool goes_on(std::size_t block) const { return goes_on_[block]; }

 private:
  static bool is_short(const Function& function, const BasicBlock& block) {
    if (block.end - block.begin > kLongestGuarded) return false;
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      const Instruction& in = function.code[i];
      if (shape_of(in) == Shape::kCall || info_of(in.opcode).cost == Cost::kBarrier) return false;
    }
    return true;
  }

  std::vector<bool> guarded_, goes_on_;
};

/// Marks the load batches of one kind of memory, in code order.
class Marker {
 public:
  Marker(Function& function, Reads what, std::uint32_t flag, std::size_t registers)
      : function_(function), what_(what), flag_(flag), levels_(registers) {}

  void mark(const BasicBlock& block, bool guarded, bool goes_on) {
    if (!goes_on) start_anew();
    if (guarded && keeps_its_guard(block) && ++guards_ > kGuardsAtOnce) {
      start_anew();
      guards_ = 1;
    }
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      Instruction& in = function_.code[i];
      if (what_it_reads(in) == what_) {
        load(in, guarded);
        continue;
      }
      if (separates(in, what_)) levels_.restart();
      std::uint32_t level = 0;
      for (const Value& value : in.s) level = std::max(level, levels_.of(value));
      for (const Value& value : in.d) levels_.set(value, level);
    }
  }

 private:
  void start_anew() {
    levels_.restart();
    guards_ = 0;
  }

  void load(Instruction& in, bool guarded) {
    std::uint32_t level = levels_.of(in.s[0]);
    if (is_fetch(in))  // coordinates too
      for (const Value& value : in.s) level = std::max(level, levels_.of(value));
    ++level;
    if (levels_.rises_to(level)) {
      in.flags |= flag_;
      guarded_first_ = guarded ? &in : nullptr;
    } else if (guarded_first_ != nullptr && !guarded && level == levels_.highest()) {
      // The batch is counted where all warps come by: a guard may be closed to a whole warp.
      guarded_first_->flags &= ~flag_;
      guarded_first_ = nullptr;
      in.flags |= flag_;
    }
    for (const Value& value : in.d) levels_.set(value, level);
    if (in.opcode == Opcode::kAtom) levels_.restart();
  }

  [[nodiscard]] bool keeps_its_guard(const BasicBlock& block) const {
    bool loads = false, stores = false;
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      loads = loads || what_it_reads(function_.code[i]) == what_;
      stores = stores || stays_behind_its_guard(function_.code[i]);
    }
    return loads && stores;
  }

  Function& function_;
  Reads what_;
  std::uint32_t flag_;
  Levels levels_;
  std::uint32_t guards_ = 0;              ///< held in this stretch of code
  Instruction* guarded_first_ = nullptr;  ///< what starts the batch, where that is after a guard
};

}  // namespace

void mark_single_loads(Function& function, RegisterSizes /*sizes*/) {
  for (Instruction& in : function.code) {
    const Reads what = what_it_reads(in);
    if (what == Reads::kGlobal) in.flags |= kStartsGlobalBatch;
    if (what == Reads::kShared) in.flags |= kStartsSharedBatch;
  }
}

void mark_load_batches(Function& function, RegisterSizes sizes) {
  const std::vector<BasicBlock> blocks = basic_blocks(function);
  const Guards guards(function, blocks);
  Marker global(function, Reads::kGlobal, kStartsGlobalBatch, sizes.size());
  Marker shared(function, Reads::kShared, kStartsSharedBatch, sizes.size());
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (Marker* marker : {&global, &shared})
      marker->mark(blocks[b], guards.guarded(b), guards.goes_on(b));
}

}  // namespace membound::vgpu::program
