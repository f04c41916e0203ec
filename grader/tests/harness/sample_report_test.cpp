// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/sample_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace membound::harness {
namespace {

/// 1 % of the blocks ran and stored `stored` bytes, and loaded twice as many; all would store
/// `all`.
nlohmann::json report(double stored, double all) {
  return {{"kernels",
           {{{"sample",
              {{"blocks", 10},
               {"of", 1000},
               {"error", 0.01},
               {"stored_bytes", stored},
               {"loaded_bytes", 2 * stored}}},
             {"counters", {{"global_store_bytes", all}, {"global_load_bytes", 2 * all}}}}}}};
}

const TimedBuffer kMillion{.type = ElementType::kFloat, .count = 1'000'000};

std::size_t missing(double stored, double all, std::size_t elements) {
  const SampleReport said = sample_of(report(stored, all));
  return missing_elements(said.stored, said.error, {.elements = elements}, kMillion);
}

TEST(SampleReport, SumsUpWhatKernelsSay) {
  const SampleReport found = sample_of(report(40'000, 4e6));
  EXPECT_EQ(found.not_sampled, "");
  EXPECT_DOUBLE_EQ(found.share, 0.01);
  EXPECT_DOUBLE_EQ(found.error, 0.01);
  EXPECT_DOUBLE_EQ(found.stored.ran, 40'000);
  EXPECT_DOUBLE_EQ(found.stored.all, 4e6);
  EXPECT_DOUBLE_EQ(found.loaded.ran, 80'000);
  EXPECT_DOUBLE_EQ(found.loaded.all, 8e6);
  EXPECT_EQ(text_of(found),
            "predicted from 1 % of the blocks, whose work says that of all within 1.0 %");
}

TEST(SampleReport, SaysWhichPartOfTheWarpsRan) {
  nlohmann::json one = report(40'000, 4e6);
  one["kernels"][0]["sample"]["warps"] = 0.25;
  EXPECT_EQ(text_of(sample_of(one)),
            "predicted from 1 % of the blocks and 25 % of the warps of these, whose work says that "
            "of all within 1.0 %");
}

TEST(SampleReport, SaysThatALastBlockLackedWhatOthersLeave) {
  nlohmann::json one = report(40'000, 4e6);
  EXPECT_FALSE(sample_of(one).lacks_others);
  one["kernels"][0]["sample"]["arrivals"] = 1000;
  EXPECT_TRUE(sample_of(one).lacks_others);
}

TEST(SampleReport, TakesOnlyTheErrorOfALaunchThatPrepares) {
  nlohmann::json two = report(40'000, 4e6);
  nlohmann::json before = two["kernels"][0];
  before["sample"]["prepares"] = 1;
  before["sample"]["error"] = 0.02;
  two["kernels"].push_back(before);
  const SampleReport found = sample_of(two);
  EXPECT_DOUBLE_EQ(found.error, 0.02);
  EXPECT_DOUBLE_EQ(found.share, 0.01);
  EXPECT_DOUBLE_EQ(found.stored.ran, 40'000);
  EXPECT_DOUBLE_EQ(found.stored.all, 4e6);
}

TEST(SampleReport, SaysWhyAKernelWasNotRun) {
  nlohmann::json one = {{"kernels", {{{"name", "k"}, {"not_sampled", "why"}}}}};
  EXPECT_EQ(sample_of(one).not_sampled, "why");
  EXPECT_FALSE(sample_of(one).takes_long);
  one["kernels"][0]["warp_instructions"] = 1000;
  EXPECT_TRUE(sample_of(one).takes_long);
}

TEST(MissingElements, NoneWhereEachBlockWritesItsShare) {
  EXPECT_EQ(missing(40'000, 4e6, 10'000), 0u);
}

TEST(MissingElements, ASampleMayBeOffByItsError) { EXPECT_EQ(missing(40'000, 3.8e6, 10'000), 0u); }

TEST(MissingElements, BlocksThatWriteNothingLeaveTheirShare) {
  EXPECT_EQ(missing(20'000, 2e6, 5'000), 500'000u);
  EXPECT_EQ(missing(0, 0, 0), 1'000'000u);
}

TEST(MissingElements, BlocksThatWriteTheSameCountOnce) {
  EXPECT_EQ(missing(40'000, 4e6, 1'000), 900'000u);
}

TEST(WrittenPart, IsWhatIsNoPoison) {
  const TimedBuffer form{.type = ElementType::kInt32, .count = 8};
  const int poison = static_cast<int>(0x7FF7DEADU);
  const HostArray got = bytes_of<int>({1, poison, poison, 3, 5});
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  each_written(form, got, [&](std::size_t first, std::size_t n) { runs.emplace_back(first, n); });
  EXPECT_THAT(runs, testing::ElementsAre(testing::Pair(0, 1), testing::Pair(3, 2)));
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
