// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/profile_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/report/result_page.hpp"

namespace membound::report {
namespace {

using testing::HasSubstr;
using testing::Not;

const SourceText kSource = {"__global__ void copy(float* out) {", "  if (i < n)",
                            "    out[32 * i] = in[i];", "}"};

course::StageResult stage() {
  course::StageResult stage;
  stage.stage = 2;
  stage.title = "Strided";
  stage.verdict = course::Verdict::kPassed;
  stage.source_lines = {{"kernel.cu", 3, "float", "load", "sectors", 1024, 4, 4},
                        {"kernel.cu", 3, "float", "store", "sectors", 1024, 32, 4},
                        {"kernel.cu", 3, "double", "load", "sectors", 512, 8, 8}};
  course::KernelProfile kernel;
  kernel.name = "void copy<float>(float*, float const*)";
  kernel.grid = {8, 2, 1};
  kernel.block = {256, 1, 1};
  kernel.registers = 16;
  kernel.occupancy = 0.5;
  kernel.blocks_per_sm = 4;
  kernel.limiter = "shared memory";
  kernel.predicted_ns = 2000;
  kernel.bound = "DRAM bandwidth";
  kernel.bounds = {{"DRAM bandwidth", 1800}, {"issue slots", 450}};
  kernel.warp_instructions = 9000;
  kernel.lanes_per_instruction = 31;
  kernel.dram_bytes = 9'000'000;
  kernel.lines = {{"kernel.cu", 2, 1024, 1024, 256}, {"kernel.cu", 3, 4096, 0, 0}};
  stage.profiles = {kernel};
  return stage;
}

TEST(Profile, HasARowForEachAccessOfTheKernelsOwnInstance) {
  const auto all = stage();
  const auto rows = profile_rows(all, all.profiles[0]);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].access, "branch");
  EXPECT_EQ(rows[0].per_request, "25 % diverge");
  EXPECT_EQ(rows[1].access, "load");
  EXPECT_FALSE(rows[1].wasteful);
  EXPECT_EQ(rows[2].per_request, "32 sectors");
  EXPECT_TRUE(rows[2].wasteful);
}

TEST(Profile, CountsOneInTheSingular) {
  auto all = stage();
  all.source_lines[0].per_request = 1;
  all.source_lines[1].unit = "wavefronts (as PTX has them)";
  all.source_lines[1].per_request = 1;
  const auto rows = profile_rows(all, all.profiles[0]);
  EXPECT_EQ(rows[1].per_request, "1 sector");
  EXPECT_EQ(rows[2].per_request, "1 wavefront of PTX");
}

TEST(Profile, MarksNoAccessOfAStageThatEarnsAllPoints) {
  auto all = stage();
  all.verdict = course::Verdict::kPassed;
  all.points = all.max_points = 20;
  EXPECT_FALSE(profile_rows(all, all.profiles[0])[2].wasteful);
  all.points = 19;
  EXPECT_TRUE(profile_rows(all, all.profiles[0])[2].wasteful);
}

TEST(Profile, SaysWhatBoundsAndWhatLimitsTheKernel) {
  const std::string text = render_profile(stage(), kSource, Style{});
  EXPECT_THAT(text, HasSubstr("8 x 2 blocks of 256 threads; 16 registers"));
  EXPECT_THAT(text, HasSubstr("limited by shared memory"));
  EXPECT_THAT(text, HasSubstr("2.00 us predicted; what bounds it: DRAM bandwidth"));
  EXPECT_THAT(text, HasSubstr("3     out[32 * i] = in[i];"));
  EXPECT_THAT(text, HasSubstr("<- above the ideal"));
}

TEST(Profile, SaysWhichFaultCostsMostBesideTheLongestBound) {
  course::StageResult all = stage();
  course::KernelProfile& kernel = all.profiles[0];
  EXPECT_THAT(render_profile(all, kSource, Style{}),
              HasSubstr("They overlap only in part: together they take 2.00 us."));
  kernel.bound = "latency";
  kernel.advice = {{"bank-conflicts", "bank conflicts", 4}};
  const std::string text = render_profile(all, kSource, Style{});
  EXPECT_THAT(text, HasSubstr("what bounds it: latency; without bank conflicts"));
  EXPECT_EQ(bound_words(kernel), "latency; without bank conflicts it would take 500 ns");
  kernel.bounds[0].ns = kernel.predicted_ns;
  EXPECT_EQ(overlap_words(kernel), "") << "nothing to explain";
}

TEST(Profile, SaysWhoCounted) {
  course::StageResult all = stage();
  course::SpeedAdvice advice{"bank-conflicts", "bank conflicts",    4,
                             "32 wavefronts",  "shared_wavefronts", 1024};
  all.profiles[0].advice = {advice};
  EXPECT_THAT(render_profile(all, kSource, Style{}), HasSubstr("(shared_wavefronts 1,024)"));
  all.profiles[0].advice[0].counted_by = "ncu";
  all.notes = {"Counted by ncu on NVIDIA H200"};
  const std::string text = render_profile(all, kSource, Style{});
  EXPECT_THAT(text, HasSubstr("(shared_wavefronts 1,024, by ncu)"));
  EXPECT_THAT(text, HasSubstr("Counted by ncu on NVIDIA H200"));
}

