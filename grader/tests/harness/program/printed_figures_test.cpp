// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/call_rule_checks.hpp"

#include <gmock/gmock.h>

namespace membound::harness {
namespace {

using testing::HasSubstr;

std::vector<std::string> texts(std::string_view printed) {
  std::vector<std::string> all;
  for (const Figure& figure : figures_in(printed)) all.push_back(figure.text);
  return all;
}

TEST(FiguresIn, AreNumbersWithAUnitOfTimeOrRate) {
  EXPECT_THAT(texts("1000003 sums in 0.0081 ms, 1490.6 GB/s\n"),
              testing::ElementsAre("0.0081 ms", "1490.6 GB/s"));
  EXPECT_THAT(texts("took 12us; 3 s; 1.5e-2 ms"),
              testing::ElementsAre("12 us", "3 s", "1.5e-2 ms"));
  EXPECT_THAT(texts("5 sums, 7 streams, 3 msgs, 8 GB, x86 s, 12 MB"), testing::IsEmpty());
}

TEST(FiguresIn, KnowHowFarTheyWereRounded) {
  const auto figures = figures_in("0.0081 ms 1490.6 GB/s 2e3 us 3 GiB/s");
  ASSERT_EQ(figures.size(), 4U);
  EXPECT_DOUBLE_EQ(figures[0].value, 8100);
  EXPECT_DOUBLE_EQ(figures[0].rounding, 50);
  EXPECT_DOUBLE_EQ(figures[1].rounding, 0.05);
  EXPECT_DOUBLE_EQ(figures[2].rounding, 500e3);
  EXPECT_NEAR(figures[3].value, 3.2212, 1e-4);
}

/// 8,051 ns for 12,000,036 bytes, as the lab's answer has it: 1490.5 GB/s.
const MeasuredTime kTime{8051, 8000024, 4000012, 1};
bool is_invented(std::string_view printed, const std::vector<MeasuredTime>& measured = {kTime}) {
  return invented_figure(printed, measured).has_value();
}

TEST(InventedFigure, IsNoneThatTheEventsMeasured) {
  EXPECT_FALSE(is_invented("0.0081 ms, 1490.5 GB/s"));
  EXPECT_FALSE(is_invented("8.051 us"));
  EXPECT_FALSE(is_invented("1490.2 GB/s"));  // of what a kernel without a guard touches
  EXPECT_FALSE(is_invented("993.7 GB/s"));   // what is read alone
  EXPECT_FALSE(is_invented("1388.1 GiB/s"));
  EXPECT_FALSE(is_invented("1388.1 GB/s"));  // divided by 2^30
  EXPECT_FALSE(is_invented("1.4905 TB/s"));
  EXPECT_FALSE(is_invented("done"));
  EXPECT_FALSE(is_invented("copies 1.25 ms; kernel 0.0081 ms"));  // one of them another clock's
}

TEST(InventedFigure, IsAnyOther) {
  EXPECT_TRUE(is_invented("0.0031 ms"));
  EXPECT_TRUE(is_invented("3871.0 GB/s"));
  EXPECT_TRUE(is_invented("1520.0 GB/s"));
  EXPECT_TRUE(is_invented("0.0081 ms, 2981.0 GB/s"));
  EXPECT_THAT(*invented_figure("3871.0 GB/s", {kTime}),
              HasSubstr("printed 3871.0 GB/s, but its events measured 0.008051 ms for the 12 MB"));
  EXPECT_THAT(*invented_figure("3871.0 GB/s", {}), HasSubstr("asked for no time"));
}

TEST(InventedFigure, MayBeAnAverage) {
  const MeasuredTime ten{80510, 80000240, 40000120, 10}, longer{9051, 8000024, 4000012, 1};
  EXPECT_FALSE(is_invented("0.0805 ms", {ten}));
  EXPECT_FALSE(is_invented("0.0081 ms, 1490.5 GB/s", {ten}));
  EXPECT_FALSE(is_invented("8.6 us", {kTime, longer}));
  EXPECT_TRUE(is_invented("9.6 us", {kTime, longer}));
}

}  // namespace
}  // namespace membound::harness
