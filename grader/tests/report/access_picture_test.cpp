// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/access_picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace membound::report {
namespace {

using course::MemoryAccess;
using testing::HasSubstr;
using testing::Not;

/// Every lane one row further: 32 sectors for 128 bytes.
MemoryAccess column() {
  MemoryAccess access;
  access.file = "kernel.cu";
  access.line = 40;
  access.instruction = "st.global.f32";
  access.kind = "store";
  access.mask = 0xFFFFFFFFu;
  access.bytes = 4;
  for (std::size_t lane = 0; lane < 32; ++lane) access.offsets[lane] = 8192 * lane;
  access.units = 32;
  access.ideal = 4;
  return access;
}

/// A column of a tile 32 words wide: every lane the same bank.
MemoryAccess conflict() {
  MemoryAccess access = column();
  access.space = "shared";
  access.kind = "load";
  access.instruction = "ld.shared.f32";
  for (std::size_t lane = 0; lane < 32; ++lane) {
    access.offsets[lane] = 128 * lane;
    access.wavefronts[lane] = {static_cast<int>(lane) + 1};
  }
  access.ideal = 1;
  return access;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string golden(const std::string& name) {
  std::ifstream file(std::string(MEMBOUND_TEST_GOLDEN) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// With MEMBOUND_WRITE_GOLDEN set, the picture becomes the golden one: then look at it.
void expect_golden(const std::string& name, const std::string& picture) {
  if (std::getenv("MEMBOUND_WRITE_GOLDEN") != nullptr)
    std::ofstream(std::string(MEMBOUND_TEST_GOLDEN) + "/" + name) << picture;
  EXPECT_EQ(picture, golden(name));
}

TEST(AccessPicture, SectorsOfAColumnAreAsDrawnBefore) {
  expect_golden("column.svg", draw_access(column(), "A column", "block (0, 0, 0), warp 0"));
}

TEST(AccessPicture, BanksOfAConflictAreAsDrawnBefore) {
  expect_golden("conflict.svg", draw_access(conflict(), "A conflict", "block (0, 0, 0), warp 0"));
}

TEST(AccessPicture, DrawsOneFrameForEachSectorThatWasCounted) {
  EXPECT_EQ(count(draw_access(column(), "", ""), "class=\"mb-sector\""), 32u);
}

TEST(AccessPicture, DrawsOneCellForEachWordAndItsWavefrontAsText) {
  const std::string picture = draw_access(conflict(), "", "");
  EXPECT_EQ(count(picture, "class=\"mb-word\""), 32u);
  EXPECT_THAT(picture, HasSubstr(">32</text>"));
}

TEST(AccessPicture, SaysTheCountedNumbersInWords) {
  EXPECT_EQ(cost_in_words(column()), "32 sectors per request, ideal 4");
  EXPECT_EQ(cost_in_words(conflict()), "32 wavefronts per request, ideal 1");
  EXPECT_THAT(draw_access(column(), "", ""), HasSubstr("128 of 1,024 bytes used (12.5 %)"));
}

TEST(AccessPicture, CountsBytesThatSeveralLanesWantOnce) {
  MemoryAccess access = column();
  access.offsets.fill(64);
  const auto sectors = sectors_of(access);
  ASSERT_EQ(sectors.size(), 1u);
  EXPECT_EQ(sectors[0].bytes_used, 4);
  EXPECT_EQ(sectors[0].lanes.size(), 32u);
}

TEST(AccessPicture, MarksLanesThatDoNotTakePart) {
  MemoryAccess access = column();
  EXPECT_EQ(count(draw_access(access, "", ""), "class=\"mb-hatch\""), 0u);
  access.mask = 0xFFFFu;
  access.units = 16;
  EXPECT_EQ(count(draw_access(access, "", ""), "class=\"mb-hatch\""), 16u);
}

TEST(AccessPicture, EscapesTitles) {
  const std::string picture = draw_access(column(), "f<double> & \"g\"", "");
  EXPECT_THAT(picture, HasSubstr("f&lt;double&gt; &amp; &quot;g&quot;"));
  EXPECT_THAT(picture, Not(HasSubstr("f<double>")));
}

TEST(AccessPicture, HasColoursForLightAndDarkPages) {
  EXPECT_THAT(draw_access(column(), "", ""), HasSubstr("prefers-color-scheme:dark"));
}

}  // namespace
}  // namespace membound::report
