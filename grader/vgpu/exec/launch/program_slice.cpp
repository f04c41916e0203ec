// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The backward slice of a kernel from its branches and from the addresses of its stores to global
/// memory (Weiser: Program Slicing, 1981). It says where a block stores and which way its warps go,
/// and takes a small part of the block's time, because most instructions make the values that are
/// stored.
///
///   ld.shared  r1, [r9]      passed over: nothing but a value depends on it
///   fma        r2, r1, r1, r2                the same
///   add        r5, r5, 1     kept: the branch depends on it
///   setp       p, r5, r6     kept
///   @p bra     loop          kept
///   st.global  [r7], r2      kept, and r7 with it; whatever r2 holds is stored
#include <algorithm>
#include <bit>
#include <vector>

#include "grader/vgpu/exec/critical_path/block_recorder.hpp"
#include "grader/vgpu/exec/launch/block_strata.hpp"
#include "grader/vgpu/exec/launch/launch.hpp"
#include "grader/vgpu/exec/launch/prepare.hpp"
#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec {
namespace {

using program::Instruction;
using program::Opcode;
using program::Shape;
using program::Value;
using program::ValueKind;

/// State spaces, of which a generic address may be any.
enum Spaces : std::uint8_t { kNowhere = 0, kGlobal = 1, kShared = 2, kLocal = 4, kAll = 7 };

std::uint8_t spaces_of(const Instruction& in) {
  switch (in.space) {
    case ptx::StateSpace::kGlobal:
      return kGlobal;
    case ptx::StateSpace::kShared:
      return kShared;
    case ptx::StateSpace::kLocal:
      return kLocal;
    case ptx::StateSpace::kNone:
      return kAll;
    default:
      return kNowhere;
  }
}

bool stores_in_bulk(const Instruction& in) {
  return shape_of(in) == Shape::kCpAsync &&
         in.as<program::AsyncCopy>().mode == program::CopyMode::kBulkStore;
}

/// Where it reads what others may have written.
std::uint8_t read_by(const Instruction& in) {
  switch (shape_of(in)) {
    case Shape::kLoad:
      return in.has(program::kNonCoherent | program::kConstantMemory) ? std::uint8_t{kNowhere}
                                                                      : spaces_of(in);
    case Shape::kAtom:
    case Shape::kRed:
      return spaces_of(in);
    case Shape::kMbarrier:
      return kShared;
    case Shape::kCpAsync:
      return kAll;
    case Shape::kSuld:
      return kGlobal;
    default:
      return kNowhere;
  }
}

/// Where it writes, or decides when others read.
std::uint8_t written_by(const Instruction& in) {
  switch (shape_of(in)) {
    case Shape::kStore:
    case Shape::kAtom:
    case Shape::kRed:
      return spaces_of(in);
    case Shape::kCpAsync:
    case Shape::kMbarrier:
    case Shape::kBar:
      return kShared;
    default:
      return kNowhere;
  }
}

/// Whether it writes to memory and gives nothing back. nvcc writes `red` as `atom` without a use of
/// its result.
bool only_stores(const Instruction& in) {
  return shape_of(in) == Shape::kStore || shape_of(in) == Shape::kRed ||
         (shape_of(in) == Shape::kAtom && in.has(program::kResultUnused));
}

/// Whether nothing but its results comes of it, or nothing at all.
bool has_only_results(const Instruction& in) {
  if (in.opcode == Opcode::kTrap || in.has(program::kUnsupportedForm)) return false;
  switch (shape_of(in)) {
    case Shape::kBra:
    case Shape::kBrx:
    case Shape::kCall:
    case Shape::kEnd:
    case Shape::kAlloca:
    case Shape::kSust:
    case Shape::kUnsupported:
      return false;
    default:
      return !stores_in_bulk(in);
  }
}

/// Registers by their first slot, and after them predicates.
class Names {
 public:
  explicit Names(const program::Function& function)
      : predicates_(function.register_slots), has_(predicates_ + function.predicate_count, false) {}

