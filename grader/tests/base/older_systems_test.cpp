// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/older_systems.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <thread>

namespace std {
// NOLINTNEXTLINE: a function of the standard library
extern void __glibcxx_assert_fail(const char*, int, const char*, const char*) noexcept;
}  // namespace std

namespace membound::base {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();

TEST(Hypotenuse, IsExactForWholeTriangles) {
  EXPECT_EQ(hypotenuse(3.0F, -4.0F), 5.0F);
  EXPECT_EQ(hypotenuse(5.0, 12.0), 13.0);
  EXPECT_EQ(hypotenuse(0.0F, -0.0F), 0.0F);
}

TEST(Hypotenuse, HasTheWholeRangeOfFloats) {
  EXPECT_EQ(hypotenuse(0.75F * kLargest, 0.0F), 0.75F * kLargest);
  EXPECT_EQ(hypotenuse(0.5F * kLargest, 0.5F * kLargest), std::sqrt(0.5F) * kLargest);
  EXPECT_EQ(hypotenuse(kLargest, kLargest), kInfinity);
  EXPECT_EQ(hypotenuse(3 * kSmallest, 4 * kSmallest), 5 * kSmallest);
}

TEST(Hypotenuse, IsInfiniteBesideWhatIsNoNumberAsInC) {
  EXPECT_EQ(hypotenuse(kNan, -kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(hypotenuse(kNan, 1.0F)));
}

// At most 1: later versions of glibc round the square root of the exact sum, and a double has
// rounded it once before.
TEST(Hypotenuse, IsThatOfTheCLibraryForDrawnBits) {
  constexpr unsigned kSeed = 20261129;
  constexpr int kDraws = 1 << 20;
  std::mt19937_64 draw(kSeed);
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t bits = draw();
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const float y = std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32));
    const float ours = hypotenuse(x, y), theirs = std::hypot(x, y);
    if (std::isnan(theirs)) {
      ASSERT_TRUE(std::isnan(ours)) << x << ' ' << y;
      continue;
    }
    const std::int64_t apart = std::int64_t{std::bit_cast<std::int32_t>(ours)} -
                               std::int64_t{std::bit_cast<std::int32_t>(theirs)};
    ASSERT_LE(std::abs(apart), 1) << x << ' ' << y << " (seed " << kSeed << ")";
  }
}

TEST(Wait, EndsWhenWhatItWaitsForIsTrue) {
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0;
  std::thread other([&] {
    std::unique_lock lock(mutex);
    wait(changed, lock, [&] { return turn == 1; });
    turn = 2;
    changed.notify_one();
  });
  {
    std::unique_lock lock(mutex);
    turn = 1;
    changed.notify_one();
    wait(changed, lock, [&] { return turn == 2; });
    EXPECT_TRUE(lock.owns_lock());
  }
  other.join();
}

TEST(FailedAssertion, IsOursAndSaysWhere) {
  EXPECT_DEATH(std::__glibcxx_assert_fail("vector.hpp", 12, "at()", "n < size()"),
               "vector.hpp:12: at\\(\\): the standard library's assertion 'n < size\\(\\)' failed");
}

}  // namespace
}  // namespace membound::base
