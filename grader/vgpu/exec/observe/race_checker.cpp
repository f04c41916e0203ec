// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/race_checker.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "grader/vgpu/exec/state/execution_state.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec {
namespace {

using memory::Epoch;
using memory::LineEpoch;
using memory::ShadowView;
using program::Instruction;
using program::Opcode;
using program::Order;
using program::Scope;
using ptx::StateSpace;

/// log2 of the smallest access the kernel makes to `space`, at most 4 bytes.
std::uint32_t cell_shift(const Launch& launch, StateSpace space) {
  std::uint32_t bytes = 4;
  for (const FunctionCode& code : launch.code) {
    for (const Instruction& in : code.function->code) {
      if (program::accesses_memory(in) && in.opcode != Opcode::kCpAsync &&
          (in.space == space || in.space == StateSpace::kNone))
        bytes = std::min(bytes, std::max(1u, ptx::size_bytes(in.type)));
    }
  }
  return static_cast<std::uint32_t>(std::countr_zero(bytes));
}

/// Does some thread wait for another by a volatile flag?
bool waits(const Launch& launch) {
  return std::ranges::any_of(launch.code, [](const FunctionCode& code) {
    return std::ranges::any_of(code.function->code, [](const Instruction& in) {
      return in.opcode == Opcode::kLd && in.has(program::kWaits);
    });
  });
}

Reach reach_of(const Instruction& in) {
  return in.scope == Scope::kCta || in.scope == Scope::kCluster ? Reach::kBlock : Reach::kDevice;
}

/// Does the launch have so many threads, all of them heard, that its arrays fill large pages?
bool touches_much(const Launch& launch) {
  constexpr std::uint64_t kManyThreads = std::uint64_t{1} << 20;
  return !launch.sample.leaves_out_some() &&
         launch.request->grid.count() * launch.request->block.count() >= kManyThreads;
}

/// Lets others run after this access to a place where it releases.
Pass pass_at(const WarpAccess& access, std::uint64_t address) {
  const bool shared = access.space == StateSpace::kShared;
  const Warp& w = *access.warp;
  Pass pass{true, !shared};
  pass.bytes = std::min<std::uint32_t>(access.bytes, sizeof pass.before);
  pass.place =
      shared ? w.shared + address : w.launch->request->memory->host_bytes(address, access.bytes);
  if (pass.place != nullptr) std::memcpy(&pass.before, pass.place, pass.bytes);
  return pass;
}

/// How the access meets others at the same place: see Epoch's flags.
std::uint64_t flags_of(const WarpAccess& access) {
  const Instruction& in = *access.step->extra->in;
  // What a compare-and-swap checks again may race with atomics: at worst it is tried once more.
  if (access.kind != AccessKind::kAtomic && in.order == Order::kWeak && !in.has(program::kCompared))
    return 0;
  const bool narrow = access.space == StateSpace::kGlobal && reach_of(in) == Reach::kBlock;
  return Epoch::kAtomic | (narrow ? Epoch::kBlockScope : 0);
}

}  // namespace

bool may_take_lock(const Instruction& in) {
  if (in.opcode != Opcode::kAtom || in.has(program::kResultUnused)) return false;
  const auto operation = in.as<program::AtomicAccess>().operation;
  return operation == program::Atomic::kCas || operation == program::Atomic::kExch;
}

const RowLoops& row_loops() {
  static const RowLoops loops = best_variant() == Variant::kAvx2
                                    ? MEMBOUND_NEWER_LANES::make_row_loops()
                                    : MEMBOUND_OLDER_LANES::make_row_loops();
  return loops;
}

RaceChecker::RaceChecker(Launch& launch, std::size_t worker,
                         std::function<void(const WarpAccess&, const Race&)> found)
    : launch_(launch),
      found_(std::move(found)),
      rows_(row_loops()),
      shadow_(
          &launch.request->memory->access_shadow(cell_shift(launch, StateSpace::kGlobal), worker)),
      tag_(shadow_->next_tag()),
      shared_shift_(cell_shift(launch, StateSpace::kShared)),
      kernel_waits_(waits(launch)) {
  if (touches_much(launch)) shadow_->expect_dense_use();
  global_ = shadow_->view();
}

bool RaceChecker::conflicts_with(const RaceChecker& other) const {
  return shadow_->conflicts_with(*other.shadow_);
}

