// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/comparison.hpp"

#include <gmock/gmock.h>

#include <regex>

namespace membound::report {
namespace {

using testing::HasSubstr;
using testing::Not;

course::KernelProfile kernel(const std::string& label, double ns, const std::string& bound) {
  course::KernelProfile profile;
  profile.label = label;
  profile.predicted_ns = ns;
  profile.bound = bound;
  return profile;
}

/// Timed in one case, at `speed` bytes a second below a ceiling of 100 GB/s.
ComparedRun run_on(const std::string& gpu, double speed, const std::string& answer = "") {
  ComparedRun run{gpu, "Kepler", answer, {}};
  run.stage.speed = speed;
  run.stage.ratio = 1;
  run.stage.ceiling = 100e9;
  run.stage.verdict = course::Verdict::kPassed;
  run.stage.timings.push_back({});
  run.stage.timings[0].label = "large";
  run.stage.timings[0].ratio = 1;
  run.stage.profiles = {kernel("large", 100, "DRAM bandwidth")};
  return run;
}

/// Widths of all bars of a picture, the empty ones and the filled ones.
std::vector<double> widths_of(const std::string& svg, const std::string& look) {
  const std::regex bar("<rect [^>]*width=\"([0-9.]+)\"[^>]*class=\"mb-" + look + "\"");
  std::vector<double> widths;
  for (std::sregex_iterator at(svg.begin(), svg.end(), bar), end; at != end; ++at)
    widths.push_back(std::stod((*at)[1]));
  return widths;
}

TEST(Comparison, NamesWhatBindsTheLongestKernelOfTheSlowestCase) {
  ComparedRun run = run_on("K80", 50e9);
  run.stage.timings.push_back(run.stage.timings[0]);
  run.stage.timings[1].label = "small";
  run.stage.timings[1].ratio = 0.5;
  run.stage.profiles.push_back(kernel("small", 10, "latency"));
  run.stage.profiles.push_back(kernel("small", 30, "starting blocks"));
  EXPECT_EQ(binding_of(run.stage), "starting blocks");
  run.stage.profiles.back().predicted_ns = 9;
  EXPECT_EQ(binding_of(run.stage), "latency");
}

TEST(Comparison, TheTableShowsSpeedShareAndWhatBinds) {
  const std::string text = comparison_table({run_on("K80", 50e9), run_on("H200", 90e9)}, Style{});
  EXPECT_THAT(text, HasSubstr("50.0 GB/s"));
  EXPECT_THAT(text, HasSubstr("50 %  #####....."));
  EXPECT_THAT(text, HasSubstr("90 %  #########."));
  EXPECT_THAT(text, HasSubstr("DRAM bandwidth"));
  EXPECT_THAT(text, Not(HasSubstr("kernel"))) << "one kernel needs no name";
}

TEST(Comparison, TwoKernelsStandBelowEachOtherForEachGpu) {
  const std::string text =
      comparison_table({run_on("K80", 50e9, "yours"), run_on("K80", 25e9, "with")}, Style{});
  EXPECT_THAT(text, HasSubstr("yours"));
  EXPECT_THAT(text, HasSubstr("with"));
  EXPECT_EQ(text.find("K80"), text.rfind("K80")) << "the GPU is named once:\n" << text;
}

TEST(Comparison, AKernelThatWasNotTimedHasItsVerdictInThePlaceOfASpeed) {
  ComparedRun run{"K80", "Kepler", "", {}};
  run.stage.verdict = course::Verdict::kWrong;
  EXPECT_THAT(comparison_table({run}, Style{}), HasSubstr("wrong"));
  EXPECT_THAT(comparison_picture({run}, "a stage"), HasSubstr("wrong"));
}

TEST(Comparison, ABarIsAsLongAsItsShareOfTheCeiling) {
  const std::string svg =
      comparison_picture({run_on("K80", 50e9), run_on("H200", 100e9)}, "a <stage>");
  const auto all = widths_of(svg, "hatch"), filled = widths_of(svg, "cell");
  ASSERT_EQ(all.size(), 2u);
  ASSERT_EQ(filled.size(), 2u);
  EXPECT_DOUBLE_EQ(filled[0], all[0] / 2);
  EXPECT_DOUBLE_EQ(filled[1], all[1]);
  EXPECT_THAT(svg, HasSubstr("a &lt;stage&gt;"));
}

}  // namespace
}  // namespace membound::report
