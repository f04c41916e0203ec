// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/tiling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <utility>

namespace membound::harness {
namespace {

constexpr Tiling::Effort kEffort{.tries = 200};
constexpr std::uint64_t kSeed = 7;

/// A launch: its grid, its array, and what each block writes.
struct Launch {
  Tiling::Grid grid;
  std::int64_t elements;
  std::function<Footprint(std::uint64_t block)> of;

  [[nodiscard]] std::uint64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
};

/// What these blocks write.
Footprint together(const Launch& launch, std::span<const std::uint64_t> blocks) {
  std::vector<ElementRun> runs;
  for (const std::uint64_t block : blocks)
    for (const ElementRun& run : launch.of(block)) runs.push_back(run);
  return united(std::move(runs));
}

/// Whether a rule is found by which all places are written once.
bool is_sure(const Launch& launch, const WrittenRows& rows = {}) {
  const auto tiling = Tiling::find(launch.grid, launch.elements, kSeed, kEffort,
                                   [&](std::span<const std::uint64_t> blocks) {
                                     return std::optional(together(launch, blocks));
                                   });
  return tiling && tiling->has_each_once(rows, kSeed);
}

/// `threads` elements a block.
Launch stretches(std::int64_t elements, std::int64_t threads) {
  const auto blocks = static_cast<std::uint64_t>((elements + threads - 1) / threads);
  return {{blocks, 1, 1}, elements, [=](std::uint64_t block) {
            const auto first = static_cast<std::int64_t>(block) * threads;
            Footprint all;
            append(all, first, std::min(threads, elements - first));
            return all;
          }};
}

/// The same from the end.
Launch reversed(std::int64_t elements, std::int64_t threads) {
  Launch launch = stretches(elements, threads);
  launch.of = [=, of = launch.of](std::uint64_t block) {
    const Footprint forward = of(block);
    Footprint all;
    if (!forward.empty())
      append(all, elements - forward.front().first - forward.front().count, forward.front().count);
    return all;
  };
  return launch;
}

/// Each block goes on by the whole grid.
Launch strides(std::int64_t elements, std::int64_t threads, std::int64_t blocks) {
  return {{static_cast<std::uint64_t>(blocks), 1, 1}, elements, [=](std::uint64_t block) {
            Footprint all;
            for (std::int64_t at = static_cast<std::int64_t>(block) * threads; at < elements;
                 at += threads * blocks)
              append(all, at, std::min(threads, elements - at));
            return all;
          }};
}

/// Tiles of a matrix; `line` deals them out in one direction.
Launch tiles(std::int64_t rows, std::int64_t cols, std::int64_t high, std::int64_t wide,
             bool line) {
  const std::int64_t across = (cols + wide - 1) / wide, down = (rows + high - 1) / high;
  const auto x = static_cast<std::uint64_t>(across), y = static_cast<std::uint64_t>(down);
  return {line ? Tiling::Grid{x * y, 1, 1} : Tiling::Grid{x, y, 1}, rows * cols,
          [=](std::uint64_t block) {
            const auto number = static_cast<std::int64_t>(block);
            const std::int64_t left = number % across * wide, top = number / across * high;
            Footprint all;
            for (std::int64_t row = top; row < std::min(rows, top + high); ++row)
              append(all, row * cols + left, std::min(wide, cols - left));
            return all;
          }};
}

/// `block` leaves out what it writes.
Launch without(Launch launch, std::uint64_t block) {
  launch.of = [=, of = launch.of](std::uint64_t one) {
    return one == block ? Footprint{} : of(one);
  };
  return launch;
}

/// A class of launches with sizes drawn from a generator.
struct Family {
  const char* name;
  Launch (*make)(std::mt19937_64&);
};

std::int64_t between(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

const Family kFamilies[] = {
    {"stretches", [](std::mt19937_64& r) { return stretches(between(r, 1, 50'000), 64); }},
    {"reversed", [](std::mt19937_64& r) { return reversed(between(r, 1, 50'000), 96); }},
    {"strides",
     [](std::mt19937_64& r) { return strides(between(r, 20'000, 50'000), 32, between(r, 5, 90)); }},
    {"tiles",
     [](std::mt19937_64& r) {
       return tiles(between(r, 1, 300), between(r, 1, 300), 8, 16, false);
     }},
    {"tiles in a line",
     [](std::mt19937_64& r) {
       return tiles(between(r, 40, 300), between(r, 60, 300), 8, 16, true);
     }},
};

class Families : public testing::TestWithParam<Family> {};

TEST_P(Families, HaveEachPlaceOnce) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 50; ++i) {
    const Launch launch = GetParam().make(random);
    EXPECT_TRUE(is_sure(launch)) << launch.grid[0] << " x " << launch.grid[1] << ", "
                                 << launch.elements;
  }
}

TEST_P(Families, LackWhatTheLastBlocksOfASmallerGridDoNotWrite) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 50; ++i) {
    Launch launch = GetParam().make(random);
    const std::size_t axis = launch.grid[1] > 1 ? 1 : 0;
    if (launch.grid[axis] < 2) continue;
    --launch.grid[axis];
    EXPECT_FALSE(is_sure(launch)) << launch.grid[0] << " x " << launch.grid[1];
  }
}

TEST_P(Families, LackWhatABlockInEightLeavesOut) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 50; ++i) {
    Launch launch = GetParam().make(random);
    if (launch.blocks() < 9) continue;
    launch.of = [of = launch.of](std::uint64_t block) {
      return block % 8 == 5 ? Footprint{} : of(block);
    };
    EXPECT_FALSE(is_sure(launch)) << launch.grid[0] << " x " << launch.grid[1];
  }
}

TEST_P(Families, LackWhatEveryBlockLeavesOut) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 50; ++i) {
    Launch launch = GetParam().make(random);
    launch.of = [of = launch.of](std::uint64_t block) {
      Footprint all = of(block);
      if (!all.empty() && --all.back().count == 0) all.pop_back();
      return all;
    };
    EXPECT_FALSE(is_sure(launch)) << launch.grid[0] << " x " << launch.grid[1];
  }
}

TEST_P(Families, LackTheFirstAndTheLastBlock) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 50; ++i) {
    const Launch launch = GetParam().make(random);
    for (const std::uint64_t block : {std::uint64_t{0}, launch.blocks() - 1})
      if (!launch.of(block).empty()) {
        EXPECT_FALSE(is_sure(without(launch, block))) << block << " of " << launch.blocks();
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Tiling, Families, testing::ValuesIn(kFamilies), [](const auto& one) {
  std::string name = one.param.name;
  std::ranges::replace(name, ' ', '_');
  return name;
});

TEST(Tiling, SeesTwoBlocksThatShareAPlace) {
  Launch launch = stretches(10'000, 100);
  launch.of = [of = launch.of](std::uint64_t block) {
    Footprint all = of(block);
    if (block > 0) --all.front().first;
    return all;
  };
  EXPECT_FALSE(is_sure(launch));
}

TEST(Tiling, SeesBlocksThatWriteWhatOthersHaveWritten) {
  Launch launch = stretches(1 << 28, 256);
  launch.of = [of = launch.of](std::uint64_t block) { return of(block % 900'000); };
  EXPECT_FALSE(is_sure(launch));
}

TEST(Tiling, KnowsTheGapsThatMustStay) {
  const std::int64_t rows = 500, pitch = 100, used = 93;
  const Launch launch{{3, 500, 1}, rows * pitch, [=](std::uint64_t block) {
                        const auto at = static_cast<std::int64_t>(block);
                        const std::int64_t left = at % 3 * 32;
                        Footprint all;
                        append(all, at / 3 * pitch + left, std::min<std::int64_t>(32, used - left));
                        return all;
                      }};
  EXPECT_TRUE(is_sure(launch, {100, 93}));
  EXPECT_FALSE(is_sure(launch, {100, 92}));
  EXPECT_FALSE(is_sure(launch));
}

TEST(Tiling, IsQuickWithAMillionBlocks) {
  EXPECT_TRUE(is_sure(stretches(1 << 28, 256)));
  EXPECT_TRUE(is_sure(tiles(16384, 16384, 32, 32, false)));
  EXPECT_TRUE(is_sure(tiles(16384, 16384, 32, 32, true)));
  EXPECT_TRUE(is_sure(strides(1 << 28, 1024, 264)));
}

/// Rows that begin anywhere in a line of 32: each block begins at a line.
Launch rows_out_of_step(std::int64_t rows, std::int64_t cols, std::int64_t pitch) {
  constexpr std::int64_t kLine = 32, kWide = 128;
  const std::int64_t across = (cols + kLine - 1 + kWide - 1) / kWide;
  return {{static_cast<std::uint64_t>(across), static_cast<std::uint64_t>(rows), 1},
          rows * pitch,
          [=](std::uint64_t block) {
            const auto at = static_cast<std::int64_t>(block);
            const std::int64_t start = at / across * pitch;
            const std::int64_t left = at % across * kWide - start % kLine;
            const std::int64_t first = std::max<std::int64_t>(0, left);
            Footprint all;
            append(all, start + first, std::min(cols, left + kWide) - first);
            return all;
          }};
}

TEST(Tiling, KnowsRowsOutOfStep) {
  EXPECT_TRUE(is_sure(rows_out_of_step(256, 1021, 1021)));
  EXPECT_TRUE(is_sure(rows_out_of_step(256, 1021, 1024), {1024, 1021}));
  EXPECT_FALSE(is_sure(without(rows_out_of_step(256, 1021, 1021), 9)));
}

/// Whole batches in turns, and what is left one by one.
Launch batches(std::int64_t elements, std::int64_t batch, std::int64_t blocks,
               std::int64_t threads) {
  return {{static_cast<std::uint64_t>(blocks), 1, 1}, elements, [=](std::uint64_t block) {
            const auto at = static_cast<std::int64_t>(block);
            const std::int64_t whole = elements / batch;
            Footprint all;
            for (std::int64_t one = at; one < whole; one += blocks) append(all, one * batch, batch);
            for (std::int64_t i = whole * batch + at * threads; i < elements; i += threads * blocks)
              append(all, i, std::min(threads, elements - i));
            return all;
          }};
}

TEST(Tiling, KnowsBatchesAndWhatIsLeft) {
  const Launch launch = batches(67'108'864, 6144, 132, 384);
  EXPECT_TRUE(is_sure(launch));
  for (const std::uint64_t block : {0, 10, 97, 98, 131})
    EXPECT_FALSE(is_sure(without(launch, block))) << block;
}

/// Tiles that blocks take in an order of their own.
Launch in_order(const Launch& tiles, const std::function<std::uint64_t(std::uint64_t)>& tile_of) {
  Launch launch = tiles;
  launch.of = [=](std::uint64_t block) { return tiles.of(tile_of(block)); };
  return launch;
}

/// y = number % height, x = (number / height + y) % width: of a square, y = blockIdx.x.
Launch along_diagonals(const Launch& tiles) {
  return in_order(tiles, [w = tiles.grid[0], h = tiles.grid[1]](std::uint64_t block) {
    return (block / h + block % h) % w + block % h * w;
  });
}

/// x = (blockIdx.x + blockIdx.y) % gridDim.x.
Launch along_diagonals_of_rows(const Launch& tiles) {
  return in_order(tiles, [w = tiles.grid[0]](std::uint64_t block) {
    return (block % w + block / w) % w + block / w * w;
  });
}

TEST(Tiling, KnowsTilesAlongDiagonals) {
  for (const Launch& matrix : {tiles(2048, 2048, 32, 32, false), tiles(1000, 777, 32, 16, false)})
    for (const Launch& launch : {along_diagonals(matrix), along_diagonals_of_rows(matrix)}) {
      EXPECT_TRUE(is_sure(launch));
      EXPECT_FALSE(is_sure(without(launch, 0)));
      Launch sparse = launch;
      sparse.of = [of = launch.of](std::uint64_t block) {
        return block % 8 == 5 ? Footprint{} : of(block);
      };
      EXPECT_FALSE(is_sure(sparse));
    }
}

TEST(Tiling, RunsTheBlocksThatItTriesTogether) {
  std::size_t blocks = 0;
  for (const bool line : {false, true}) {
    const Launch launch = tiles(8192, 8192, 32, 32, line);
    int runs = 0;
    EXPECT_TRUE(Tiling::find(launch.grid, launch.elements, kSeed, kEffort,
                             [&](std::span<const std::uint64_t> some) {
                               ++runs;
                               blocks += some.size();
                               return std::optional(together(launch, some));
                             }));
    EXPECT_LE(runs, 24) << (line ? "in a line" : "in rows");
  }
  EXPECT_GE(blocks, 2 * static_cast<std::size_t>(kEffort.tries));
}

TEST(Tiling, FindsOneBlockOfThoseThatRunTogether) {
  const Launch matrix = tiles(1024, 1024, 32, 32, false);
  for (std::uint64_t missing = 37; missing < 1024; missing += 100) {
    Launch launch = matrix;
    launch.of = [=, of = matrix.of](std::uint64_t block) {
      Footprint all = of(block);
      if (block % 100 == missing % 100) all.pop_back();
      return all;
    };
    EXPECT_FALSE(is_sure(launch)) << missing;
  }
}

/// Whether the rule that block 1, or the first within rows, lets expect has all places, where the
/// blocks `sampled` have run.
bool is_expected(const Launch& launch, const std::vector<std::uint64_t>& sampled,
                 std::size_t& runs) {
  const Tiling::Show show = [&](std::span<const std::uint64_t> blocks) {
    runs += blocks.size();
    return std::optional(together(launch, blocks));
  };
  const Footprint ran = together(launch, sampled);
  const Tiling::Sample sample{
      [&](std::uint64_t block) { return std::ranges::find(sampled, block) != sampled.end(); },
      [&](const Tiling& tiling) {
        std::vector<ElementRun> runs_of_rule;
        for (const std::uint64_t block : sampled)
          for (const ElementRun& run : tiling.of(block)) runs_of_rule.push_back(run);
        return united(std::move(runs_of_rule)) == ran;
      }};
  const std::uint64_t block = launch.grid[1] == 1 ? 1 : launch.grid[0] + 1;
  const auto tiling =
      Tiling::expect(launch.grid, launch.elements, kSeed, {2, true}, show, block, sample);
  return tiling && tiling->has_each_once({}, kSeed);
}

TEST(Tiling, ASampleConfirmsWhatOneBlockLetsExpect) {
  for (const Launch& launch : {stretches(1 << 20, 256), strides(1 << 20, 256, 64),
                               tiles(1024, 2048, 32, 64, false), tiles(1024, 2048, 32, 64, true)}) {
    const std::uint64_t last = launch.blocks() - 1;
    std::size_t runs = 0;
    EXPECT_TRUE(is_expected(launch, {0, 3, 4, 5, last / 2, last}, runs));
    EXPECT_EQ(runs, 3u);
    EXPECT_TRUE(is_expected(launch, {3, 4, 5, last / 2}, runs));
    EXPECT_EQ(runs, 8u);  // the ends, too
  }
}

TEST(Tiling, ExpectsNothingThatTheSampleDoesNotShow) {
  for (const Launch& launch :
       {reversed(1 << 20, 256), strides((1 << 20) + 7, 256, 64), tiles(1000, 1000, 32, 32, false),
        without(stretches(1 << 20, 256), 2), without(stretches(1 << 20, 256), 4095)}) {
    const std::uint64_t last = launch.blocks() - 1;
    std::size_t runs = 0;
    EXPECT_FALSE(is_expected(launch, {0, 2, 4, 5, last / 2}, runs));
  }
}

TEST(Tiling, FindsNoRuleInAnOrderOfItsOwn) {
  EXPECT_FALSE(is_sure(in_order(tiles(1024, 1024, 32, 32, false),
                                [](std::uint64_t block) { return block * 421 % 1024; })));
}

TEST(Tiling, SaysNothingWhereABlockCannotRun) {
  EXPECT_FALSE(Tiling::find({100, 1, 1}, 1000, kSeed, kEffort, [](std::span<const std::uint64_t>) {
    return std::optional<Footprint>();
  }));
}

}  // namespace
}  // namespace membound::harness