void RaceChecker::start_block(Block& block, BlockRaces& races) const {
  if (races.epochs.empty()) {
    const std::size_t cells = (launch_.shared_bytes >> shared_shift_) + 1;
    races.epochs.assign(2 * cells, 0);
    races.origins.assign(2 * cells, 0);
    races.shared = {races.epochs.data(),
                    races.epochs.data() + cells,
                    races.origins.data(),
                    races.origins.data() + cells,
                    0,
                    cells,
                    shared_shift_};
  }
  races.sync_variables.clear();
  races.locks = {};
  std::array<std::uint32_t, BlockClock::kWarps> lanes{};
  for (const Warp& w : block.warps) lanes[w.index] = w.live;
  races.clock.start(block.linear, lanes.data(), static_cast<std::uint32_t>(block.warps.size()));
}

RowCheck RaceChecker::access(const WarpAccess& access, BlockRaces& races, LanePattern shape,
                             std::uint32_t lanes, bool lands) {
  const std::uint64_t flags = flags_of(access);
  if (flags != 0) {
    if (access.space == StateSpace::kGlobal) take_apart(access, shape, lanes, flags);
    ordered_access(access, races, flags, lanes);
    return RowCheck::kNoRace;
  }
  races.clock.touch(access.warp->index);
  Moment now(access, races, tag_, 0);
  now.lands = lands;
  if (shape == LanePattern::kRow) {
    const RowCheck noted = row(access, races, now);
    if (noted != RowCheck::kUndecided) return noted;
  }
  if (!now.shared && !now.load && own_lines(access, now)) return RowCheck::kNoRace;
  if (!now.shared) take_apart(access, shape, lanes, flags);
  if (shape == LanePattern::kSame && now.load) {
    const RowCheck noted = read_together(access, races, now);
    if (noted != RowCheck::kUndecided) return noted;
  }
  // Where some lanes of the warp have met, what is in order for one need not be for another.
  if (now.load && lanes != access.mask)
    lanes = races.clock.some_lanes_joined(access.warp->index) ? access.mask
                                                              : some_readers(access, races, now);
  if (!quiet(access, races, now, lanes)) lane_by_lane(access, races, now, lanes);
  return RowCheck::kNoRace;
}

SyncVariable* RaceChecker::sync_variable_at(const WarpAccess& access, BlockRaces& races,
                                            std::uint64_t address, bool make) {
  // Blocks in parallel cannot learn from each other: the kernel never reads what they release.
  if (access.space == StateSpace::kGlobal && launch_.parallel) return nullptr;
  auto& all = access.space == StateSpace::kShared ? races.sync_variables : sync_variables_;
  if (make) return &all[address];
  if (all.empty()) return nullptr;
  const auto found = all.find(address);
  return found == all.end() ? nullptr : &found->second;
}

void RaceChecker::ordered_access(const WarpAccess& access, BlockRaces& races, std::uint64_t flags,
                                 std::uint32_t lanes) {
  const Instruction& in = *access.step->extra->in;
  const std::uint32_t w = access.warp->index;
  BlockClock& clock = races.clock;
  // mbarrier() says which of them synchronise; a plain load, though a swap checks it, never does.
  const bool synchronises = in.opcode != Opcode::kMbarrier && !in.has(program::kCompared);
  const bool reads = access.kind != AccessKind::kStore, writes = access.kind != AccessKind::kLoad;
  if (reads && synchronises) {
    for (std::uint32_t rest = access.mask; rest != 0;) {
      const std::uint64_t address = access.addresses[std::countr_zero(rest)];
      const std::uint32_t same = rest & rows_.lanes_at(access.addresses, address);
      rest &= ~same;
      if (const SyncVariable* place = sync_variable_at(access, races, address, false))
        clock.acquire(w, same, *place);
    }
  }
  clock.touch(w);
  const Moment now(access, races, tag_, flags);
  if (may_take_lock(in)) note_lock(access, races, now);
  lane_by_lane(access, races, now, lanes);
  if (!writes || !synchronises) return;
  const bool releases =
      in.order == Order::kRelease || in.order == Order::kAcqRel || in.order == Order::kSc;
  const bool replaces = access.kind == AccessKind::kStore;
  // A flag is one lane's; what a whole warp stores is data.
  const bool tells_reads =
      replaces && access.space == StateSpace::kGlobal && std::has_single_bit(access.mask);
  for (std::uint32_t rest = access.mask; rest != 0;) {
    const std::uint64_t address = access.addresses[std::countr_zero(rest)];
    const std::uint32_t same = rest & rows_.lanes_at(access.addresses, address);
    rest &= ~same;
    const bool make = releases || clock.has_fence(w);
    SyncVariable* const place = sync_variable_at(access, races, address, make || tells_reads);
    if (place == nullptr) continue;
    if (tells_reads) clock.release_reads(w, *place);
    clock.release(w, same, *place, reach_of(in), releases, replaces);
    if (!make && replaces) continue;
    // Who waits for this acquires just this, and not what the warp releases later, too.
    access.warp->pass = pass_at(access, address);
    access.warp->stop = access.step + 1;
  }
}

