// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/data.hpp"

#include <gtest/gtest.h>

#include "grader/base/values.cuh"

namespace membound::harness {
namespace {

constexpr SeedKey kKey = {0x0706050403020100, 0x0F0E0D0C0B0A0908};

// Of the reference implementation's list: key and message are the bytes 0, 1, 2, …, 15.
TEST(Seeds, KeyedBitsAreSipHash) {
  EXPECT_EQ(keyed_bits(kKey, 0x0706050403020100, 0x0F0E0D0C0B0A0908), 0x3F2ACC7F57C29BDBU);
}

TEST(Seeds, WithoutAKeyTheyAreTheOnesEverybodyCanRepeat) {
  EXPECT_EQ(Seeds().derive(1, 2), base::random_bits(1, 2));
}

TEST(Seeds, WithAKeyTheyDependOnIt) {
  EXPECT_EQ(Seeds(kKey).derive(1, 2), keyed_bits(kKey, 1, 2));
  EXPECT_NE(Seeds(kKey).derive(1, 2), Seeds(SeedKey{0, 0}).derive(1, 2));
}

TEST(Seeds, AKeyHas32HexadecimalDigits) {
  const auto key = parse_seed_key("07060504030201000f0e0d0c0b0a0908");
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(*key, kKey);
  for (const char* wrong :
       {"", "07", "0706050403020100 f0e0d0c0b0a0908", "07060504030201000f0e0d0c0b0a09088",
        "-7060504030201000f0e0d0c0b0a0908", "zz060504030201000f0e0d0c0b0a0908"})
    EXPECT_FALSE(parse_seed_key(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace membound::harness
