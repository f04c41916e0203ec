// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The race checker's rows: full warps whose lanes are neighbours in memory. In global memory those
/// that cover whole lines leave one stamp a line.
#include <algorithm>
#include <bit>

#include "grader/vgpu/exec/observe/race_checker.hpp"
#include "grader/vgpu/exec/observe/race_moment.hpp"

namespace membound::vgpu::exec {

using memory::LineStamp;
using memory::Mark;
using memory::ShadowView;
using memory::Stamp;

namespace {

Mark mark_of(const WarpAccess& access, std::uint64_t flags) {
  // Atomic towards its own block only: for the others as good as none.
  const bool atomic = (flags & Stamp::kAtomic) != 0 && (flags & Stamp::kBlockScope) == 0;
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
  return LineStamp::apart(line) && Stamp::tag(line) == tag_;
}

RowCheck RaceChecker::row(const WarpAccess& access, BlockRaces& races, const Moment& now) {
  const ShadowView& view = now.shared ? races.shared : global_;
  const std::uint64_t first = (access.addresses[0] - view.begin) >> view.cell_shift;
  const std::uint32_t each = access.bytes >> view.cell_shift;
  const auto per_lane = static_cast<std::uint32_t>(std::countr_zero(each));
  if (first >= view.cells) return RowCheck::kNoRace;  // host memory
  CellRow cells{first,     32 * each,  per_lane, now.stamp,  now.floor,
                now.whole, now.origin, true,     !now.shared};
  if (!now.shared) {
    if (first % LineStamp::kCells == 0) {
      for (std::uint32_t part = 0; part < each; ++part)
        if (!whole_line(first / LineStamp::kCells + part, per_lane, part, now))
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
  const std::uint64_t end = (first + cells - 1) / LineStamp::kCells;
  for (std::uint64_t number = first / LineStamp::kCells; number <= end; ++number) {
    const memory::Line& line = global_.lines[number];
    const std::uint64_t before = now.load ? line.write : line.read;
    if (is_apart(before))
      apart = true;
    else if (now.counts(before))
      return std::nullopt;
    else
      together = together || Stamp::tag(before) == tag_;
  }
  if (apart && together) return std::nullopt;
  return apart;
}

/// A warp accesses all of a line: part number `part` of its row. False: nothing was noted, it takes
/// a closer look.
bool RaceChecker::whole_line(std::uint64_t number, std::uint32_t per_lane, std::uint32_t part,
                             const Moment& now) {
  const Mark mark = now.load ? Mark::kRead : Mark::kWrite;
  const std::uint64_t stamp = now.stamp | LineStamp::layout(per_lane, part);
  memory::Line& line = shadow_->line(number, mark);
  shadow_->take_from_owner(number);
  line.marks[static_cast<std::size_t>(mark)] = ~0u;
  const bool writes_apart = is_apart(line.write), reads_apart = is_apart(line.read);
  const bool same_lanes = !now.load || ((line.read ^ stamp) & Stamp::kSameWarp) != 0 ||
                          ((line.read ^ stamp) & LineStamp::kLayout) == 0;
  if (!writes_apart && !reads_apart && same_lanes) [[likely]]
    return now.load ? read_line(line, stamp, now) : write_line(line, stamp, now);
  const std::uint64_t first = number * LineStamp::kCells;
  const std::optional<bool> check_other = other_kind_apart(first, LineStamp::kCells, now);
  if (!check_other) return false;
  shadow_->take_apart(first, LineStamp::kCells, mark, !now.load);
  const std::uint64_t lanes_before = std::uint64_t{part} << (LineStamp::kShift - per_lane);
  const CellRow cells{
      first,     LineStamp::kCells, per_lane,   now.stamp + (lanes_before << Stamp::kThreadShift),
      now.floor, now.whole,         now.origin, *check_other,
      true};
  if ((now.load ? rows_.read : rows_.write)(global_, cells) == RowCheck::kUndecided) return false;
  if (!now.load) {  // every cell has the same last write now
    line.write = stamp;
    line.write_origin = now.origin;
  }
  return true;
}

bool RaceChecker::read_line(memory::Line& line, std::uint64_t stamp, const Moment& now) const {
  const std::uint64_t wrote = line.write, before = line.read;
  if (now.counts(wrote) && (now.foreign(wrote) || ((wrote ^ stamp) & Stamp::kSameThread) != 0))
    return false;
  const bool recent = now.recent(before), foreign = now.foreign(before);
  const std::uint64_t many = (recent ? Stamp::kManyWarps : 0) | (foreign ? Stamp::kManyBlocks : 0);
  if ((before & many) != 0) return true;  // so many that one more changes nothing
  if (many != 0 && ((before ^ stamp) & Stamp::kSameWarp) != 0) {  // the first one is remembered
    line.read = before | many;
    return true;
  }
  if (many != 0) {
    const bool met = before < (now.own | now.whole << Stamp::kTimeShift);
    stamp |= before & (Stamp::kManyWarps | Stamp::kManyBlocks | (met ? 0 : Stamp::kManyLanes));
  }
  line.read = stamp;
  line.read_origin = now.origin;
  return true;
}

bool RaceChecker::write_line(memory::Line& line, std::uint64_t stamp, const Moment& now) const {
  const std::uint64_t wrote = line.write, read = line.read;
  constexpr std::uint64_t kOnlyMine = Stamp::kSameThread | Stamp::kMany;
  if (now.counts(wrote) && (now.foreign(wrote) || ((wrote ^ stamp) & Stamp::kSameThread) != 0))
    return false;
  if (now.counts(read) && (now.foreign(read) || ((read ^ stamp) & kOnlyMine) != 0)) return false;
  line.write = stamp;
  line.write_origin = now.origin;
  return true;
}

}  // namespace membound::vgpu::exec
