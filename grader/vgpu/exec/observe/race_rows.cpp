// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/race_rows.hpp"

#include <algorithm>

#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using u64 = std::uint64_t;
using memory::Epoch;
using memory::ShadowView;

/// All ones where the condition holds: GCC 12 makes vector instructions of these, not of bools.
[[gnu::always_inline]] inline u64 mask_of(bool condition) { return condition ? ~u64{0} : 0; }

/// The limits that sort a cell's epoch into: of this block since its last barrier (`recent`), of
/// another block in this launch (`foreign`), or neither, which is ordered.
struct Limits {
  explicit Limits(const CellRow& row)
      : own(row.epoch & Epoch::kSameBlock),
        since(own | row.floor << Epoch::kTimeShift),
        met(own | row.whole << Epoch::kTimeShift),
        recent_span((u64{1} << Epoch::kBlockShift) - (row.floor << Epoch::kTimeShift)),
        tag(row.epoch >> Epoch::kTagShift << Epoch::kTagShift),
        // An empty span in shared memory, which other blocks cannot touch.
        tag_span(row.between_blocks ? u64{1} << Epoch::kTagShift : 0) {}
  [[gnu::always_inline]] u64 recent(u64 epoch) const {
    return mask_of(epoch - since < recent_span);
  }
  [[gnu::always_inline]] u64 foreign(u64 epoch) const {
    const u64 elsewhere = mask_of(epoch - own >= u64{1} << Epoch::kBlockShift);
    const u64 many = mask_of((epoch & Epoch::kManyBlocks) != 0);
    return mask_of(epoch - tag < tag_span) & (elsewhere | many);
  }
  u64 own, since, met, recent_span, tag, tag_span;
};

/// Calls `visit(cell, epoch of its lane)` for every cell of the row.
template <typename Visit>
[[gnu::always_inline]] inline void for_each_cell(const CellRow& row, Visit visit) {
  if (row.per_lane == 0) {
    MEMBOUND_INDEPENDENT for (u64 i = 0; i < 32; ++i)
        visit(i, row.epoch + (i << Epoch::kThreadShift));
    return;
  }
  MEMBOUND_INDEPENDENT for (u64 i = 0; i < row.cells; ++i)
      visit(i, row.epoch + (i >> row.per_lane << Epoch::kThreadShift));
}

/// What a row's cells say of earlier reads.
struct Readers {
  u64 some = 0;           ///< some cell has a reader that counts still
  u64 settled = ~u64{0};  ///< every cell has had so many that one more changes nothing
};

template <bool kBetweenBlocks>
[[gnu::always_inline]] inline Readers look_at_readers(const u64* reads, const CellRow& row,
                                                      const Limits& limits) {
  Readers readers;
  for_each_cell(row, [&](u64 i, u64) {
    const u64 before = reads[i], recent = limits.recent(before);
    const u64 foreign = kBetweenBlocks ? limits.foreign(before) : 0;
    const u64 plain = mask_of((before & Epoch::kAtomic) == 0);
    readers.some |= recent | foreign;
    readers.settled &= plain & ((recent & mask_of((before & Epoch::kManyWarps) != 0)) |
                                (foreign & mask_of((before & Epoch::kManyBlocks) != 0)));
  });
  return readers;
}

/// Who read the row last, with this read. Returns whether any cell kept its old reader.
template <bool kBetweenBlocks>
[[gnu::always_inline]] inline bool note_readers(u64* __restrict reads, const CellRow& row,
                                                const Limits& limits) {
  u64 kept = 0;
  for_each_cell(row, [&](u64 i, u64 now) {
    const u64 before = reads[i], difference = before ^ now;
    const u64 recent = limits.recent(before);
    const u64 foreign = kBetweenBlocks ? limits.foreign(before) : 0;
    const u64 other_warp = mask_of((difference & Epoch::kSameWarp) != 0);
    const u64 other_thread = mask_of((difference & Epoch::kSameThread) != 0);
    // Lanes that the warp has met since are ordered; other readers are remembered.
    const u64 met = ~other_warp & mask_of(before < limits.met);
    const u64 live = (recent | foreign) & mask_of((before & Epoch::kAtomic) == 0);
    const u64 keep = live & other_warp;
    reads[i] = (before & keep) | (now & ~keep) |
               (live & before & (Epoch::kManyWarps | Epoch::kManyBlocks)) |
               (live & ~met & before & Epoch::kManyLanes) |
               (live & ~met & ~other_warp & other_thread & Epoch::kManyLanes) |
               (keep & recent & Epoch::kManyWarps) | (keep & foreign & Epoch::kManyBlocks);
    kept |= keep;
  });
  return kept != 0;
}

template <bool kBetweenBlocks>
RowCheck read_row(const ShadowView& view, const CellRow& row) {
  const Limits limits(row);
  if (row.check_other_kind) {
    const u64* writes = view.writes + row.first;
    u64 bad = 0;
    for_each_cell(row, [&](u64 i, u64 now) {
      const u64 before = writes[i];
      bad |= limits.recent(before) & mask_of(((before ^ now) & Epoch::kSameThread) != 0);
      if constexpr (kBetweenBlocks) bad |= limits.foreign(before);
    });
    if (bad != 0) return RowCheck::kUndecided;
  }
  u64* reads = view.reads + row.first;
  std::uint16_t* origins = view.read_origins + row.first;
  const Readers readers = look_at_readers<kBetweenBlocks>(reads, row, limits);
  if (readers.settled != 0) return RowCheck::kSettled;
  if (readers.some == 0) for_each_cell(row, [&](u64 i, u64 now) { reads[i] = now; });
  if (readers.some == 0 || !note_readers<kBetweenBlocks>(reads, row, limits)) {
    std::fill_n(origins, row.cells, row.origin);
    return RowCheck::kNoRace;
  }
  for (u64 i = 0; i < row.cells; ++i) {
    if (((reads[i] ^ row.epoch) & Epoch::kSameWarp) == 0) origins[i] = row.origin;
  }
  return RowCheck::kNoRace;
}

