// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/access_marks.hpp"

#include <gtest/gtest.h>

namespace membound::vgpu::memory {
namespace {

using Kind = AccessMarks::Kind;
constexpr std::uint64_t kCells = 1 << 20;

/// Two workers access one cell.
bool conflict(Kind one, Kind other) {
  AccessMarks a(kCells), b(kCells);
  a.note(70'000, 1, one);
  b.note(70'000, 1, other);
  EXPECT_EQ(a.conflicts_with(b), b.conflicts_with(a));
  return a.conflicts_with(b);
}

TEST(AccessMarks, ConflictUnlessBothReadOrBothAreAtomic) {
  EXPECT_FALSE(conflict(Kind::kRead, Kind::kRead));
  EXPECT_FALSE(conflict(Kind::kAtomic, Kind::kAtomic));
  EXPECT_TRUE(conflict(Kind::kRead, Kind::kWrite));
  EXPECT_TRUE(conflict(Kind::kRead, Kind::kAtomic));
  EXPECT_TRUE(conflict(Kind::kWrite, Kind::kWrite));
  EXPECT_TRUE(conflict(Kind::kWrite, Kind::kAtomic));
}

TEST(AccessMarks, OfNeighboursDoNotConflict) {
  for (const std::uint64_t border : {63u, 64u, 511u, 512u, 32'767u, 32'768u}) {
    AccessMarks a(kCells), b(kCells);
    a.note(border - 40, 40, Kind::kWrite);
    b.note(border, 200, Kind::kWrite);
    EXPECT_FALSE(a.conflicts_with(b)) << border;
    b.note(border - 1, 1, Kind::kRead);
    EXPECT_TRUE(a.conflicts_with(b)) << border;
  }
}

TEST(AccessMarks, OfARowAreAllItsCells) {
  for (std::uint64_t cell = 1000; cell < 1512; ++cell) {
    AccessMarks a(kCells), b(kCells);
    a.note(1000, 512, Kind::kWrite);
    b.note(cell, 1, Kind::kRead);
    EXPECT_TRUE(a.conflicts_with(b)) << cell;
  }
}

TEST(AccessMarks, OfAnEarlierLaunchAreForgotten) {
  AccessMarks a(kCells), b(kCells);
  a.note(1000, 512, Kind::kWrite);
  a.clear();
  b.note(1000, 512, Kind::kWrite);
  EXPECT_FALSE(a.conflicts_with(b));
  a.note(1511, 1, Kind::kRead);
  EXPECT_TRUE(a.conflicts_with(b));
}

TEST(AccessMarks, EndWithTheLastCell) {
  AccessMarks a(100), b(100);
  a.note(90, 32, Kind::kWrite);
  b.note(1'000'000, 32, Kind::kWrite);
  EXPECT_FALSE(a.conflicts_with(b));
  b.note(99, 32, Kind::kRead);
  EXPECT_TRUE(a.conflicts_with(b));
}

}  // namespace
}  // namespace membound::vgpu::memory
