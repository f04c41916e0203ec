// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The race checker's scattered lanes: each looks at the epochs of its own cells, and leaves its
/// own.
#include <algorithm>
#include <bit>
#include <cstring>

#include "grader/vgpu/exec/observe/race_checker.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec {

using memory::Epoch;
using memory::LineEpoch;
using memory::ShadowView;
using program::Instruction;
using program::Opcode;
using ptx::StateSpace;

namespace {

/// Both atomic, and each within the other's scope: no race by definition.
bool both_atomic(std::uint64_t a, std::uint64_t b) {
  if ((a & b & Epoch::kAtomic) == 0) return false;
  const bool same_block = ((a ^ b) & Epoch::kSameBlock) == 0;
  return same_block || ((a | b) & Epoch::kBlockScope) == 0;
}

bool is_volatile(const Step* step) {
  return step != nullptr && step->extra->in->order == program::Order::kVolatile;
}

/// A volatile access that fetches or puts data, and waits for nobody.
bool is_volatile_data(const Step* step) {
  return is_volatile(step) && !step->extra->in->has(program::kWaits);
}

/// A volatile load whose value goes on, and not only into a decision.
bool fetches_data(const Step* step) {
  return is_volatile_data(step) && !step->extra->in->only_decides;
}

/// Does the store leave in memory what is there already?
bool changes_nothing(const WarpAccess& access, std::uint32_t lane) {
  const Instruction& in = *access.step->extra->in;
  if (in.opcode != Opcode::kSt || in.s_slots > 2) return false;
  const Warp& w = *access.warp;
  const std::byte* place =
      access.space == StateSpace::kShared
          ? w.shared + access.addresses[lane]
          : w.launch->request->memory->host_bytes(access.addresses[lane], access.bytes);
  if (place == nullptr) return false;
  const std::uint32_t bytes = access.bytes / in.vector;
  for (std::uint32_t v = 0; v < in.vector; ++v) {
    const Ref ref = in.vector == 1 ? access.step->b : access.step->extra->s[1 + v];
    const std::uint64_t value = in.s_slots == 2 ? generic::at<const std::uint64_t>(w, ref)[lane]
                                                : generic::at<const std::uint32_t>(w, ref)[lane];
    if (std::memcmp(place + v * bytes, &value, bytes) != 0) return false;
  }
  return true;
}

}  // namespace

/// Which cells a lane of an access touches.
struct RaceChecker::Cells {
  const ShadowView* view = nullptr;
  std::uint32_t lanes = 0;  ///< to look at
  std::uint32_t count = 0;  ///< cells a lane
  [[nodiscard]] std::uint64_t first(const WarpAccess& access, std::uint32_t lane) const {
    return (access.addresses[lane] - view->begin) >> view->cell_shift;
  }
};

/// Of the lanes that read one place, the last, for each place; and those that share theirs.
struct RaceChecker::Readers {
  std::uint32_t last = 0;
  std::uint32_t share = 0;
};

/// Of lanes that read one place, those that are looked at: one, and another where that one wrote
/// some of it, which is in order for itself alone.
std::uint32_t RaceChecker::some_readers(const WarpAccess& access, const BlockRaces& races,
                                        const Moment& now) const {
  const ShadowView& view = now.shared ? races.shared : global_;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(access.mask));
  const std::uint32_t one = 1u << lane, others = access.mask & ~one;
  const std::uint64_t first = (access.addresses[lane] - view.begin) >> view.cell_shift;
  const std::uint64_t epoch = now.epoch + (std::uint64_t{lane} << Epoch::kThreadShift);
  if (first >= view.cells) return one;
  const std::uint64_t end = first + std::max(1u, access.bytes >> view.cell_shift);
  for (std::uint64_t cell = first; cell < end; ++cell)
    if (((view.last_write(cell) ^ epoch) & Epoch::kSameThread) == 0)
      return one | (others & (0u - others));
  return one;
}

