// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/occupancy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <regex>
#include <string>

#include "grader/vgpu/timing/machine.hpp"

namespace membound::vgpu::timing {
namespace {

Machine named_machine(const char* id) { return std::move(find_machine(id)).value(); }

TEST(Occupancy, SmallBlocksRunOutOfBlockSlots) {
  const Occupancy o = occupancy_of(named_machine("h200"), {32, 16, 0});
  EXPECT_EQ(o.blocks, 32u);
  EXPECT_EQ(o.limiter, Limiter::kBlocks);
  EXPECT_DOUBLE_EQ(o.share, 0.5);
}

TEST(Occupancy, FullSmIsLimitedByThreads) {
  const Occupancy o = occupancy_of(named_machine("h200"), {256, 32, 0});
  EXPECT_EQ(o.blocks, 8u);
  EXPECT_EQ(o.limiter, Limiter::kThreads);
  EXPECT_DOUBLE_EQ(o.share, 1.0);
}

// 33 registers: 33 x 32 = 1056 rounded up to 1280 a warp; a quarter SM has 16384: 12 warps; 48 in
// all, 6 blocks of 8.
TEST(Occupancy, RegistersAreGivenOutInUnitsOf256AWarp) {
  const Occupancy o = occupancy_of(named_machine("h200"), {256, 33, 0});
  EXPECT_EQ(o.blocks, 6u);
  EXPECT_EQ(o.limiter, Limiter::kRegisters);
}

// 65 registers: 2304 a warp, 7 warps in each quarter, 28 in all: two blocks of 9 warps would need
// 18, three 27.
TEST(Occupancy, WarpsOfABlockSpreadOverTheFourParts) {
  EXPECT_EQ(occupancy_of(named_machine("h200"), {288, 65, 0}).blocks, 3u);
}

TEST(Occupancy, ABlockThatNeedsMoreRegistersThanThereAreDoesNotFit) {
  const Occupancy o = occupancy_of(named_machine("h200"), {1024, 128, 0});
  EXPECT_EQ(o.blocks, 0u);
  EXPECT_EQ(o.limiter, Limiter::kNothing);
}

// 32 KiB and the 1 KiB the system takes: 228 / 33 = 6.
TEST(Occupancy, HopperReservesOneKibibyteOfSharedMemoryPerBlock) {
  EXPECT_EQ(occupancy_of(named_machine("h200"), {64, 16, 32 << 10}).blocks, 6u);
  EXPECT_EQ(occupancy_of(named_machine("titan-v"), {64, 16, 32 << 10}).blocks, 3u);
  EXPECT_EQ(occupancy_of(named_machine("k80"), {64, 16, 32 << 10}).blocks, 3u);
  EXPECT_EQ(occupancy_of(named_machine("gtx-980"), {64, 16, 32 << 10}).blocks, 3u);
}

TEST(Occupancy, SharedMemoryBeyondTheOptInLimitDoesNotFit) {
  EXPECT_EQ(occupancy_of(named_machine("h200"), {64, 16, 227 << 10}).blocks, 1u);
  EXPECT_EQ(occupancy_of(named_machine("h200"), {64, 16, (227 << 10) + 1}).blocks, 0u);
}

// Of a block of 32 warps one stays and loads; so many blocks an H100 held at most.
TEST(Occupancy, AnSmHoldsAsManyBlocksAsItsSharedPartOfL1) {
  std::ifstream file(MEMBOUND_TEST_DATA "/clock_how_many_stay_h100.csv");
  const std::regex row(R"(.*, (\d+) KiB shared, warp 0 of (1024) threads,most (\d+),.*)");
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    ++rows;
    const auto number = [&](std::size_t i) {
      return static_cast<std::uint32_t>(std::stoul(match[i].str()));
    };
    const Occupancy o = occupancy_of(named_machine("h100"), {number(2), 16, number(1) << 10});
    EXPECT_EQ(o.held_by_shared, number(3)) << line;
  }
  EXPECT_EQ(rows, 11);
}

TEST(Occupancy, WithoutSharedMemoryItHoldsNobodyBack) {
  const Occupancy o = occupancy_of(named_machine("h100"), {256, 16, 0});
  EXPECT_EQ(o.held_by_shared, o.by_shared);
}

// Twice the registers of the others: 64 registers a thread still fill the SM.
TEST(Occupancy, TheK80HasTwiceTheRegisters) {
  EXPECT_EQ(occupancy_of(named_machine("k80"), {256, 64, 0}).blocks, 8u);
  EXPECT_EQ(occupancy_of(named_machine("v100"), {256, 64, 0}).blocks, 4u);
}

TEST(Occupancy, PartlyFilledWarpsCountWhole) {
  EXPECT_EQ(occupancy_of(named_machine("h200"), {33, 0, 0}).by_threads, 32u);
  EXPECT_EQ(occupancy_of(named_machine("h200"), {65, 0, 0}).by_threads, 21u);
}

// "   | 56 registers, 40 KB | 10 | 6 | 5 | 5 | 47 % |": what a student works out by hand.
TEST(Occupancy, TheExerciseOfLab09HasTheseAnswers) {
  std::ifstream page(MEMBOUND_SOURCE_DIR "/handouts/09-latency-hiding/handout.md");
  const std::regex row(
      R"( *\| (\d+) registers, (\d+) KB \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) % \|)");
  int rows = 0;
  for (std::string line; std::getline(page, line);) {
    std::smatch cell;
    if (!std::regex_match(line, cell, row)) continue;
    SCOPED_TRACE(line);
    ++rows;
    const auto number = [&](std::size_t i) { return static_cast<unsigned>(std::stoul(cell[i])); };
    const Occupancy o = occupancy_of(named_machine("h200"), {192, number(1), number(2) << 10});
    EXPECT_EQ(o.by_threads, number(3));
    EXPECT_EQ(o.by_registers, number(4));
    EXPECT_EQ(o.by_shared, number(5));
    EXPECT_EQ(o.blocks, number(6));
    EXPECT_EQ(std::lround(100 * o.share), number(7));
  }
  EXPECT_EQ(rows, 4);
}

}  // namespace
}  // namespace membound::vgpu::timing
