// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/access_shadow.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace membound::vgpu::memory {
namespace {

constexpr std::uint64_t kBegin = 0x7000'0000;

TEST(Epoch, GivesBackWhatItWasMadeOf) {
  const std::uint64_t epoch = Epoch::make(7, 123456, 65432, 1023, Epoch::kAtomic);
  EXPECT_EQ(epoch >> Epoch::kTagShift, 7u);
  EXPECT_EQ(Epoch::block(epoch), 123456u);
  EXPECT_EQ(Epoch::time(epoch), 65432u);
  EXPECT_EQ(Epoch::thread(epoch), 1023u);
  EXPECT_EQ(Epoch::warp(epoch), 31u);
  EXPECT_EQ(Epoch::lane(epoch), 31u);
}

TEST(Epoch, BlockNumbersWrapWithoutTouchingTheTag) {
  const std::uint64_t epoch = Epoch::make(1, std::uint64_t{1} << 24, 1, 0, 0);
  EXPECT_EQ(epoch >> Epoch::kTagShift, 1u);
  EXPECT_EQ(Epoch::block(epoch), 0u);
}

TEST(AccessShadow, HasACellForEachWord) {
  AccessShadow shadow(kBegin, 1 << 20, 2);
  EXPECT_EQ(shadow.view().cells, 1u << 18);
  shadow.view().writes[5] = 42;
  shadow.forget(kBegin + 20, 4);
  EXPECT_EQ(shadow.view().writes[5], 0u);
}

TEST(AccessShadow, ForgetsOnlyInsideItsRange) {
  AccessShadow shadow(kBegin, 4096, 2);
  shadow.forget(kBegin + 4092, 1 << 20);
  shadow.forget(kBegin - 4, 8);
  EXPECT_EQ(shadow.view().writes[0], 0u);
}

TEST(AccessShadow, ClearsItselfBeforeATagComesAgain) {
  AccessShadow shadow(kBegin, 4096, 2);
  const std::uint32_t first = shadow.next_tag();
  shadow.view().writes[0] = Epoch::make(first, 0, 1, 0, 0);
  std::uint32_t tag = 0;
  for (std::uint32_t launch = 0; launch < Epoch::kLastTag; ++launch) tag = shadow.next_tag();
  EXPECT_EQ(tag, first);
  EXPECT_EQ(shadow.view().writes[0], 0u);
}

TEST(LineEpoch, SaysWhichLaneHasACell) {
  // Rows of 1, 2, 4, 8 and 16 cells a lane, a line at a time.
  for (std::uint32_t per_lane = 0; per_lane <= 4; ++per_lane) {
    for (std::uint32_t part = 0; part < 1u << per_lane; ++part) {
      const std::uint64_t line =
          Epoch::make(3, 9, 5, 7 * 32, Epoch::kManyWarps) | LineEpoch::layout(per_lane, part);
      EXPECT_FALSE(LineEpoch::apart(line));
      for (std::uint32_t cell = 0; cell < 32; ++cell) {
        const std::uint64_t lane = (part * 32 + cell) >> per_lane;
        EXPECT_EQ(LineEpoch::of_cell(line, cell),
                  Epoch::make(3, 9, 5, 7 * 32 + lane, Epoch::kManyWarps))
            << per_lane << ", " << part << ", " << cell;
      }
    }
  }
}

TEST(AccessShadow, KnowsWhichCellsOfALineItsOwnerWrote) {
  AccessShadow shadow(kBegin, 1 << 20, 2);
  // Of lane 31, whose number alone would mean cells with epochs of their own.
  const std::uint64_t epoch = Epoch::make(shadow.next_tag(), 0, 1, 31, 0);
  Line& line = shadow.line(2, Mark::kWrite);
  line.write = epoch | LineEpoch::kOwned;
  shadow.view().write_origins[66] = 12;
  line.marks[static_cast<std::size_t>(Mark::kWrite)] = 0b101;
  const auto written = [&] {
    std::vector<std::uint64_t> all;
    for (std::uint64_t cell = 64; cell < 68; ++cell) all.push_back(shadow.view().last_write(cell));
    return all;
  };
  EXPECT_FALSE(LineEpoch::apart(line.write));
  EXPECT_EQ(shadow.view().write_origin(66), 12u);
  EXPECT_EQ(written(), (std::vector<std::uint64_t>{epoch, 0, epoch, 0}));
  shadow.take_apart(67, 1, Mark::kWrite, true);
  EXPECT_TRUE(LineEpoch::apart(line.write));
  EXPECT_EQ(written(), (std::vector<std::uint64_t>{epoch, 0, epoch, 0}));
  EXPECT_EQ(shadow.view().write_origin(66), 12u);
}

/// A shadow in a launch, one of whose lines a warp has written as a row.
class AccessShadowLine : public testing::Test {
 protected:
  AccessShadowLine() {
    Line& line = shadow_.line(2, Mark::kWrite);
    line.marks[static_cast<std::size_t>(Mark::kWrite)] = ~0u;
    line.write = epoch_;
    line.write_origin = 12;
  }
  AccessShadow shadow_{kBegin, 1 << 20, 2};
  const std::uint64_t epoch_ = Epoch::make(shadow_.next_tag(), 1, 1, 0, 0);
};

TEST_F(AccessShadowLine, TellsOfEachCellWhoWroteIt) {
  EXPECT_EQ(Epoch::lane(shadow_.view().last_write(64)), 0u);
  EXPECT_EQ(Epoch::lane(shadow_.view().last_write(95)), 31u);
  EXPECT_EQ(shadow_.view().write_origin(70), 12u);
}

TEST_F(AccessShadowLine, KeepsItsEpochsWhenTakenApart) {
  shadow_.take_apart(70, 1, Mark::kWrite, true);
  EXPECT_TRUE(LineEpoch::apart(shadow_.view().lines[2].write));
  for (std::uint32_t cell = 0; cell < 32; ++cell) {
    EXPECT_EQ(shadow_.view().last_write(64 + cell),
              epoch_ + (std::uint64_t{cell} << Epoch::kThreadShift));
    EXPECT_EQ(shadow_.view().write_origin(64 + cell), 12u);
  }
}

TEST_F(AccessShadowLine, IsForgottenOnlyWhereMemoryIsHandedOut) {
  shadow_.forget(kBegin + 64 * 4, 7);  // two cells
  EXPECT_EQ(shadow_.view().last_write(64), 0u);
  EXPECT_EQ(shadow_.view().last_write(65), 0u);
  EXPECT_EQ(Epoch::lane(shadow_.view().last_write(66)), 2u);
}

TEST_F(AccessShadowLine, KeepsItsMarksWhenTakenApart) {
  AccessShadow other(kBegin, 1 << 20, 2);
  static_cast<void>(other.next_tag());
  other.take_apart(95, 1, Mark::kRead, false);
  shadow_.take_apart(70, 1, Mark::kRead, false);
  EXPECT_TRUE(shadow_.conflicts_with(other));
  EXPECT_TRUE(other.conflicts_with(shadow_));
}

}  // namespace
}  // namespace membound::vgpu::memory
