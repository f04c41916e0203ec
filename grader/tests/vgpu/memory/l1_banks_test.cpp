// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Passes of loads and texture fetches through L1 beside the clocks that an H200 took.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "grader/vgpu/memory/coalescer.hpp"
#include "grader/vgpu/memory/texture_requests.hpp"

namespace membound::vgpu::memory {
namespace {

/// A row of l1_banks_h200.csv.
struct Measured {
  std::uint32_t bytes = 0;  ///< a lane; 0: a texture fetch
  double clocks = 0;
  std::vector<std::uint64_t> numbers;
};

std::vector<Measured> measured() {
  std::vector<Measured> rows;
  std::ifstream file(MEMBOUND_L1_BANKS);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream cells(line);
    std::string cell;
    Measured& row = rows.emplace_back();
    std::getline(cells, cell, ',');
    row.bytes = static_cast<std::uint32_t>(std::stoul(cell));
    std::getline(cells, cell, ',');
    row.clocks = std::stod(cell);
    while (std::getline(cells, cell, ',')) row.numbers.push_back(std::stoull(cell));
  }
  return rows;
}

/// A request takes a clock and more to issue; what it takes beyond is whole clocks, to 2 %.
bool takes(double clocks, std::uint32_t passes) {
  const double expected = passes;
  return passes < 2 ? clocks < 1.9
                    : clocks > 0.97 * expected - 0.03 && clocks < 1.02 * expected + 0.03;
}

TEST(L1BanksOnAnH200, EveryLoadTakesItsPasses) {
  int loads = 0;
  for (const Measured& row : measured()) {
    if (row.bytes == 0) continue;
    ASSERT_EQ(row.numbers.size(), 32U);
    const std::uint32_t passes = load_passes(row.numbers.data(), ~0U, row.bytes, 0);
    EXPECT_TRUE(takes(row.clocks, passes))
        << "load " << loads << " of " << row.bytes << " bytes: " << passes << " for " << row.clocks;
    ++loads;
  }
  EXPECT_EQ(loads, 348);
}

TEST(L1BanksOnAnH200, FiveOfSixFetchesTakeTheirPassesAndTheOthersOneMore) {
  constexpr std::uint64_t kWidth = 4096;
  Image image;
  image.pitch_bytes = kWidth * 4;
  image.slice_bytes = image.pitch_bytes * kWidth;
  int fetches = 0, equal = 0;
  for (const Measured& row : measured()) {
    if (row.bytes != 0) continue;
    ASSERT_EQ(row.numbers.size(), 8U);
    TextureRequests requests(4);
    for (std::size_t lane = 0; lane < 4; ++lane)
      requests.add(image, false, static_cast<int>(lane),
                   row.numbers[2 * lane + 1] * image.pitch_bytes + 4 * row.numbers[2 * lane]);
    requests.end_request();
    const bool same = row.clocks < requests.passes() + 0.1;
    EXPECT_TRUE(same || row.clocks < requests.passes() + 1.1) << "fetch " << fetches;
    EXPECT_GT(row.clocks, requests.passes() - 0.1) << "fetch " << fetches;
    equal += same;
    ++fetches;
  }
  EXPECT_EQ(fetches, 200);
  EXPECT_EQ(equal, 168);
}

TEST(L1Banks, NeighboursTakeOnePassForEvery128Bytes) {
  for (const std::uint32_t bytes : {1U, 2U, 4U, 8U, 16U}) {
    std::array<std::uint64_t, 32> places{};
    for (const std::uint64_t first : {0U, 16U, 48U}) {
      for (std::uint64_t lane = 0; lane < 32; ++lane) places[lane] = first + lane * bytes;
      EXPECT_EQ(load_passes(places.data(), ~0U, bytes, 0), contiguous_load_passes(bytes))
          << bytes << " bytes from " << first;
    }
  }
}

TEST(L1Banks, FromTheirLowestLineLoadsTakeAsManyPassesWhereverTheArrayLies) {
  for (const Measured& row : measured()) {
    if (row.bytes == 0) continue;
    std::vector<std::uint64_t> moved = row.numbers;
    for (std::uint64_t& place : moved) place += 12'345 * 128;
    EXPECT_EQ(
        load_passes(moved.data(), ~0U, row.bytes, lowest_line(moved.data(), ~0U)),
        load_passes(row.numbers.data(), ~0U, row.bytes, lowest_line(row.numbers.data(), ~0U)));
  }
}

TEST(L1Banks, AColumnOfARowMajorMatrixTakesAPassForEachLane) {
  std::array<std::uint64_t, 32> places{};
  for (std::uint64_t lane = 0; lane < 32; ++lane) places[lane] = lane * 4096;
  EXPECT_EQ(load_passes(places.data(), ~0U, 4, 0), 32U);
  EXPECT_EQ(load_passes(places.data(), 0x0000FFFFU, 4, 0), 16U) << "half of the lanes";
  for (std::uint64_t lane = 0; lane < 32; ++lane) places[lane] += 4 * lane;
  EXPECT_EQ(load_passes(places.data(), ~0U, 4, 0), 8U) << "a diagonal has a bank for each lane";
  EXPECT_EQ(load_passes(places.data(), 0, 4, 0), 0U);
}

}  // namespace
}  // namespace membound::vgpu::memory
