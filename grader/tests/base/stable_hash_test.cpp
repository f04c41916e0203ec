// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/digest.hpp"

#include <gtest/gtest.h>

namespace membound::base {
namespace {

// The data of every lab's tests follows from it: another value would be other data.
TEST(StableHash, IsFnv1aOf64Bits) {
  EXPECT_EQ(stable_hash(""), 0xCBF29CE484222325U);
  EXPECT_EQ(stable_hash("a"), 0xAF63DC4C8601EC8CU);
  EXPECT_EQ(stable_hash("foobar"), 0x85944171F73967E8U);
}

}  // namespace
}  // namespace membound::base