/// All lanes read one cell. kNo: nothing was noted.
RowCheck RaceChecker::read_together(const WarpAccess& access, const BlockRaces& races,
                                    const Moment& now) const {
  const ShadowView& view = now.shared ? races.shared : global_;
  const std::uint64_t cell = (access.addresses[0] - view.begin) >> view.cell_shift;
  if (cell >= view.cells || access.bytes >> view.cell_shift != 1) return RowCheck::kUndecided;
  if (now.counts(view.last_write(cell))) return RowCheck::kUndecided;
  const std::uint64_t read = view.reads[cell];
  // So many have read it already that one more warp changes nothing.
  if ((read & Epoch::kAtomic) == 0 && ((now.recent(read) && (read & Epoch::kManyWarps) != 0) ||
                                       (now.foreign(read) && (read & Epoch::kManyBlocks) != 0)))
    return RowCheck::kSettled;
  note_read(view, cell, now.epoch | Epoch::kManyLanes, races, now);
  return RowCheck::kNoRace;
}

/// The common case of scattered lanes: nobody else has touched their cells since the last barrier.
/// Then they are noted without further ado.
bool RaceChecker::quiet(const WarpAccess& access, const BlockRaces& races, const Moment& now,
                        std::uint32_t lanes) const {
  const ShadowView& view = now.shared ? races.shared : global_;
  if (access.bytes >> view.cell_shift != 1 || lanes != access.mask) return false;
  if (now.shared && lanes == 0xFFFFFFFFu)
    return rows_.scattered(view, access.addresses,
                           {0, 32, 0, now.epoch, now.floor, now.whole, now.origin, true, false},
                           now.load) != RowCheck::kUndecided;
  constexpr std::uint64_t kOnlyMine = Epoch::kSameThread | Epoch::kMany | Epoch::kAtomic;
  std::uint64_t others = 0;
  std::array<std::uint64_t, 32> cells;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t cell = (access.addresses[lane] - view.begin) >> view.cell_shift;
    if (cell >= view.cells) return false;
    const std::uint64_t epoch = now.epoch + (std::uint64_t{lane} << Epoch::kThreadShift);
    const std::uint64_t wrote = view.last_write(cell), read = view.last_read(cell);
    others |= now.recent(wrote) ? (wrote ^ epoch) & kOnlyMine : 0;
    others |= now.recent(read) ? (read ^ epoch) & kOnlyMine : 0;
    others |= now.foreign(wrote) || now.foreign(read) ? 1 : 0;
    cells[lane] = cell;
  }
  if (others != 0) return false;
  std::uint64_t* const epochs = now.load ? view.reads : view.writes;
  std::uint16_t* const origins = now.load ? view.read_origins : view.write_origins;
  std::uint32_t twice = 0;  // lanes that read one cell: they are many
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t epoch = now.epoch + (std::uint64_t{lane} << Epoch::kThreadShift);
    const std::uint64_t before = epochs[cells[lane]];
    // An earlier lane of this very access has been here.
    twice |= (before & ~LineEpoch::kLayout) == now.epoch && before != epoch ? 1u << lane : 0;
    epochs[cells[lane]] = epoch;
    origins[cells[lane]] = now.origin;
  }
  for (; now.load && twice != 0; twice &= twice - 1)
    view.reads[cells[static_cast<std::size_t>(std::countr_zero(twice))]] |= Epoch::kManyLanes;
  return true;
}

/// The common case of lanes that write to lines of global memory far apart: nobody but they
/// themselves has touched those in this launch. True: noted, an epoch a line.
bool RaceChecker::own_lines(const WarpAccess& access, const Moment& now) {
  const ShadowView view = global_;
  const std::uint64_t count = std::max(1u, access.bytes >> view.cell_shift), tag = tag_;
  const std::uint64_t ones = (std::uint64_t{1} << count) - 1;
  const auto owner = [&](std::uint32_t lane) {
    return (now.epoch + (std::uint64_t{lane} << Epoch::kThreadShift)) | LineEpoch::kOwned;
  };
  std::array<std::uint64_t, 32> cells;
  std::uint32_t fresh = 0;  // lanes whose line is nobody's yet
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t first = (access.addresses[lane] - view.begin) >> view.cell_shift;
    if (first >= view.cells || first % LineEpoch::kCells + count > LineEpoch::kCells) return false;
    const memory::Line& line = view.lines[first >> LineEpoch::kShift];
    if (Epoch::tag(line.read) == tag) return false;
    if (line.write != owner(lane)) {
      if (Epoch::tag(line.write) == tag) return false;
      fresh |= 1u << lane;
    }
    cells[lane] = first;
  }
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t first = cells[lane];
    for (std::uint64_t i = 0; i < count; ++i) view.write_origins[first + i] = now.origin;
    const bool is_fresh = ((fresh >> lane) & 1) != 0;
    const std::uint64_t number = first >> LineEpoch::kShift;
    memory::Line& line =
        is_fresh ? shadow_->line(number, memory::Mark::kWrite) : view.lines[number];
    if (is_fresh) {
      if (Epoch::tag(line.write) == tag) {  // another lane's, just now
        shadow_->take_apart(first, count, memory::Mark::kWrite, true);
        std::fill_n(view.writes + first, count, owner(lane) & ~LineEpoch::kOwned);
        continue;
      }
      line.write = owner(lane);
    }
    line.marks[static_cast<std::size_t>(memory::Mark::kWrite)] |=
        static_cast<std::uint32_t>(ones << first % LineEpoch::kCells);
  }
  return true;
}

