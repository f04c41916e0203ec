// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Constant propagation and register allocation: from PTX's unlimited registers to few slots.
#include "grader/vgpu/program/link/decoder.hpp"

#include <algorithm>
#include <array>

#include "grader/vgpu/program/control_flow.hpp"

namespace membound::vgpu::program {
namespace {

template <typename Visit>
void for_each_source(Function& function, Instruction& in, Visit visit) {
  if (in.guard) visit(in.guard);
  for (Value& value : in.s) visit(value);
  if (const auto* site = std::get_if<CallSite>(&in.detail)) {
    for (ArgumentCopy& copy : function.calls[site->call].arguments) visit(copy.value);
  }
}

template <typename Visit>
void for_each_destination(Function& function, Instruction& in, Visit visit) {
  for (Value& value : in.d) visit(value);
  if (const auto* site = std::get_if<CallSite>(&in.detail)) {
    for (ArgumentCopy& copy : function.calls[site->call].results) visit(copy.value);
  }
}

/// Dense bit sets, one per block.
class BitSets {
 public:
  BitSets(std::size_t sets, std::size_t bits) : words_((bits + 63) / 64), data_(sets * words_) {}
  std::uint64_t* operator[](std::size_t set) { return data_.data() + set * words_; }
  [[nodiscard]] std::size_t words() const { return words_; }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> data_;
};

bool test(const std::uint64_t* set, std::uint32_t bit) { return (set[bit / 64] >> (bit % 64)) & 1; }
void put(std::uint64_t* set, std::uint32_t bit) { set[bit / 64] |= std::uint64_t{1} << (bit % 64); }

struct Interval {
  std::uint32_t begin = 0xFFFFFFFFu;
  std::uint32_t end = 0;
  void cover(std::uint32_t at) {
    begin = std::min(begin, at);
    end = std::max(end, at + 1);
  }
};

/// Which registers are alive where blocks begin and end.
struct Liveness {
  std::vector<BasicBlock> blocks;
  BitSets in, out;
};

Liveness liveness_of(Function& function, std::size_t registers) {
  std::vector<BasicBlock> blocks = basic_blocks(function);
  BitSets in(blocks.size(), registers), use(blocks.size(), registers),
      define(blocks.size(), registers);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
      Instruction& instruction = function.code[i];
      for_each_source(function, instruction, [&](const Value& value) {
        if (value.kind == ValueKind::kRegister && !test(define[b], value.index))
          put(use[b], value.index);
      });
      if (instruction.guard) continue;  // some lanes keep the old value
      for_each_destination(function, instruction, [&](const Value& value) {
        if (value.kind == ValueKind::kRegister) put(define[b], value.index);
      });
    }
  }
  BitSets out(blocks.size(), registers);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = blocks.size(); b-- > 0;) {
      for (std::size_t w = 0; w < in.words(); ++w) {
        std::uint64_t leaving = 0;
        for (const std::uint32_t successor : blocks[b].successors) leaving |= in[successor][w];
        const std::uint64_t entering = use[b][w] | (leaving & ~define[b][w]);
        out[b][w] = leaving;
        if (entering != in[b][w]) in[b][w] = entering, changed = true;
      }
    }
  }
  return {std::move(blocks), std::move(in), std::move(out)};
}

/// From first to last instruction a register is alive at, holes included.
std::vector<Interval> live_intervals(Function& function, Liveness& alive, std::size_t registers) {
  auto& [blocks, in, out] = alive;
  std::vector<Interval> intervals(registers);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t w = 0; w < in.words(); ++w) {
      for (std::uint64_t bits = in[b][w]; bits != 0; bits &= bits - 1)
        intervals[w * 64 + static_cast<std::size_t>(__builtin_ctzll(bits))].cover(blocks[b].begin);
      for (std::uint64_t bits = out[b][w]; bits != 0; bits &= bits - 1)
        intervals[w * 64 + static_cast<std::size_t>(__builtin_ctzll(bits))].cover(blocks[b].end -
                                                                                  1);
    }
    for (std::uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
      const auto cover = [&](const Value& value) {
        if (value.kind == ValueKind::kRegister) intervals[value.index].cover(i);
      };
      for_each_source(function, function.code[i], cover);
      for_each_destination(function, function.code[i], cover);
    }
  }
  return intervals;
}

