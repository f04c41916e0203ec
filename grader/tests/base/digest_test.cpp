// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/digest.hpp"

#include <gtest/gtest.h>

namespace membound::base {
namespace {

TEST(Sha256, GivesThePublishedValues) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PartsGiveTheDigestOfTheWhole) {
  Sha256 digest;
  digest.add("a");
  digest.add("");
  digest.add("bc");
  EXPECT_EQ(digest.finish(), sha256("abc"));
}

// RFC 4231, test case 2.
TEST(Hmac, GivesThePublishedValue) {
  EXPECT_EQ(hmac_sha256("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Hmac, AnotherKeyGivesAnotherCode) {
  EXPECT_NE(hmac_sha256("a", "text"), hmac_sha256("b", "text"));
}

TEST(SameDigest, ComparesAllOfBoth) {
  EXPECT_TRUE(same_digest("abc", "abc"));
  EXPECT_FALSE(same_digest("abc", "abd"));
  EXPECT_FALSE(same_digest("abc", "abcd"));
}

TEST(RandomBytes, AreNeverTheSame) {
  EXPECT_EQ(random_bytes(32).size(), 32u);
  EXPECT_NE(random_bytes(32), random_bytes(32));
}

TEST(Hex, WritesTwoDigitsForEachByte) { EXPECT_EQ(hex(std::string("\x00\xff\x1a", 3)), "00ff1a"); }

}  // namespace
}  // namespace membound::base