  [[nodiscard]] bool has(const Value& value) const { return is_name(value) && has_[at(value)]; }
  void put(const Value& value) {
    if (is_name(value)) has_[at(value)] = true;
  }
  void remove(const Value& value) {
    if (is_name(value)) has_[at(value)] = false;
  }
  void put_all(const Names& others) {
    for (std::size_t i = 0; i < has_.size(); ++i)
      if (others.has_[i]) has_[i] = true;
  }
  friend bool operator==(const Names&, const Names&) = default;

 private:
  static bool is_name(const Value& value) {
    return value.kind == ValueKind::kRegister || value.kind == ValueKind::kPredicate;
  }
  [[nodiscard]] std::size_t at(const Value& value) const {
    return value.kind == ValueKind::kPredicate ? predicates_ + value.index : value.index;
  }

  std::size_t predicates_;
  std::vector<bool> has_;
};

/// Which instructions of a function are in the slice: those that make what is needed further on. A
/// register's slots belong to others before and after it, so names are needed at some places alone.
class Slice {
 public:
  explicit Slice(const program::Function& function)
      : function_(function),
        blocks_(program::basic_blocks(function)),
        needed_(blocks_.size(), Names(function)),
        kept_(function.code.size(), false),
        by_place_(function.code.size(), false) {
    while (grow()) {
    }
  }
  [[nodiscard]] bool keeps(std::size_t at) const { return kept_[at]; }
  /// Of one that is kept: whether it is a store whose value nobody reads.
  [[nodiscard]] bool is_by_place(std::size_t at) const { return by_place_[at]; }
  [[nodiscard]] const std::vector<program::BasicBlock>& blocks() const { return blocks_; }

 private:
  /// Once through the code, from its end; false: nothing more is needed than was known.
  bool grow() {
    const std::uint8_t read = read_;
    const bool carries = carries_;
    bool more = false;
    for (std::size_t b = blocks_.size(); b-- > 0;) {
      Names needed(function_);
      for (const std::uint32_t next : blocks_[b].successors)
        if (next < blocks_.size()) needed.put_all(needed_[next]);
      // Some lanes go on after a return that has a guard.
      if (b + 1 < blocks_.size() && function_.code[blocks_[b].end - 1].guard)
        needed.put_all(needed_[b + 1]);
      for (std::uint32_t i = blocks_[b].end; i-- > blocks_[b].begin;)
        kept_[i] = look_at(function_.code[i], needed);
      if (needed == needed_[b]) continue;
      needed_[b] = std::move(needed);
      more = true;
    }
    return more || read != read_ || carries != carries_;
  }

  /// What is needed after it becomes what is needed before; whether it is in the slice.
  bool look_at(const Instruction& in, Names& needed) {
    if (!is_needed(in, needed)) return false;
    if (!in.guard)  // else some lanes keep what was there
      for (const Value& value : in.d) needed.remove(value);
    needed.put(in.guard);
    // Of a store whose value nobody reads its place alone counts.
    const bool by_place = only_stores(in) && (written_by(in) & read_) == 0;
    needed.put(in.s[0]);
    by_place_[static_cast<std::size_t>(&in - function_.code.data())] = by_place;
    if (by_place) return true;
    for (const Value& value : in.s) needed.put(value);
    read_ |= read_by(in);
    carries_ = carries_ || in.opcode == Opcode::kAddc || in.opcode == Opcode::kSubc ||
               in.opcode == Opcode::kMadc;
    if (in.opcode != Opcode::kCall) return true;
    read_ = kAll;
    const std::uint32_t call = in.as<program::CallSite>().call;
    if (call < function_.calls.size())
      for (const program::ArgumentCopy& argument : function_.calls[call].arguments)
        needed.put(argument.value);
    return true;
  }

  [[nodiscard]] bool is_needed(const Instruction& in, const Names& needed) const {
    if (!has_only_results(in)) return true;
    const std::uint8_t written = written_by(in);
    if ((written & read_) != 0) return true;
    const bool stores = shape_of(in) == Shape::kStore || shape_of(in) == Shape::kAtom ||
                        shape_of(in) == Shape::kRed;
    if (stores && (written & kGlobal) != 0) return true;
    if (carries_ && in.has(program::kCarryOut)) return true;
    return std::ranges::any_of(in.d, [&](const Value& value) { return needed.has(value); });
  }

