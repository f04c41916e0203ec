// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/element_sets.hpp"

#include <gtest/gtest.h>

namespace membound::harness {
namespace {

TEST(PlaceSet, HoldsWhatWasAddedAndNothingPastItsEnd) {
  PlaceSet set(130);
  set.add(3, 2);
  set.add(60, 10);
  set.add(125, 100);
  for (const std::size_t in : {3, 4, 60, 63, 64, 69, 125, 129}) EXPECT_TRUE(set.has(in)) << in;
  for (const std::size_t out : {0, 2, 5, 59, 70, 124}) EXPECT_FALSE(set.has(out)) << out;
}

TEST(PlaceSet, SaysHowMuchIsMissingAndWhere) {
  PlaceSet set(1000);
  set.add(0, 300);
  set.add(310, 690);
  const PlaceSet::Difference found = set.difference_from({});
  EXPECT_EQ(found.missing, 10u);
  EXPECT_EQ(found.first_missing, 300u);
  EXPECT_EQ(found.last_missing, 309u);
  EXPECT_EQ(found.beside, 0u);
}

TEST(PlaceSet, KnowsGapsThatMustStayAsTheyAre) {
  const WrittenRows rows{100, 90};
  EXPECT_EQ(rows.count_of(250), 90u + 90 + 50);
  PlaceSet set(250);
  for (const std::size_t row : {0, 100, 200}) set.add(row, 90);
  EXPECT_EQ(text_of(set.difference_from(rows), rows, 250, 5), "");
  set.add(195, 1);
  const PlaceSet::Difference found = set.difference_from(rows);
  EXPECT_EQ(found.missing, 0u);
  EXPECT_EQ(found.beside, 1u);
  EXPECT_EQ(found.first_beside, 195u);
}

TEST(PlaceSet, TellsWhereAGridEnds) {
  PlaceSet set(1'000'000);
  set.add(0, 750'000);
  EXPECT_EQ(text_of(set.difference_from({}), {}, 1'000'000, 3000),
            "of 1,000,000 elements of the output 250,000 are written by no block: the grid ends at "
            "block 3,000; the first is element 750,000");
}

TEST(PlaceSet, TellsOfAHole) {
  PlaceSet set(1000);
  set.add(0, 999);
  set.add(5, 1);
  PlaceSet holed(1000);
  holed.add(0, 5);
  holed.add(6, 994);
  EXPECT_EQ(
      text_of(holed.difference_from({}), {}, 1000, 4),
      "of 1,000 elements of the output 1 is written by no block of 4; the first is element 5");
}

}  // namespace
}  // namespace membound::harness