/// Who wrote to the word before is who gave the lock back, if it was not another one's attempt.
void RaceChecker::note_lock(const WarpAccess& access, BlockRaces& races, const Moment& now) const {
  const ShadowView& view = now.shared ? races.shared : global_;
  const std::uint64_t cell =
      (access.addresses[std::countr_zero(access.mask)] - view.begin) >> view.cell_shift;
  if (cell >= view.cells) return;
  TakenLock& lock = races.locks[access.warp->index];
  if (lock.take != access.step) lock = {access.step, nullptr};
  if (!now.counts(view.last_write(cell))) return;
  const Step* const writer = launch_.origins[view.write_origin(cell)];
  if (writer == nullptr || writer == access.step) return;
  const Instruction& in = *writer->extra->in;
  const bool takes = in.opcode == Opcode::kAtom &&
                     in.as<program::AtomicAccess>().operation == program::Atomic::kCas;
  if (!takes) lock.give_back = writer;
}

void RaceChecker::fence(const Warp& warp, const Step* step, BlockRaces& races) const {
  races.clock.fence(warp.index, reach_of(*step->extra->in));
}

void RaceChecker::mbarrier(const Warp& warp, std::uint32_t mask, const std::uint64_t* offsets,
                           bool arrives, BlockRaces& races) const {
  for (std::uint32_t rest = mask; rest != 0;) {
    const std::uint64_t offset = offsets[std::countr_zero(rest)];
    const std::uint32_t same = rest & rows_.lanes_at(offsets, offset);
    rest &= ~same;
    SyncVariable& place = races.sync_variables[offset];
    if (arrives)
      races.clock.release(warp.index, same, place, Reach::kBlock, true, false);
    else
      races.clock.acquire(warp.index, same, place);
  }
}

void RaceChecker::allocated(std::uint64_t address, std::uint64_t bytes) {
  shadow_->forget(address, bytes);
}

using memory::Mark;

namespace {

Mark mark_of(const WarpAccess& access, std::uint64_t flags) {
  // Atomic towards its own block only: for the others as good as none.
  const bool atomic = (flags & Epoch::kAtomic) != 0 && (flags & Epoch::kBlockScope) == 0;
  return atomic ? Mark::kAtomic : access.kind == AccessKind::kLoad ? Mark::kRead : Mark::kWrite;
}

}  // namespace

/// Cells of global memory that are accessed one by one.
void RaceChecker::take_apart(const WarpAccess& access, LanePattern shape, std::uint32_t lanes,
                             std::uint64_t flags) {
  const Mark mark = mark_of(access, flags);
  const bool writes = access.kind != AccessKind::kLoad;
  const std::uint64_t count = std::max(1u, access.bytes >> global_.cell_shift);
  const auto cell = [&](std::uint32_t lane) {
    return (access.addresses[lane] - global_.begin) >> global_.cell_shift;
  };
  if (shape == LanePattern::kRow) return shadow_->take_apart(cell(0), 32 * count, mark, writes);
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    shadow_->take_apart(cell(static_cast<std::uint32_t>(std::countr_zero(rest))), count, mark,
                        writes);
}

bool RaceChecker::is_apart(std::uint64_t line) const {
  return LineEpoch::apart(line) && Epoch::tag(line) == tag_;
}

RowCheck RaceChecker::row(const WarpAccess& access, BlockRaces& races, const Moment& now) {
  const ShadowView& view = now.shared ? races.shared : global_;
  const std::uint64_t first = (access.addresses[0] - view.begin) >> view.cell_shift;
  const std::uint32_t each = access.bytes >> view.cell_shift;
  const auto per_lane = static_cast<std::uint32_t>(std::countr_zero(each));
  if (first >= view.cells) return RowCheck::kNoRace;  // host memory
  CellRow cells{first,     32 * each,  per_lane, now.epoch,  now.floor,
                now.whole, now.origin, true,     !now.shared};
  if (!now.shared) {
    if (first % LineEpoch::kCells == 0) {
      for (std::uint32_t part = 0; part < each; ++part)
        if (!whole_line(first / LineEpoch::kCells + part, per_lane, part, now))
          return RowCheck::kUndecided;
      return RowCheck::kNoRace;
    }
    shadow_->take_apart(first, cells.cells, now.load ? Mark::kRead : Mark::kWrite, !now.load);
    const std::optional<bool> apart = other_kind_apart(first, cells.cells, now);
    if (!apart) return RowCheck::kUndecided;
    cells.check_other_kind = *apart;
  }
  return (now.load ? rows_.read : rows_.write)(view, cells);
}