/// Gives out runs of 1, 2 or 4 slots. A run is used again only for registers of its own size: lanes
/// of a warp may be at different places, and a lane's 32-bit word lies in another lane's 64-bit
/// one.
class SlotPool {
 public:
  /// The number of a run among those of its length.
  std::uint32_t take_run(std::uint32_t length) {
    std::vector<bool>& used = used_[length];
    const auto free = std::find(used.begin(), used.end(), false);
    const auto at = static_cast<std::uint32_t>(free - used.begin());
    if (free == used.end()) used.push_back(false);
    used[at] = true;
    return at;
  }
  void give_back(std::uint32_t at, std::uint32_t length) { used_[length][at] = false; }
  /// The first slot of a run, once all are taken: longer runs come first, so that each starts at a
  /// multiple of its length.
  [[nodiscard]] std::uint32_t slot_of(std::uint32_t run, std::uint32_t length) const {
    std::uint32_t before = 0;
    for (std::uint32_t longer = 4; longer > length; longer /= 2) before += count(longer) * longer;
    return before + run * length;
  }
  [[nodiscard]] std::uint32_t size() const { return slot_of(count(1), 1); }

 private:
  [[nodiscard]] std::uint32_t count(std::uint32_t length) const {
    return static_cast<std::uint32_t>(used_[length].size());
  }

  std::array<std::vector<bool>, 5> used_;  ///< by length
};

/// Registers alive at once if every load stood right before its first use: ptxas moves loads, and a
/// compiler that collects them at the top of a loop (clang) does not thereby need a register each.
std::uint32_t peak_of(Function& function, Liveness& alive, RegisterSizes sizes) {
  std::vector<std::uint32_t> load_at(sizes.size(), kNoTarget), first_use(sizes.size(), kNoTarget);
  for (auto i = static_cast<std::uint32_t>(function.code.size()); i-- > 0;) {
    Instruction& in = function.code[i];
    for_each_source(function, in, [&](const Value& value) {
      if (value.kind == ValueKind::kRegister) first_use[value.index] = i;
    });
    if (in.opcode != Opcode::kLd) continue;
    for (const Value& value : in.d)
      if (value.kind == ValueKind::kRegister) load_at[value.index] = i;
  }
  std::uint32_t peak = 0;
  std::vector<bool> here(sizes.size());
  for (std::size_t b = 0; b < alive.blocks.size(); ++b) {
    const BasicBlock& block = alive.blocks[b];
    std::uint32_t sum = 0;
    const auto set = [&](std::uint32_t r, bool now) {
      if (here[r] == now) return;
      here[r] = now;
      sum = now ? sum + sizes[r] : sum - sizes[r];
    };
    for (std::uint32_t r = 0; r < sizes.size(); ++r) {
      here[r] = false;
      set(r, test(alive.out[b], r));
    }
    peak = std::max(peak, sum);
    for (std::uint32_t i = block.end; i-- > block.begin;) {
      Instruction& in = function.code[i];
      if (!in.guard) {
        for_each_destination(function, in, [&](const Value& value) {
          if (value.kind == ValueKind::kRegister) set(value.index, false);
        });
      }
      for_each_source(function, in, [&](const Value& value) {
        if (value.kind == ValueKind::kRegister) set(value.index, true);
      });
      peak = std::max(peak, sum);
      for_each_source(function, in, [&](const Value& value) {
        if (value.kind != ValueKind::kRegister) return;
        const std::uint32_t load = load_at[value.index];
        if (first_use[value.index] == i && load >= block.begin && load < i) set(value.index, false);
      });
    }
  }
  return peak;
}

