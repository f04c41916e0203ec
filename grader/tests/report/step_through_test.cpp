// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/access_picture.hpp"

#include <gmock/gmock.h>

#include "grader/report/handout.hpp"

namespace membound::report {
namespace {

using course::MemoryAccess;
using testing::HasSubstr;
using testing::Not;

std::size_t times(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

/// 32 lanes, 4 bytes each, `stride` words apart; of shared memory all in bank 0 where it is 32.
MemoryAccess access_of(const std::string& space, int line, std::uint64_t stride, int units) {
  MemoryAccess access;
  access.line = line;
  access.space = space;
  access.mask = 0xFFFFFFFF;
  access.bytes = 4;
  access.units = units;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    access.offsets[lane] = 4 * stride * lane;
    if (space == "shared") access.wavefronts[lane] = {units == 1 ? 1 : static_cast<int>(lane) + 1};
  }
  return access;
}

std::string tile_steps() {
  return draw_steps(
      {access_of("global", 5, 1, 4), access_of("shared", 6, 1, 1), access_of("shared", 8, 32, 32)},
      "a tile", "block (0, 0, 0), warp 0");
}

TEST(Steps, HasAStepForEachAccessAndATurnForEachWavefront) {
  const std::string svg = tile_steps();
  EXPECT_EQ(times(svg, "class=\"mb-step\""), 3u);
  EXPECT_EQ(times(svg, "class=\"mb-turn\""), 1u + 1 + 32);
  EXPECT_EQ(times(svg, "class=\"mb-way\""), 1u + 1 + 32);
  EXPECT_EQ(times(svg.substr(svg.find("<path")), "L"), 3u * 32) << "a line for each word";
  EXPECT_THAT(svg, HasSubstr("Step 3 of 3: line 8, shared load, 32 wavefronts per request"));
  EXPECT_THAT(svg, HasSubstr("to the end of this step: 4 sectors, 33 wavefronts"));
}

TEST(Steps, ShowsTheDearestStepWhereNothingPlaysIt) {
  const std::string svg = tile_steps();
  EXPECT_EQ(times(svg, "class=\"mb-step\" display=\"none\""), 2u);
  EXPECT_GT(svg.find("class=\"mb-step\">"), svg.find("line 6, shared load, 1 wavefront"));
}

TEST(Steps, AHandoutHoldsThePictureItselfAndTheScriptOnce) {
  HandoutView view{.lab = "03-transpose"};
  view.addresses.figure = [](std::string_view) { return figure_source(tile_steps(), "steps.svg"); };
  const auto body = handout_body("# A\n\n![One](a.svg)\n\n![Two](a.svg)\n", "a.md", view);
  ASSERT_TRUE(body);
  EXPECT_EQ(times(body->html, "<figure tabindex=\"0\"><svg "), 2u);
  EXPECT_EQ(times(body->html, "<script>"), 1u);
  EXPECT_THAT(body->html, Not(HasSubstr("<?xml")));
  view.addresses.figure = nullptr;
  const auto plain = handout_body("# A\n\n![One](a.svg)\n", "a.md", view);
  ASSERT_TRUE(plain);
  EXPECT_THAT(plain->html, Not(HasSubstr("<script>")));
}

TEST(Moving, ShowsEverythingWhereNothingMoves) {
  const std::string svg = draw_moving(
      {access_of("global", 5, 1, 4), access_of("shared", 6, 1, 1), access_of("global", 8, 32, 32)},
      "a warp", "block (0, 0, 0), warp 0");
  // Every lane of the two accesses to global memory, and both sums, without a hidden part.
  EXPECT_EQ(times(svg, "class=\"mb-go "), 2u * (32 + 1));
  EXPECT_EQ(times(svg, "class=\"mb-lane\""), 64u);
  EXPECT_THAT(svg, Not(HasSubstr("display=\"none\"")));
  EXPECT_THAT(svg, HasSubstr("4 sectors: 128 bytes move, 128 are used"));
  EXPECT_THAT(svg, HasSubstr("32 sectors: 1,024 bytes move, 128 are used"));
  // What moves does so on a screen, and for nobody who wants less motion.
  EXPECT_LT(svg.find("@media screen and (prefers-reduced-motion:no-preference)"),
            svg.find("animation:mb-go"));
}

TEST(Schedulings, ShowsWhichHalfGoesOnInEachRow) {
  MemoryAccess lower = access_of("shared", 5, 1, 1), upper = access_of("shared", 9, 1, 1);
  lower.mask = 0x0000FFFF;
  upper.mask = 0xFFFF0000;
  const std::string svg =
      draw_schedulings({{upper, upper, upper}, true}, {{upper, upper, lower, upper}, false},
                       {{5, "turn = 1;"}, {9, "while (turn == 0) {"}}, 8, "halves", "warp 0");
  // Lockstep: the upper half alone, and that it never ends; independent: upper, lower, upper.
  EXPECT_EQ(times(svg, "class=\"mb-half1\""), 1u + 2);
  EXPECT_EQ(times(svg, "class=\"mb-half0\""), 1u);
  EXPECT_EQ(times(svg, "class=\"mb-never\""), 1u);
  EXPECT_EQ(times(svg, "repeated</text>"), 2u);
  EXPECT_THAT(svg, HasSubstr("line 9   while (turn == 0) {"));
  EXPECT_LT(svg.find("@media screen and (prefers-reduced-motion:no-preference)"),
            svg.find("animation:mb-row0"));
}

}  // namespace
}  // namespace membound::report
