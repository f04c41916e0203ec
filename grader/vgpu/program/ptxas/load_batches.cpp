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

/// Memory that no kernel of the launch changes: const __restrict__ pointers, __ldg(), textures.
bool reads_what_stays(const Instruction& in) { return in.has(kNonCoherent) || is_fetch(in); }

/// Nothing is loaded before these that stands after them.
bool orders_all_loads(const Instruction& in) {
  if (shape_of(in) == Shape::kCall) return true;
  if (accesses_memory(in) && (in.order == Order::kAcquire || in.order == Order::kAcqRel))
    return true;
  const Cost cost = info_of(in.opcode).cost;
  return cost == Cost::kFenceBlock || cost == Cost::kFenceDevice || cost == Cost::kFenceSystem;
}

/// Loads of memory that may change are not moved across these either.
bool separates(const Instruction& in, Reads what) {
  switch (shape_of(in)) {
    case Shape::kStore:
    case Shape::kAtom:
    case Shape::kRed:
      return !in.has(kParamMemory) &&
             (in.space == ptx::StateSpace::kShared) == (what == Reads::kShared);
    default:
      return info_of(in.opcode).cost == Cost::kBarrier;
  }
}

/// How many loads, one waiting for the other, each register's value needs. ptxas moves a load up to
/// where its address is known, so those of one level are in flight together, whatever stands
/// between them. Levels are counted from the function's start: what waits for all before it begins
/// above the highest.
class Levels {
 public:
  explicit Levels(std::size_t registers) : known_(registers, 0) {}
  /// What follows waits for all before it.
  void restart() { begin_ = begin_unchanging_ = highest_; }
  /// Likewise, but for loads of what stays as it is.
  void restart_changing() { begin_ = highest_; }
  [[nodiscard]] std::uint32_t of(const Value& value) const {
    return value.kind == ValueKind::kRegister ? known_[value.index] : 0;
  }
  void set(const Value& value, std::uint32_t level) {
    if (value.kind == ValueKind::kRegister) known_[value.index] = level;
  }
  /// Of a load whose address needs `address` loads.
  [[nodiscard]] std::uint32_t of_load(std::uint32_t address, bool unchanging) const {
    return std::max(address, unchanging ? begin_unchanging_ : begin_) + 1;
  }
  /// True for the first of its level.
  bool rises_to(std::uint32_t level) {
    if (level <= highest_) return false;
    highest_ = level;
    return true;
  }
  [[nodiscard]] std::uint32_t highest() const { return highest_; }

 private:
  std::vector<std::uint32_t> known_;  ///< by register
  std::uint32_t begin_ = 0, begin_unchanging_ = 0, highest_ = 0;
};

/// ptxas makes predicated instructions of a guarded stretch of code up to this long, and none of a
/// longer one: of guarded loads with a chain of multiply-adds after them and a store into shared
/// memory, those of 17 instructions were, those of 21 were not (nvcc 13.0, sm_90, nvdisasm).
constexpr std::uint32_t kLongestGuarded = 20;

/// How many guards it keeps at once where guarded stores need them again later: of seven
/// predicates one is the loop's or the next comparison's. Seen in the same machine code.
constexpr std::uint32_t kGuardsAtOnce = 6;

/// Lanes that take the branch are to meet there: ptxas keeps the branch around a vote, a match, a
/// shuffle and a reduction over the warp, whatever mask they name (seen in the same machine code).
bool joins_lanes(const Instruction& in) {
  switch (info_of(in.opcode).cost) {
    case Cost::kVote:
      return in.opcode != Opcode::kActivemask;
    case Cost::kShuffle:
    case Cost::kMatch:
    case Cost::kRedux:
      return true;
    default:
      return false;
  }
}

/// Registers' worth of loads that it moves across stores: of 32 to 128 words, each stored at once,
/// 25 were on their way before the first store, and 16 to 25 from then on. Seen in the same machine
/// code.
constexpr std::uint32_t kWordsInFlight = 24;

std::uint32_t words_of(const Instruction& in) {
  const auto registers = std::count_if(in.d.begin(), in.d.end(), [](const Value& value) {
    return value.kind == ValueKind::kRegister;
  });
  return static_cast<std::uint32_t>(registers) * in.d_slots;
}

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
      if (shape_of(in) == Shape::kCall || info_of(in.opcode).cost == Cost::kBarrier ||
          joins_lanes(in))
        return false;
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
    if (only_polls(block)) return start_anew();
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
      separate_at(in);
      std::uint32_t level = 0;
      for (const Value& value : in.s) level = std::max(level, levels_.of(value));
      for (const Value& value : in.d) levels_.set(value, level);
    }
  }

 private:
  /// How often a loop asks whether another thread is there depends on that thread: its turns are no
  /// waits of this one. Where it stands in another loop or what it loads is wanted as data, as by a
  /// block that looks back from one block to the next, each turn counts: one of them is needed.
  [[nodiscard]] bool only_polls(const BasicBlock& block) const {
    if (what_ != Reads::kGlobal || !jumps_back(block.end - 1, block.begin)) return false;
    bool polls = false;
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      const Instruction& in = function_.code[i];
      if (what_it_reads(in) != what_) continue;
      const bool asks = in.opcode == Opcode::kAtom || in.order != Order::kWeak;
      if (!asks || !in.only_decides) return false;
      polls = true;
    }
    for (std::uint32_t i = block.end; polls && i < function_.code.size(); ++i)
      polls = !jumps_back(i, block.begin);
    return polls;
  }
  /// Does instruction `from` branch to `to`, or to what stands before it?
  [[nodiscard]] bool jumps_back(std::uint32_t from, std::uint32_t to) const {
    const Instruction& in = function_.code[from];
    return in.opcode == Opcode::kBra && in.as<Branch>().target <= to;
  }
  void start_anew() {
    levels_.restart();
    guards_ = 0;
    words_ = 0;
  }
  /// Loads of what stays as it is move across it where there are registers for them.
  void separate_at(const Instruction& in) {
    if (orders_all_loads(in) || (separates(in, what_) && words_ >= kWordsInFlight)) {
      levels_.restart();
      words_ = 0;
    } else if (separates(in, what_)) {
      levels_.restart_changing();
    }
  }

  void load(Instruction& in, bool guarded) {
    std::uint32_t address = levels_.of(in.s[0]);
    if (is_fetch(in))  // coordinates too
      for (const Value& value : in.s) address = std::max(address, levels_.of(value));
    const bool unchanging = reads_what_stays(in);
    if (unchanging) words_ += words_of(in);
    const std::uint32_t level = levels_.of_load(address, unchanging);
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
    separate_at(in);
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
  std::uint32_t words_ = 0;               ///< loaded of what stays as it is, and not moved up to
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
