// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/ncu_report.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "grader/tests/judge/ncu_log.hpp"
#include "grader/vgpu/counters/counters.hpp"

namespace membound::judge {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using vgpu::counters::all_counters;

std::optional<std::uint64_t> count_of(const NcuLaunch& launch, const char* counter) {
  const auto* const row = vgpu::counters::find_counter(counter);
  return launch.counts.at(static_cast<std::size_t>(row - all_counters().data()));
}

/// A table of one launch and one metric.
std::string small_log(const std::string& block, const std::string& grid, const std::string& count,
                      const std::string& unit = "byte") {
  return R"("ID","Kernel Name","Block Size","Grid Size","dram__bytes_read.sum")"
         "\n\"\",\"\",\"\",\"\",\"" +
         unit + "\"\n\"0\",\"_Z1kv\",\"" + block + "\",\"" + grid + "\",\"" + count + "\"\n";
}

std::string problem_of(const std::string& log) {
  const auto launches = read_ncu_table(log);
  return launches ? "no error" : base::to_string(launches.error());
}

TEST(NcuTable, HasTheLaunchesThatAnH200Counted) {
  const auto launches = read_ncu_table(ncu_log_of_transpose());
  ASSERT_TRUE(launches) << base::to_string(launches.error());
  ASSERT_EQ(launches->size(), 2U);
  const NcuLaunch& of_floats = launches->front();
  EXPECT_EQ(of_floats.kernel, "_Z15transpose_tiledIfEvPT_PKS0_ii");
  EXPECT_THAT(of_floats.grid, ElementsAre(7, 4, 1));
  EXPECT_THAT(of_floats.block, ElementsAre(32, 32, 1));
  // 113 x 211 floats.
  EXPECT_EQ(count_of(of_floats, "global_load_bytes"), 113U * 211 * 4);
  EXPECT_EQ(count_of(of_floats, "dram_read_bytes"), 98560U);
  EXPECT_EQ(count_of(of_floats, "shared_store_requests"),
            count_of(of_floats, "global_load_requests"));
  EXPECT_EQ(count_of(of_floats, "warp_instructions"), std::nullopt);
}

TEST(NcuTable, LeavesOpenWhatNcuDoesNotKnow) {
  for (const char* cell : {"", "n/a"}) {
    const auto launches = read_ncu_table(small_log("(32, 1, 1)", "(1, 1, 1)", cell));
    ASSERT_TRUE(launches) << base::to_string(launches.error());
    EXPECT_EQ(count_of(launches->front(), "dram_read_bytes"), std::nullopt);
  }
}

TEST(NcuTable, CountsInBytesWhateverTheUnit) {
  const auto read = [](const char* count, const char* unit) {
    const auto launches = read_ncu_table(small_log("(32, 1, 1)", "(1, 1, 1)", count, unit));
    return launches ? count_of(launches->front(), "dram_read_bytes") : std::nullopt;
  };
  EXPECT_EQ(read("1,209", "byte"), 1209U);
  EXPECT_EQ(read("3.58", "Kbyte"), 3580U);
  EXPECT_EQ(read("1.5", "Mbyte"), 1'500'000U);
  EXPECT_EQ(read("2", "Gbyte"), 2'000'000'000U);
}

TEST(NcuTable, ABadRowIsNamed) {
  EXPECT_THAT(problem_of(small_log("(32, 1, 1)", "(1, 1, 1)", "-4")),
              AllOf(HasSubstr("row 3"), HasSubstr("dram__bytes_read.sum"), HasSubstr("\"-4\"")));
  for (const char* count : {"many", "nan", "inf", "1e30", "12 apples", "0x10"})
    EXPECT_THAT(problem_of(small_log("(32, 1, 1)", "(1, 1, 1)", count)), HasSubstr("expected"))
        << count;
  for (const char* extent : {"", "32", "(32, 1)", "(32, 1, 1", "(0, 1, 1)", "(-1, 1, 1)",
                             "(1, 1, 1, 1)", "(99999999999999999999, 1, 1)", "(a, b, c)"}) {
    EXPECT_THAT(problem_of(small_log(extent, "(1, 1, 1)", "4")), HasSubstr("row 3, Block Size"))
        << extent;
    EXPECT_THAT(problem_of(small_log("(32, 1, 1)", extent, "4")), HasSubstr("row 3, Grid Size"))
        << extent;
  }
}

TEST(NcuTable, NoTableIsAnError) {
  EXPECT_THAT(problem_of(""), HasSubstr("a table of launches"));
  EXPECT_THAT(problem_of("==WARNING== No kernels were profiled.\n"),
              AllOf(HasSubstr("No kernels were profiled"), HasSubstr("a table of launches")));
  EXPECT_THAT(problem_of("\"ID\",\"Kernel Name\"\n\"0\",\"k\"\n"), HasSubstr("Block Size"));
}

TEST(NcuTable, AnyBytesAreATableOrAnErrorThatSaysWhy) {
  const std::string good = ncu_log_of_transpose();
  ASSERT_FALSE(good.empty());
  const std::string pieces[] = {"\"",
                                ",",
                                "\n",
                                "(",
                                ")",
                                "-",
                                "1e99",
                                "n/a",
                                "==ERROR== ",
                                "\xFF",
                                std::string(1, '\0'),
                                "\"\"",
                                ";",
                                "\t",
                                "99999999999999999999"};
  std::mt19937_64 random(12);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  int read = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string log = good;
    for (std::size_t change = 0, changes = 1 + below(4); change < changes && !log.empty();
         ++change) {
      const std::size_t at = below(log.size());
      switch (below(4)) {
        case 0:
          log.insert(at, pieces[below(std::size(pieces))]);
          break;
        case 1:
          log.erase(at, 1 + below(200));
          break;
        case 2:
          log[at] = static_cast<char>(random());
          break;
        default:
          log.resize(at);
      }
    }
    const auto launches = read_ncu_table(log);
    if (!launches) {
      EXPECT_FALSE(launches.error().found.empty() && launches.error().expected.empty());
      continue;
    }
    ++read;
    EXPECT_LE(launches->size(), static_cast<std::size_t>(std::ranges::count(log, '\n')) + 1);
    for (const NcuLaunch& launch : *launches) {
      EXPECT_EQ(launch.counts.size(), all_counters().size());
      for (const std::int64_t extent : launch.grid) EXPECT_GE(extent, 1);
      for (const auto& count : launch.counts)
        EXPECT_LE(count.value_or(0), 1'000'000'000'000'000'000U);
    }
  }
  EXPECT_GT(read, 100) << "the changes leave no table to look at";
}

TEST(NcuMetrics, AreThoseOfTheCountersOnceEach) {
  const std::string asked = "," + ncu_metrics() + ",";
  for (const auto& row : all_counters()) {
    const std::string metric = "," + std::string(row.metric) + ",";
    if (row.metric.empty()) continue;
    const bool wanted = !row.metric.starts_with("launch__") && row.name != "dram_write_bytes";
    const std::size_t first = asked.find(metric);
    EXPECT_EQ(first != std::string::npos, wanted) << row.name;
    if (!wanted) continue;
    EXPECT_EQ(asked.find(metric, first + 1), std::string::npos) << row.metric;
  }
}

TEST(NcuProblem, IsTheFirstThatNcuCallsAnError) {
  EXPECT_EQ(ncu_problem(ncu_log_of_transpose()), "");
  EXPECT_THAT(ncu_problem("==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - The user "
                          "does not have permission to access NVIDIA GPU Performance Counters on "
                          "the target device 0.\n==ERROR== more\n"),
              AllOf(HasSubstr("ERR_NVGPUCTRPERM"), testing::Not(HasSubstr("more")),
                    testing::Not(HasSubstr("\n"))));
}

}  // namespace
}  // namespace membound::judge