/// An earlier access of a cell.
struct CellEpoch {
  std::uint64_t epoch = 0;
  std::uint16_t origin = 0;
  bool wrote = false;
};

/// Volatile words of the memory model cannot race: they are like relaxed atomics, and order nothing
/// else. But threads that pass each other data through them mean that one comes first, and nothing
/// says so. Data is a value that one puts and another fetches; what only decides, now or later, is
/// a flag, and so is what a wait reads. Between blocks, of which a late answer may be good enough,
/// it is meant so where the kernel waits for a flag, too.
bool RaceChecker::passes_data(const WarpAccess& access, const Cells& cells, std::uint64_t cell,
                              std::uint64_t epoch, const CellEpoch& before) const {
  const Step* const other = launch_.origins[before.origin];
  if (!is_volatile(access.step) || !is_volatile(other)) return false;
  const auto are_near = [&](std::uint64_t apart) {
    return (apart & Epoch::kSameBlock) == 0 || kernel_waits_;
  };
  const std::uint64_t difference = before.epoch ^ epoch;
  const bool load = access.kind == AccessKind::kLoad;
  if (load) return fetches_data(access.step) && are_near(difference);
  if (!before.wrote) return fetches_data(other) && are_near(difference);
  if ((difference & Epoch::kSameBlock) != 0) return false;
  const Step* const reader = launch_.origins[cells.view->read_origin(cell)];
  return reader == nullptr || !reader->extra->in->has(program::kWaits);
}

void RaceChecker::check(const WarpAccess& access, BlockRaces& races, const Cells& cells,
                        const Moment& now) {
  const ShadowView& view = *cells.view;
  const bool writes = access.kind != AccessKind::kLoad;
  const TakenLock& lock = races.locks[access.warp->index];
  const auto races_with = [&](std::uint64_t cell, std::uint64_t epoch, const CellEpoch& before) {
    if (!now.counts(before.epoch)) [[likely]]
      return false;
    if (now.lands && before.wrote && before.origin == now.origin) return false;
    if (both_atomic(before.epoch, epoch) && !passes_data(access, cells, cell, epoch, before))
      return false;
    return !races.clock.ordered(before.epoch, Epoch::thread(epoch));
  };
  for (std::uint32_t rest = cells.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t first = cells.first(access, lane);
    if (first >= view.cells) continue;  // host memory
    const std::uint64_t epoch = now.epoch + (std::uint64_t{lane} << Epoch::kThreadShift);
    for (std::uint64_t cell = first; cell < first + cells.count; ++cell) {
      const std::uint64_t address = view.begin + (cell << view.cell_shift);
      const CellEpoch wrote{view.last_write(cell), view.write_origin(cell), true};
      if (races_with(cell, epoch, wrote) && !(writes && changes_nothing(access, lane))) {
        found_(access, {lane, address, wrote.epoch, wrote.origin, true, lock});
        break;
      }
      if (!writes) continue;
      const CellEpoch read{view.last_read(cell), view.read_origin(cell), false};
      if (races_with(cell, epoch, read) &&
          (now.shared || !races.clock.read_before(read.epoch, access.warp->index))) {
        found_(access, {lane, address, read.epoch, read.origin, false, lock});
        break;
      }
    }
  }
}

