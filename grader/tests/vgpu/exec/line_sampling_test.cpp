// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <gtest/gtest.h>

#include "grader/vgpu/exec/traffic/line_sampling.hpp"

namespace membound::vgpu::exec {
namespace {

constexpr std::uint64_t kLines = 64 * 1024;  // of an allocation

memory::Allocation at_line(std::uint64_t line) {
  memory::Allocation one;
  one.address = line * memory::kLineBytes;
  one.size_bytes = kLines * memory::kLineBytes;
  return one;
}

TEST(SampledLines, AreChosenByTheirPlaceInTheAllocation) {
  const SampledLines here({at_line(1'000'000)}), there({at_line(4'321'078), at_line(77)});
  for (std::uint64_t i = 0; i < kLines; ++i)
    ASSERT_EQ(here.hold(1'000'000 + i), there.hold(4'321'078 + i)) << i;
}

TEST(SampledLines, AreOneOfEvery64InARow) {
  const SampledLines watched({at_line(12'345)});
  for (std::uint64_t row = 0; row < kLines; row += kLinesPerSample) {
    std::uint64_t held = 0;
    for (std::uint64_t i = 0; i < kLinesPerSample; ++i) held += watched.hold(12'345 + row + i);
    ASSERT_EQ(held, 1u) << row;
  }
}

TEST(SampledLines, OfASetAreThoseThatAreHeldOneByOne) {
  const SampledLines watched({at_line(1'000), at_line(70'000), at_line(200'000)});
  std::mt19937_64 random(1);
  for (int round = 0; round < 2'000; ++round) {
    LineSet lines;
    std::uint32_t expected = 0;
    const std::uint64_t step = random() % 100, start = random() % 210'000;
    for (std::uint64_t i = 0; i < 32; ++i)
      lines.add(round % 2 == 0 ? start + i * step : random() % 210'000, 1);
    for (std::uint32_t i = 0; i < lines.size(); ++i)
      expected |= static_cast<std::uint32_t>(watched.hold(lines.line(i))) << i;
    ASSERT_EQ(watched.of(lines), expected) << round;
  }
}

// With 1,024 rows of 64, 16 are expected of a residue of 64: fewer than 2 or more than 36 is no
// accident.
TEST(SampledLines, MeetNoStride) {
  const SampledLines watched({at_line(0)});
  for (std::uint64_t from = 0; from < kLinesPerSample; ++from) {
    std::uint64_t held = 0;
    for (std::uint64_t line = from; line < kLines; line += kLinesPerSample)
      held += watched.hold(line);
    EXPECT_GE(held, 2u) << from;
    EXPECT_LE(held, 36u) << from;
  }
}

}  // namespace

}  // namespace membound::vgpu::exec
