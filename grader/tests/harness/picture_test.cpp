// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace membound::harness {
namespace {

constexpr Mark kRight = Mark::kRight, kWrong = Mark::kWrong, kNever = Mark::kNeverWritten;

/// The lines under the legend, without their indent.
std::vector<std::string> lines_of(const std::vector<Mark>& marks,
                                  const std::vector<std::int64_t>& extents) {
  std::istringstream text(picture(marks, extents));
  std::vector<std::string> lines;
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line)) lines.push_back(line.substr(2));
  return lines;
}

TEST(Picture, ASmallTableShowsEveryElement) {
  const std::vector<Mark> marks = {kRight, kWrong, kNever, kRight, kRight, kWrong};
  EXPECT_EQ(lines_of(marks, {2, 3}), (std::vector<std::string>{".X-", "..X"}));
}

TEST(Picture, AListIsBrokenIntoLinesOfAWarp) {
  std::vector<Mark> marks(40, kRight);
  marks[32] = kWrong;
  EXPECT_EQ(lines_of(marks, {40}), (std::vector<std::string>{std::string(32, '.'), "X......."}));
}

TEST(Picture, ATileOfALargeMatrixShowsAsARectangle) {
  std::vector<Mark> marks(64 * 128, kRight);
  for (int y = 32; y < 64; ++y)
    for (int x = 0; x < 64; ++x) marks[static_cast<std::size_t>(y * 128 + x)] = kNever;
  const auto lines = lines_of(marks, {64, 128});  // 4 x 4 elements per character
  ASSERT_EQ(lines.size(), 16U);
  EXPECT_EQ(lines[7], std::string(32, '.'));
  EXPECT_EQ(lines[8], std::string(16, '-') + std::string(16, '.'));
}

TEST(Picture, PartlyWrongAndMixedPiecesAreSmallX) {
  std::vector<Mark> marks(1024, kRight);  // 2 elements per character
  marks[0] = kWrong;
  marks[2] = kWrong;
  marks[3] = kNever;
  EXPECT_EQ(lines_of(marks, {1024})[0].substr(0, 3), "xX.");
}

TEST(Picture, NeverExceeds16LinesOf32Characters) {
  for (const std::int64_t rows : {1, 17, 33, 100, 257})
    for (const std::int64_t columns : {1, 31, 33, 513, 1000}) {
      const auto lines =
          lines_of(std::vector<Mark>(static_cast<std::size_t>(rows * columns)), {rows, columns});
      EXPECT_LE(lines.size(), 16U) << rows << " x " << columns;
      for (const std::string& line : lines) EXPECT_LE(line.size(), 32U);
    }
}

TEST(Picture, NothingToShowForAnEmptyArray) { EXPECT_EQ(picture({}, {}), ""); }

}  // namespace
}  // namespace membound::harness