/// Lanes that read one place leave what the last of them leaves, and that they were several; but
/// where some lanes of the warp have met, what is in order for one need not be for another.
RaceChecker::Readers RaceChecker::readers_of(const WarpAccess& access, const BlockRaces& races,
                                             std::uint32_t lanes) const {
  Readers readers{lanes, 0};
  if (access.kind != AccessKind::kLoad || lanes != access.mask ||
      races.clock.some_lanes_joined(access.warp->index))
    return readers;
  for (std::uint32_t rest = lanes; rest != 0;) {
    const auto lane = static_cast<std::uint32_t>(std::bit_width(rest) - 1);
    const std::uint32_t same = rest & rows_.lanes_at(access.addresses, access.addresses[lane]);
    const std::uint32_t before = same & ~(1u << lane);
    // Nearly always all places are shared, or none is.
    if (before == 0 && rest == lanes) return readers;
    readers.last &= ~before;
    if (before != 0) readers.share |= 1u << lane;
    rest &= ~same;
  }
  return readers;
}

/// Has anybody written to the cells of these lanes that is not in order with the whole block?
bool RaceChecker::some_write_counts(const WarpAccess& access, const Cells& cells,
                                    std::uint32_t lanes, const Moment& now) {
  bool counts = false;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const std::uint64_t first =
        cells.first(access, static_cast<std::uint32_t>(std::countr_zero(rest)));
    if (first >= cells.view->cells) continue;  // host memory
    for (std::uint64_t cell = first; cell < first + cells.count; ++cell)
      counts = counts || now.counts(cells.view->last_write(cell));
  }
  return counts;
}

void RaceChecker::lane_by_lane(const WarpAccess& access, BlockRaces& races, const Moment& now,
                               std::uint32_t lanes) {
  Cells cells;
  cells.view = now.shared ? &races.shared : &global_;
  cells.lanes = lanes;
  cells.count = std::max(1u, access.bytes >> cells.view->cell_shift);
  const Readers readers = readers_of(access, races, lanes);
  // First everybody looks, then everybody leaves an epoch: lanes of one instruction do not race.
  if (readers.share == 0 || some_write_counts(access, cells, readers.last, now))
    check(access, races, cells, now);
  const ShadowView& view = *cells.view;
  const std::uint64_t common = now.epoch | (lanes != access.mask ? Epoch::kManyLanes : 0);
  for (std::uint32_t rest = readers.last; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t first = cells.first(access, lane);
    if (first >= view.cells) continue;
    std::uint64_t epoch = common + (std::uint64_t{lane} << Epoch::kThreadShift);
    if (((readers.share >> lane) & 1) != 0) epoch |= Epoch::kManyLanes;
    for (std::uint64_t cell = first; cell < first + cells.count; ++cell) {
      if (now.load) {
        note_read(view, cell, epoch, races, now);
      } else {
        view.writes[cell] = epoch;
        view.write_origins[cell] = now.origin;
      }
    }
  }
}

/// Of several readers of a cell, who is remembered?
void RaceChecker::note_read(const ShadowView& view, std::uint64_t cell, std::uint64_t epoch,
                            const BlockRaces& races, const Moment& now) const {
  const std::uint64_t before = view.reads[cell];
  const bool foreign = now.foreign(before), counts = now.recent(before) || foreign;
  const bool was_atomic = (before & Epoch::kAtomic) != 0, is_atomic = (epoch & Epoch::kAtomic) != 0;
  if (counts && is_atomic && !was_atomic) return;  // the plain reader matters more
  const std::uint64_t difference = before ^ epoch;
  const bool other_thread = (difference & Epoch::kSameThread) != 0;
  if (counts && was_atomic == is_atomic) {
    // A reader before whom all is in order need not be remembered.
    const bool same_thread = !other_thread && (difference & Epoch::kMany) == 0;
    if (!same_thread && !races.clock.ordered(before, Epoch::thread(epoch))) {
      if ((difference & Epoch::kSameWarp) != 0) {
        view.reads[cell] = before | (foreign ? Epoch::kManyBlocks : Epoch::kManyWarps);
        return;
      }
      epoch |= (before & Epoch::kMany) | (other_thread ? Epoch::kManyLanes : 0);
    }
  }
  view.reads[cell] = epoch;
  view.read_origins[cell] = now.origin;
}

}  // namespace membound::vgpu::exec
