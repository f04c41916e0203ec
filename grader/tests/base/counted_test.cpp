// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/counted.hpp"

#include <gtest/gtest.h>

namespace membound::base {
namespace {

TEST(Counted, OneIsSingularAndAllElsePlural) {
  EXPECT_EQ(counted(1, "wavefront"), "1 wavefront");
  EXPECT_EQ(counted(0, "wavefront"), "0 wavefronts");
  EXPECT_EQ(counted(std::size_t{2}, "more kernel"), "2 more kernels");
  EXPECT_EQ(noun_after(1, "access"), "access");
  EXPECT_EQ(noun_after(0.5, "block"), "blocks");
}

TEST(Counted, NounsThatTakeMoreThanAnS) {
  EXPECT_EQ(counted(3, "launch"), "3 launches");
  EXPECT_EQ(counted(3, "graph"), "3 graphs");
  EXPECT_EQ(counted(3, "access"), "3 accesses");
  EXPECT_EQ(counted(3, "entry"), "3 entries");
}

}  // namespace
}  // namespace membound::base
