// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/access_shadow.hpp"

#include <gtest/gtest.h>

namespace membound::vgpu::memory {
namespace {

constexpr std::uint64_t kCells = 1 << 20;

/// One worker's shadow in a launch, of cells of a byte.
class Worker : public AccessShadow {
 public:
  explicit Worker(std::uint64_t cells = kCells) : AccessShadow(0, cells, 0) { begin(); }
  void begin() { static_cast<void>(next_tag()); }
  void note(std::uint64_t first, std::uint64_t count, Mark mark) {
    take_apart(first, count, mark, mark == Mark::kWrite);
  }
};

/// Two workers access one cell.
bool conflict(Mark one, Mark other) {
  Worker a, b;
  a.note(70'000, 1, one);
  b.note(70'000, 1, other);
  EXPECT_EQ(a.conflicts_with(b), b.conflicts_with(a));
  return a.conflicts_with(b);
}

TEST(AccessShadowMarks, ConflictUnlessBothReadOrBothAreAtomic) {
  EXPECT_FALSE(conflict(Mark::kRead, Mark::kRead));
  EXPECT_FALSE(conflict(Mark::kAtomic, Mark::kAtomic));
  EXPECT_TRUE(conflict(Mark::kRead, Mark::kWrite));
  EXPECT_TRUE(conflict(Mark::kRead, Mark::kAtomic));
  EXPECT_TRUE(conflict(Mark::kWrite, Mark::kWrite));
  EXPECT_TRUE(conflict(Mark::kWrite, Mark::kAtomic));
}

TEST(AccessShadowMarks, OfNeighboursDoNotConflict) {
  for (const std::uint64_t border : {63u, 64u, 511u, 512u, 32'767u, 32'768u}) {
    Worker a, b;
    a.note(border - 40, 40, Mark::kWrite);
    b.note(border, 200, Mark::kWrite);
    EXPECT_FALSE(a.conflicts_with(b)) << border;
    b.note(border - 1, 1, Mark::kRead);
    EXPECT_TRUE(a.conflicts_with(b)) << border;
  }
}

TEST(AccessShadowMarks, OfARowAreAllItsCells) {
  for (std::uint64_t cell = 1000; cell < 1512; ++cell) {
    Worker a, b;
    a.note(1000, 512, Mark::kWrite);
    b.note(cell, 1, Mark::kRead);
    EXPECT_TRUE(a.conflicts_with(b)) << cell;
  }
}

TEST(AccessShadowMarks, OfAnEarlierLaunchAreForgotten) {
  Worker a, b;
  a.note(1000, 512, Mark::kWrite);
  a.begin();
  b.note(1000, 512, Mark::kWrite);
  EXPECT_FALSE(a.conflicts_with(b));
  a.note(1511, 1, Mark::kRead);
  EXPECT_TRUE(a.conflicts_with(b));
}

TEST(AccessShadowMarks, EndWithTheLastCell) {
  Worker a(100), b(100);
  a.note(90, 32, Mark::kWrite);
  b.note(1'000'000, 32, Mark::kWrite);
  EXPECT_FALSE(a.conflicts_with(b));
  b.note(99, 32, Mark::kRead);
  EXPECT_TRUE(a.conflicts_with(b));
}

}  // namespace
}  // namespace membound::vgpu::memory
