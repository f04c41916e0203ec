// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/timed_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "grader/harness/cases/timed_case.hpp"

namespace membound::harness {
namespace {

/// 1 % of the blocks ran.
nlohmann::json report() {
  return {{"kernels",
           {{{"sample",
              {{"blocks", 10},
               {"of", 1000},
               {"error", 0.01},
               {"stored_bytes", 40'000},
               {"loaded_bytes", 80'000},
               {"ran", {{0, 1}, {500, 9}}}}},
             {"counters", {{"warp_instructions", 5'000'000}}}}}}};
}

TEST(SampleReport, SumsUpWhatKernelsSay) {
  const SampleReport found = sample_of(report());
  EXPECT_EQ(found.not_sampled, "");
  EXPECT_DOUBLE_EQ(found.share, 0.01);
  EXPECT_DOUBLE_EQ(found.error, 0.01);
  EXPECT_DOUBLE_EQ(found.instructions, 5e6);
  ASSERT_EQ(found.ran.size(), 2u);
  EXPECT_EQ(found.ran[1].first, 500u);
  EXPECT_EQ(found.ran[1].count, 9u);
  EXPECT_EQ(text_of(found),
            "predicted from 1 % of the blocks, whose work says that of all within 1.0 %");
}

TEST(SampleReport, SaysWhichPartOfTheWarpsRan) {
  nlohmann::json one = report();
  one["kernels"][0]["sample"]["warps"] = 0.25;
  EXPECT_EQ(text_of(sample_of(one)),
            "predicted from 1 % of the blocks and 25 % of the warps of these, whose work says that "
            "of all within 1.0 %");
}

TEST(SampleReport, SaysThatALastBlockLackedWhatOthersLeave) {
  nlohmann::json one = report();
  EXPECT_FALSE(sample_of(one).lacks_others);
  one["kernels"][0]["sample"]["arrivals"] = 1000;
  EXPECT_TRUE(sample_of(one).lacks_others);
}

TEST(SampleReport, TakesOnlyTheErrorOfALaunchThatPrepares) {
  nlohmann::json two = report();
  nlohmann::json before = two["kernels"][0];
  before["sample"]["prepares"] = 1;
  before["sample"]["error"] = 0.02;
  two["kernels"].push_back(before);
  const SampleReport found = sample_of(two);
  EXPECT_DOUBLE_EQ(found.error, 0.02);
  EXPECT_DOUBLE_EQ(found.share, 0.01);
  EXPECT_DOUBLE_EQ(found.instructions, 5e6);
}

TEST(SampleReport, SaysWhyAKernelWasNotRun) {
  nlohmann::json one = {{"kernels", {{{"name", "k"}, {"not_sampled", "why"}}}}};
  EXPECT_EQ(sample_of(one).not_sampled, "why");
  EXPECT_FALSE(sample_of(one).takes_long);
  one["kernels"][0]["warp_instructions"] = 1000;
  EXPECT_TRUE(sample_of(one).takes_long);
}

/// 1 % of the blocks ran and stored so many bytes, to so many elements of a million; all would
/// store `all` bytes.
bool stands(double stored, double all, std::size_t elements) {
  const TimedBuffer million{.type = ElementType::kFloat, .count = 1'000'000};
  return stands_for_all({stored, all}, 0.01, {.elements = elements}, million);
}

TEST(StandsForAll, WhereEachBlockWritesItsShare) { EXPECT_TRUE(stands(40'000, 4e6, 10'000)); }

TEST(StandsForAll, ASampleMayBeOffByItsError) { EXPECT_TRUE(stands(40'000, 3.8e6, 10'000)); }

TEST(StandsForAll, NotWhereAFewOthersDoTheWork) {
  EXPECT_FALSE(stands(20'000, 2e6, 5'000));
  EXPECT_FALSE(stands(0, 0, 0));
}

TEST(StandsForAll, NotWhereBlocksWriteTheSame) { EXPECT_FALSE(stands(40'000, 4e6, 1'000)); }

TEST(WrittenPart, IsWhatIsNoPoison) {
  const TimedBuffer form{.type = ElementType::kInt32, .count = 8};
  const int poison = static_cast<int>(0x7FF7DEADU);
  const HostArray got = bytes_of<int>({1, poison, poison, 3, 5});
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  each_written(form, got, [&](std::size_t first, std::size_t n) { runs.emplace_back(first, n); });
  EXPECT_THAT(runs, testing::ElementsAre(testing::Pair(0, 1), testing::Pair(3, 2)));
}

/// The runs of `got`, where poison belongs to place 1 and to places from 5 on.
std::vector<std::pair<std::size_t, std::size_t>> runs_of(ElementType type, const HostArray& got) {
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  each_written(
      {.type = type, .count = 8}, got,
      [](std::size_t first, std::size_t) { return first == 1 || first >= 5; },
      [&](std::size_t first, std::size_t n) { runs.emplace_back(first, n); });
  return runs;
}

TEST(WrittenPart, HasIntegersThatArePoisonByChance) {
  using testing::ElementsAre;
  using testing::Pair;
  const int poison = static_cast<int>(0x7FF7DEADU);
  const auto of_ints = [](const HostArray& got) { return runs_of(ElementType::kInt32, got); };
  EXPECT_THAT(of_ints(bytes_of<int>({1, poison, 2, 3, 4, 5, 6, 7})), ElementsAre(Pair(0, 8)));
  EXPECT_THAT(of_ints(bytes_of<int>({1, 2, 3, 4, 5, 6, 7, poison})), ElementsAre(Pair(0, 8)));
  EXPECT_THAT(of_ints(bytes_of<int>({1, poison, poison, 3, 4, 5, 6, 7})), ElementsAre(Pair(0, 8)));
  // Where something else belongs, where more are left out, and where nothing is written.
  EXPECT_THAT(of_ints(bytes_of<int>({poison, 1, 2, poison, 4, 5, 6, 7})),
              ElementsAre(Pair(1, 2), Pair(4, 4)));
  EXPECT_THAT(of_ints(bytes_of<int>({1, 2, 3, 4, 5, poison, poison, poison})),
              ElementsAre(Pair(0, 5)));
  EXPECT_THAT(of_ints(bytes_of<int>({poison, poison})), testing::IsEmpty());
  const float nan = std::bit_cast<float>(0x7FF7DEADU);
  EXPECT_THAT(runs_of(ElementType::kFloat, bytes_of<float>({1, nan, 2})),
              ElementsAre(Pair(0, 1), Pair(2, 1)));
}

TEST(WrittenPart, IsComparedElementByElement) {
  const TimedBuffer form{.type = ElementType::kInt32, .count = 8};
  WrittenPart part;
  compare_written(form, 4, bytes_of<int>({1, 3, 5}), bytes_of<int>({1, 3, 4}), {}, part);
  EXPECT_EQ(part.elements, 3u);
  EXPECT_EQ(part.difference.wrong, 1u);
  EXPECT_EQ(part.difference.first, 6u);
}

TEST(DrawnInputs, AreTheArraysAtAnyPlace) {
  const TimedBuffer form{.type = ElementType::kDouble, .count = 100};
  const std::uint64_t seeds[] = {77};
  const DrawnInputs inputs({&form, 1}, seeds);
  const std::vector<double> all = values_of<double>(drawn(form, 77));
  HostArray part(10 * sizeof(double));
  base::draw_into({draw_of(form, 77), form.type}, 20 * sizeof(double), part);
  const std::vector<double> some = values_of<double>(part);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(inputs.at<double>(0, 20 + i), all[20 + i]);
    EXPECT_EQ(some[i], all[20 + i]);
  }
}

}  // namespace
}  // namespace membound::harness