  const program::Function& function_;
  std::vector<program::BasicBlock> blocks_;
  std::vector<Names> needed_;  ///< where each block begins
  std::vector<bool> kept_, by_place_;
  std::uint8_t read_ = kNowhere;  ///< spaces
  bool carries_ = false;
};

/// Goes on behind what the slice leaves out.
const Step* pass_over(Warp&, const Step* s) { return s->branch.target; }

/// Takes a note of a store to global memory instead of storing.
const Step* note_store(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  constexpr Ref kOffset = (Ref{1} << 30) - 1;
  const auto* addresses =
      reinterpret_cast<const std::uint64_t*>(w.bases[s->a >> 30] + (s->a & kOffset));
  std::uint64_t sum = 0;
  if (w.mask == 0xFFFFFFFFu) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) sum += addresses[lane];
  } else {
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1)
      sum += addresses[std::countr_zero(rest)];
  }
  const std::uint64_t lanes = lane_count(w.mask);
  const std::uint64_t bytes = std::uint64_t{in.vector} * ptx::size_bytes(in.type);
  sum += lanes * static_cast<std::uint64_t>(s->address.offset);
  SliceFacts::Stored& stored = (*w.launch->stored)[w.block->turn];
  stored[0] += lanes * bytes;
  stored[1] += bytes * sum + lanes * (bytes * (bytes - 1) / 2);
  return s + 1;
}

/// Whether note_store can take its place.
bool can_be_noted(const Instruction& in) {
  return (written_by(in) & kGlobal) != 0 && access_of(in).address_bits == 64 &&
         !access_of(in).in_frame;
}

void take_notes(Step& step, Extra& extra) {
  (extra.in->guard ? extra.inner : step.handler) = &note_store;
}

/// Lets a prepared launch execute the slice of its kernel alone. Whole is kept what calls
/// functions.
void keep_slice(Launch& launch) {
  if (launch.code.size() != 1) return;
  const program::Function& function = *launch.code.front().function;
  const Slice slice(function);
  // Groups of lanes meet at the beginnings of basic blocks: a step goes no further than to one.
  for (const program::BasicBlock& block : slice.blocks()) {
    const Step* next = launch.steps.data() + block.end;
    for (std::uint32_t i = block.end; i > block.begin; --i) {
      Step& step = launch.steps[i - 1];
      if (slice.keeps(i - 1)) {
        next = &step;
        if (launch.stored != nullptr && slice.is_by_place(i - 1) &&
            can_be_noted(function.code[i - 1]))
          take_notes(step, launch.extras[i - 1]);
      } else {
        step.handler = &pass_over;
        step.branch = {next, 0};
      }
    }
  }
}

/// Warp instructions that were executed, and not passed over.
std::uint64_t executed(const Launch& launch, const std::vector<std::unique_ptr<Worker>>& workers) {
  std::int64_t issued = 0, sum = 0;
  for (std::size_t i = 0; i + 1 < launch.steps.size(); ++i) {
    for (const auto& worker : workers) issued += worker->runs[i][0];
    if (launch.steps[i].handler != &pass_over) sum += issued;
  }
  return static_cast<std::uint64_t>(sum);
}

constexpr std::size_t kMostKinds = 16;  ///< that are told

}  // namespace

SliceFacts run_slice(Launch& state, std::vector<std::uint64_t> blocks) {
  SliceFacts facts;
  if (blocks.size() > 1) {
    facts.stored.resize(blocks.size());
    state.stored = &facts.stored;
  }
  keep_slice(state);
  BlockRecorder recorder(blocks.size());
  state.chosen = std::move(blocks);
  state.recorder = &recorder;
  const auto workers = run_grid(state);
  state.stored = nullptr;
  facts.executed_instructions = executed(state, workers);
  counters::LaunchWork work;
  recorder.add_to(work);
  std::vector<bool> told(work.kinds.size(), false);
  std::uint64_t turn = 0;
  for (const counters::BlockRun& run : work.runs) {
    if (!told[run.kind] && facts.kinds.size() < kMostKinds)
      facts.kinds.push_back(state.chosen[turn]);
    told[run.kind] = true;
    turn += run.blocks;
  }
  return facts;
}

}  // namespace membound::vgpu::exec