void mark_unread_atomics(Function& function, std::size_t registers) {
  std::vector<bool> read(registers, false);
  for (Instruction& in : function.code) {
    for_each_source(function, in, [&](const Value& value) {
      if (value.kind == ValueKind::kRegister) read[value.index] = true;
    });
  }
  for (Instruction& in : function.code) {
    if (in.opcode != Opcode::kAtom) continue;
    bool any = false;
    for (const Value& value : in.d) any = any || (value && read[value.index]);
    if (!any) {
      in.flags |= kResultUnused;
      in.d = {};
    }
  }
}

}  // namespace

void propagate_constants(Function& function, RegisterSizes sizes) {
  std::vector<std::uint32_t> definitions(sizes.size(), 0);
  for (Instruction& in : function.code) {
    for_each_destination(function, in, [&](const Value& value) {
      if (value.kind == ValueKind::kRegister) ++definitions[value.index];
    });
  }
  std::vector<Value> known(sizes.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (Instruction& in : function.code) {
      for_each_source(function, in, [&](Value& value) {
        if (value.kind == ValueKind::kRegister && known[value.index]) value = known[value.index];
      });
      const bool copies = (in.opcode == Opcode::kMov && in.as<Move>().way == MoveWay::kCopy) ||
                          (in.opcode == Opcode::kCvta && in.space == ptx::StateSpace::kGlobal);
      if (!copies || in.guard || in.d[0].kind != ValueKind::kRegister) continue;
      const ValueKind from = in.s[0].kind;
      if (from != ValueKind::kConstant && from != ValueKind::kWarp && from != ValueKind::kBlock)
        continue;
      if (definitions[in.d[0].index] != 1 || in.s_slots != sizes[in.d[0].index]) continue;
      known[in.d[0].index] = in.s[0];
      in.opcode = Opcode::kNop;
      in.d = {};
      in.s = {};
      changed = true;
    }
  }
}

void assign_registers(Function& function, RegisterSizes sizes) {
  mark_unread_atomics(function, sizes.size());
  Liveness alive = liveness_of(function, sizes.size());
  const std::vector<Interval> intervals = live_intervals(function, alive, sizes.size());
  std::vector<std::uint32_t> order, active, slot(sizes.size(), 0);
  std::uint32_t predicates = 0;
  for (std::uint32_t r = 0; r < sizes.size(); ++r) {
    if (sizes[r] == 0) {
      slot[r] = predicates++;
    } else if (intervals[r].end != 0) {
      order.push_back(r);
    }
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(intervals[a].begin, a) < std::pair(intervals[b].begin, b);
  });
  SlotPool pool;
  for (const std::uint32_t r : order) {
    std::erase_if(active, [&](std::uint32_t other) {
      // `<`: a destination never shares a slot with a source of its own instruction, so that
      // handlers may write one lane while they still read others (shuffles, carries).
      const bool over = intervals[other].end <= intervals[r].begin;
      if (over) pool.give_back(slot[other], sizes[other]);
      return over;
    });
    slot[r] = pool.take_run(sizes[r]);
    active.push_back(r);
  }
  for (const std::uint32_t r : order) slot[r] = pool.slot_of(slot[r], sizes[r]);
  function.register_slots = pool.size();
  function.peak_registers = peak_of(function, alive, sizes);
  function.predicate_count = predicates;
  const auto place = [&](Value& value) {
    if (value.kind == ValueKind::kRegister || value.kind == ValueKind::kPredicate)
      value.index = slot[value.index];
  };
  for (Instruction& in : function.code) {
    if (in.guard) place(in.guard);
    for (Value& value : in.d) place(value);
    for (Value& value : in.s) place(value);
  }
  for (Call& call : function.calls) {
    for (ArgumentCopy& copy : call.arguments) place(copy.value);
    for (ArgumentCopy& copy : call.results) place(copy.value);
  }
}

}  // namespace membound::vgpu::program