template <bool kBetweenBlocks>
RowCheck write_row(const ShadowView& view, const CellRow& row) {
  const Limits limits(row);
  u64* __restrict writes = view.writes + row.first;
  const u64* __restrict reads = view.reads + row.first;
  u64 bad = 0;
  for_each_cell(row, [&](u64 i, u64 now) {
    const u64 wrote = writes[i];
    bad |= limits.recent(wrote) & mask_of(((wrote ^ now) & Epoch::kSameThread) != 0);
    if constexpr (kBetweenBlocks) bad |= limits.foreign(wrote);
  });
  if (row.check_other_kind) {
    for_each_cell(row, [&](u64 i, u64 now) {
      const u64 read = reads[i];
      constexpr u64 kOnlyMine = Epoch::kSameThread | Epoch::kMany;
      bad |= limits.recent(read) & mask_of(((read ^ now) & kOnlyMine) != 0);
      if constexpr (kBetweenBlocks) bad |= limits.foreign(read);
    });
  }
  if (bad != 0) return RowCheck::kUndecided;
  for_each_cell(row, [&](u64 i, u64 now) { writes[i] = now; });
  std::fill_n(view.write_origins + row.first, row.cells, row.origin);
  return RowCheck::kNoRace;
}

RowCheck read(const ShadowView& view, const CellRow& row) {
  return row.between_blocks ? read_row<true>(view, row) : read_row<false>(view, row);
}

RowCheck write(const ShadowView& view, const CellRow& row) {
  return row.between_blocks ? write_row<true>(view, row) : write_row<false>(view, row);
}

RowCheck scattered(const ShadowView& view, const u64* addresses, const CellRow& row, bool load) {
  const Limits limits(row);
  alignas(32) u64 cells[32];
  MEMBOUND_LANES cells[i] = addresses[i] >> view.cell_shift;
  constexpr u64 kOnlyMine = Epoch::kSameThread | Epoch::kMany | Epoch::kAtomic;
  const u64 *const writes = view.writes, *const reads = view.reads;
  u64 others = 0;
  MEMBOUND_LANES {
    const u64 now = row.epoch + (static_cast<u64>(i) << Epoch::kThreadShift);
    const u64 wrote = writes[cells[i]], read = reads[cells[i]];
    others |= limits.recent(wrote) & (wrote ^ now) & kOnlyMine;
    others |= limits.recent(read) & (read ^ now) & kOnlyMine;
  }
  if (others != 0) return RowCheck::kUndecided;
  u64* const epochs = load ? view.reads : view.writes;
  std::uint16_t* const origins = load ? view.read_origins : view.write_origins;
  for (u64 i = 0; i < 32; ++i) {
    epochs[cells[i]] = row.epoch + (i << Epoch::kThreadShift);
    origins[cells[i]] = row.origin;
  }
  if (!load) return RowCheck::kNoRace;
  u64 shared = 0;
  MEMBOUND_LANES shared |=
      epochs[cells[i]] ^ (row.epoch + (static_cast<u64>(i) << Epoch::kThreadShift));
  if (shared == 0) return RowCheck::kNoRace;
  for (u64 i = 0; i < 32; ++i) {  // a later lane reads the same cell: they are many
    const u64 now = row.epoch + (i << Epoch::kThreadShift);
    if (((epochs[cells[i]] ^ now) & Epoch::kSameThread) != 0) epochs[cells[i]] |= Epoch::kManyLanes;
  }
  return RowCheck::kNoRace;
}

bool all_set_words(const std::uint8_t* bytes, const u64* offsets) {
  std::uint32_t missing = 0;
  MEMBOUND_LANES {
    std::uint32_t word;
    std::memcpy(&word, bytes + offsets[i], sizeof word);
    missing |= word ^ 0x01010101u;
  }
  return missing == 0;
}

bool all_set(const std::uint8_t* bytes, std::size_t count) {
  std::uint8_t missing = 0;
  for (std::size_t i = 0; i < count; ++i) missing |= static_cast<std::uint8_t>(bytes[i] ^ 1);
  return missing == 0;
}

std::uint32_t lanes_at(const u64* addresses, u64 address) {
  std::uint32_t lanes = 0;
  MEMBOUND_LANES lanes |= addresses[i] == address ? 1u << i : 0u;
  return lanes;
}

LanePattern shape(const u64* addresses, u64 stride) {
  u64 not_row = 0, not_same = 0;
  MEMBOUND_LANES {
    const u64 distance = addresses[i] - addresses[0];
    not_row |= distance ^ (static_cast<u64>(i) * stride);
    not_same |= distance;
  }
  return not_row == 0    ? LanePattern::kRow
         : not_same == 0 ? LanePattern::kSame
                         : LanePattern::kOther;
}

}  // namespace

RowLoops make_row_loops() {
  return {&read, &write, &scattered, &all_set, &all_set_words, &lanes_at, &shape};
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