TEST(Profile, KeepsToTheWidthOfTheTerminal) {
  const std::string text = render_profile(stage(), kSource, Style{});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Profile, SaysThatNothingWasCountedWhereNothingWas) {
  course::StageResult wrong = stage();
  wrong.profiles.clear();
  EXPECT_THAT(render_profile(wrong, kSource, Style{}), HasSubstr("nothing was counted"));
}

TEST(Roofline, LiesBelowBothRoofs) {
  const auto roofline = roofline_of(stage().profiles[0]);
  ASSERT_TRUE(roofline);
  EXPECT_DOUBLE_EQ(roofline->instructions_per_byte, 0.001);
  EXPECT_DOUBLE_EQ(roofline->dram_gbs, 5000);
  EXPECT_DOUBLE_EQ(roofline->issue_roof, 20);
  EXPECT_LE(roofline->reached, roofline->roof_at(roofline->instructions_per_byte));
}

TEST(Roofline, IsLeftOutWithoutTraffic) {
  course::KernelProfile kernel = stage().profiles[0];
  kernel.dram_bytes = 0;
  EXPECT_FALSE(roofline_of(kernel));
}

const course::RooflineDot kNaive{"vgpu:h200", 0.4, 4.5e12, 56e12, 4.6e12},
    kTiles{"vgpu:h200", 8, 7.2e12, 56e12, 4.6e12}, kBlocks{"vgpu:h200", 32, 29e12, 56e12, 4.6e12};

TEST(WayOnTheRoofline, IsToldFromTheSecondCheckOn) {
  EXPECT_EQ(way_on_roofline({}), "");
  EXPECT_EQ(way_on_roofline({kNaive}), "");
  EXPECT_EQ(way_on_roofline({kNaive, kTiles, kBlocks}),
            "0.4 operations a byte, 4.50 Tops/s; then 8 at 7.20 Tops/s, 32 at 29.0 Tops/s");
}

TEST(WayOnTheRoofline, IsDrawnWithADotForEachCheckOfAllStages) {
  EXPECT_EQ(draw_ways({{3, {kNaive}}}), "");
  const std::string picture = draw_ways({{3, {kNaive}}, {4, {kNaive, kTiles}}, {5, {kBlocks}}});
  const auto count = [&](const std::string& what) {
    std::size_t found = 0;
    for (auto at = picture.find(what); at != std::string::npos; at = picture.find(what, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("<circle"), 4U);
  EXPECT_EQ(count("class=\"mb-mark\""), 3U);   // the last check of each stage
  EXPECT_EQ(count("class=\"mb-trail\""), 1U);  // stage 4 has a way
  EXPECT_THAT(picture, HasSubstr("arithmetic: 56,000e9 a second"));
}

course::Result result() {
  course::Result result;
  result.title = "Copy & paste";
  result.device = {.name = "NVIDIA H200", .virtual_name = "vgpu:h200"};
  result.stages = {stage()};
  return result;
}

TEST(Html, ShowsTheSourceWithWhatEachLineCosts) {
  const std::string page = render_html(result(), kSource);
  EXPECT_THAT(page, HasSubstr("<code>  if (i &lt; n)</code>"));
  EXPECT_THAT(page, HasSubstr("32 sectors !"));
  EXPECT_THAT(page, HasSubstr("Copy &amp; paste"));
}

TEST(Html, NeedsNothingFromElsewhere) {
  const std::string page = render_html(result(), kSource);
  EXPECT_THAT(page, Not(HasSubstr("<script src")));
  EXPECT_THAT(page, Not(HasSubstr(" src=")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
}

TEST(Html, HoldsPictureAndWaysWhereThereAreSome) {
  EXPECT_THAT(render_html(result(), kSource), Not(HasSubstr("<img")));
  EXPECT_THAT(render_html(result(), kSource), Not(HasSubstr("From check to check")));
  const std::string page = render_html(
      result(), kSource, {.pictures = {{2, "\x89PNG"}}, .dots = {{2, {kNaive, kTiles}}}});
  EXPECT_THAT(page, HasSubstr("src=\"data:image/png;base64,iVBORw==\""));
  EXPECT_THAT(page, HasSubstr("<h2>From check to check</h2>"));
}

TEST(Html, TellsTheCauseBeforeTheTestsThatFailOfItAndFoldsAllButTheFirst) {
  course::Result failed = result();
  course::StageResult& stage = failed.stages[0];
  stage.tests = {{.name = "Easy", .message = "one"}, {.name = "Hard", .message = "two"}};
  stage.findings = {{"failed-test", "one", "", "Easy", "", 0},
                    {"racecheck", "a data race", "", "", "kernel.cu", 3, "put a barrier between"}};
  const std::string page = render_html(failed, kSource);
  EXPECT_LT(page.find("a data race"), page.find("Failed: <b>Easy</b>"));
  EXPECT_LT(page.find("Failed: <b>Easy</b>"), page.find("<summary>1 more that failed</summary>"));
  EXPECT_LT(page.find("1 more that failed"), page.find("<b>Hard</b>"));
  EXPECT_EQ(page.find("a data race"), page.rfind("a data race")) << "told once";
}

TEST(Html, EscapesWhatAStudentWrote) {
  course::Result bad = result();
  bad.compiler_output = "<script>alert(1)</script>";
  bad.stages[0].tests = {{.name = "T", .passed = false, .message = "<img onerror=x>"}};
  const std::string page = render_html(bad, {"<script>", "</code>", "<b>"});
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
}

}  // namespace
}  // namespace membound::report