/// Of the lines of these cells, do those with earlier writes (of a read; else reads) say so of each
/// cell? False: none of them counts. Nothing: it takes a closer look.
std::optional<bool> RaceChecker::other_kind_apart(std::uint64_t first, std::uint64_t cells,
                                                  const Moment& now) const {
  bool apart = false, together = false;
  const std::uint64_t end = (first + cells - 1) / LineEpoch::kCells;
  for (std::uint64_t number = first / LineEpoch::kCells; number <= end; ++number) {
    const memory::Line& line = global_.lines[number];
    const std::uint64_t before = now.load ? line.write : line.read;
    if (is_apart(before))
      apart = true;
    else if (now.counts(before))
      return std::nullopt;
    else
      together = together || Epoch::tag(before) == tag_;
  }
  if (apart && together) return std::nullopt;
  return apart;
}

/// A warp accesses all of a line: part number `part` of its row. False: nothing was noted, it takes
/// a closer look.
bool RaceChecker::whole_line(std::uint64_t number, std::uint32_t per_lane, std::uint32_t part,
                             const Moment& now) {
  const Mark mark = now.load ? Mark::kRead : Mark::kWrite;
  const std::uint64_t epoch = now.epoch | LineEpoch::layout(per_lane, part);
  memory::Line& line = shadow_->line(number, mark);
  shadow_->take_from_owner(number);
  line.marks[static_cast<std::size_t>(mark)] = ~0u;
  const bool writes_apart = is_apart(line.write), reads_apart = is_apart(line.read);
  const bool same_lanes = !now.load || ((line.read ^ epoch) & Epoch::kSameWarp) != 0 ||
                          ((line.read ^ epoch) & LineEpoch::kLayout) == 0;
  if (!writes_apart && !reads_apart && same_lanes) [[likely]]
    return now.load ? read_line(line, epoch, now) : write_line(line, epoch, now);
  const std::uint64_t first = number * LineEpoch::kCells;
  const std::optional<bool> check_other = other_kind_apart(first, LineEpoch::kCells, now);
  if (!check_other) return false;
  shadow_->take_apart(first, LineEpoch::kCells, mark, !now.load);
  const std::uint64_t lanes_before = std::uint64_t{part} << (LineEpoch::kShift - per_lane);
  const CellRow cells{
      first,     LineEpoch::kCells, per_lane,   now.epoch + (lanes_before << Epoch::kThreadShift),
      now.floor, now.whole,         now.origin, *check_other,
      true};
  if ((now.load ? rows_.read : rows_.write)(global_, cells) == RowCheck::kUndecided) return false;
  if (!now.load) {  // every cell has the same last write now
    line.write = epoch;
    line.write_origin = now.origin;
  }
  return true;
}

bool RaceChecker::read_line(memory::Line& line, std::uint64_t epoch, const Moment& now) const {
  const std::uint64_t wrote = line.write, before = line.read;
  if (now.counts(wrote) && (now.foreign(wrote) || ((wrote ^ epoch) & Epoch::kSameThread) != 0))
    return false;
  const bool recent = now.recent(before), foreign = now.foreign(before);
  const std::uint64_t many = (recent ? Epoch::kManyWarps : 0) | (foreign ? Epoch::kManyBlocks : 0);
  if ((before & many) != 0) return true;  // so many that one more changes nothing
  if (many != 0 && ((before ^ epoch) & Epoch::kSameWarp) != 0) {  // the first one is remembered
    line.read = before | many;
    return true;
  }
  if (many != 0) {
    const bool met = before < (now.own | now.whole << Epoch::kTimeShift);
    epoch |= before & (Epoch::kManyWarps | Epoch::kManyBlocks | (met ? 0 : Epoch::kManyLanes));
  }
  line.read = epoch;
  line.read_origin = now.origin;
  return true;
}

bool RaceChecker::write_line(memory::Line& line, std::uint64_t epoch, const Moment& now) const {
  const std::uint64_t wrote = line.write, read = line.read;
  constexpr std::uint64_t kOnlyMine = Epoch::kSameThread | Epoch::kMany;
  if (now.counts(wrote) && (now.foreign(wrote) || ((wrote ^ epoch) & Epoch::kSameThread) != 0))
    return false;
  if (now.counts(read) && (now.foreign(read) || ((read ^ epoch) & kOnlyMine) != 0)) return false;
  line.write = epoch;
  line.write_origin = now.origin;
  return true;
}

}  // namespace membound::vgpu::exec
