// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/strings.hpp"

#include <gtest/gtest.h>

namespace membound::base {
namespace {

TEST(Nearest, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("tile", "tile"), 0);
  EXPECT_EQ(edit_distance("", "tile"), 4);
  EXPECT_EQ(edit_distance("tile", "tiles"), 1);
  EXPECT_EQ(edit_distance("tile", "tale"), 1);
  EXPECT_EQ(edit_distance("itle", "tile"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Nearest, FindsTheNameThatWasMeant) {
  const std::vector<std::string> names = {"reverse-array", "transpose", "reduction"};
  EXPECT_EQ(nearest("transpsoe", names), "transpose");
  EXPECT_EQ(nearest("reducton", names), "reduction");
}

TEST(Nearest, DoesNotGuessWhenNothingIsNear) {
  EXPECT_EQ(nearest("histogram", {"transpose", "reduction"}), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
}

}  // namespace
}  // namespace membound::base
