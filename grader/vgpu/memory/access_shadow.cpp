// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/access_shadow.hpp"

#include <algorithm>

namespace membound::vgpu::memory {
namespace {

using Marks = std::array<std::uint32_t, 3>;

template <typename T>
std::uint32_t bits_of(const std::array<T, 3>& marks, Mark mark) {
  return marks[static_cast<std::size_t>(mark)];
}

/// Cells that both accessed, not both atomically nor both reading.
std::uint32_t meetings(const Marks& a, const Marks& b) {
  const std::uint32_t any_a = a[0] | a[1] | a[2], any_b = b[0] | b[1] | b[2];
  return (bits_of(a, Mark::kWrite) & any_b) | (bits_of(b, Mark::kWrite) & any_a) |
         (bits_of(a, Mark::kAtomic) & bits_of(b, Mark::kRead)) |
         (bits_of(b, Mark::kAtomic) & bits_of(a, Mark::kRead));
}

/// The same, of a group's kinds of access.
Marks spread(std::uint8_t kinds) {
  Marks marks{};
  for (std::size_t mark = 0; mark < marks.size(); ++mark) marks[mark] = kinds >> mark & 1u;
  return marks;
}

}  // namespace

AccessShadow::AccessShadow(std::uint64_t begin, std::uint64_t bytes, std::uint32_t cell_shift)
    : view_{.begin = begin, .cells = bytes >> cell_shift, .cell_shift = cell_shift},
      writes_((view_.cells + LineEpoch::kCells) * sizeof(std::uint64_t)),
      reads_((view_.cells + LineEpoch::kCells) * sizeof(std::uint64_t)),
      write_origins_((view_.cells + LineEpoch::kCells) * sizeof(std::uint16_t)),
      read_origins_((view_.cells + LineEpoch::kCells) * sizeof(std::uint16_t)),
      lines_((view_.cells / LineEpoch::kCells + 1) * sizeof(Line)),
      group_bytes_((view_.cells / LineEpoch::kCells >> kGroupShift) + 1),
      group_marks_(static_cast<std::uint8_t*>(group_bytes_.data())) {
  view_.writes = static_cast<std::uint64_t*>(writes_.data());
  view_.reads = static_cast<std::uint64_t*>(reads_.data());
  view_.write_origins = static_cast<std::uint16_t*>(write_origins_.data());
  view_.read_origins = static_cast<std::uint16_t*>(read_origins_.data());
  view_.lines = static_cast<Line*>(lines_.data());
}

std::uint32_t AccessShadow::next_tag() {
  for (const std::uint64_t group : groups_) group_marks_[group] = 0;
  groups_.clear();
  if (tag_ == Epoch::kLastTag) {
    for (LazyBytes* table : {&writes_, &reads_, &lines_}) table->clear();
    tag_ = 0;
  }
  return ++tag_;
}

void AccessShadow::expect_dense_use() {
  for (LazyBytes* table : {&writes_, &reads_, &write_origins_, &read_origins_, &lines_})
    table->expect_dense_use();
}

void AccessShadow::spread_writes(std::uint64_t number) {
  Line& line = view_.lines[number];
  const std::uint64_t before = line.write, first = number * LineEpoch::kCells;
  if (before == apart()) return;
  line.write = apart();
  // Cells of a line that nobody has touched in this launch hold epochs of earlier ones.
  if (Epoch::tag(before) != tag_) return;
  if (LineEpoch::owned(before)) {
    for (std::uint32_t i = 0; i < LineEpoch::kCells; ++i)
      if (line.owns(i)) view_.writes[first + i] = before & ~LineEpoch::kOwned;
    return;
  }
  for (std::uint32_t i = 0; i < LineEpoch::kCells; ++i)
    view_.writes[first + i] = LineEpoch::of_cell(before, i);
  std::fill_n(view_.write_origins + first, LineEpoch::kCells, line.write_origin);
}

void AccessShadow::spread_reads(std::uint64_t number) {
  Line& line = view_.lines[number];
  const std::uint64_t before = line.read, first = number * LineEpoch::kCells;
  if (before == apart()) return;
  line.read = apart();
  if (Epoch::tag(before) != tag_) return;
  for (std::uint32_t i = 0; i < LineEpoch::kCells; ++i)
    view_.reads[first + i] = LineEpoch::of_cell(before, i);
  std::fill_n(view_.read_origins + first, LineEpoch::kCells, line.read_origin);
}

void AccessShadow::take_apart(std::uint64_t first, std::uint64_t count, Mark mark, bool writes) {
  if (first >= view_.cells) return;
  const std::uint64_t end = first + std::min(count, view_.cells - first);
  for (std::uint64_t cell = first; cell < end;) {
    const std::uint64_t number = cell >> LineEpoch::kShift;
    const std::uint64_t offset = cell % LineEpoch::kCells;
    const std::uint64_t here = std::min(LineEpoch::kCells - offset, end - cell);
    const std::uint64_t ones = (std::uint64_t{1} << here) - 1;
    Line& touched = line(number, mark);
    if (writes)
      spread_writes(number);
    else
      spread_reads(number);
    touched.marks[static_cast<std::size_t>(mark)] |= static_cast<std::uint32_t>(ones << offset);
    cell += here;
  }
}

bool AccessShadow::conflicts_with(const AccessShadow& other) const {
  for (const std::uint64_t group : groups_) {
    if (meetings(spread(group_marks_[group]), spread(other.group_marks_[group])) == 0) continue;
    const std::uint64_t begin = group << kGroupShift;
    const std::uint64_t end =
        std::min(begin + (std::uint64_t{1} << kGroupShift), view_.cells / LineEpoch::kCells + 1);
    for (std::uint64_t number = begin; number < end; ++number)
      if (meetings(marks_of(number), other.marks_of(number)) != 0) return true;
  }
  return false;
}

std::array<std::uint32_t, 3> AccessShadow::marks_of(std::uint64_t number) const {
  const Line& line = view_.lines[number];
  return Epoch::tag(line.write) == tag_ || Epoch::tag(line.read) == tag_ ? line.marks : Marks{};
}

void AccessShadow::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t first = (address - view_.begin) >> view_.cell_shift;
  if (first >= view_.cells) return;
  const std::uint64_t count = std::min(view_.cells - first, (bytes >> view_.cell_shift) + 1);
  const std::uint64_t last = (first + count - 1) >> LineEpoch::kShift;
  for (std::uint64_t number = first >> LineEpoch::kShift; number <= last; ++number) {
    spread_writes(number);
    spread_reads(number);
  }
  std::fill_n(view_.writes + first, count, 0);
  std::fill_n(view_.reads + first, count, 0);
}

}  // namespace membound::vgpu::memory
