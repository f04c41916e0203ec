// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

namespace membound::harness {
namespace {

TEST(Data, TheSameSeedGivesTheSameNumbers) {
  EXPECT_EQ(generate<float>(100, Fill::kUniform, 7), generate<float>(100, Fill::kUniform, 7));
  EXPECT_NE(generate<float>(100, Fill::kUniform, 7), generate<float>(100, Fill::kUniform, 8));
}

TEST(Data, NumbersDoNotDependOnTheMachine) {
  // SplitMix64 with seed 0: the first outputs of the published algorithm.
  EXPECT_EQ(random_bits(0, 0), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(random_bits(0, 1), 0x6E789E6AA1B965F4ULL);
}

TEST(Data, UniformFloatsFillMinusOneToOne) {
  const auto values = generate<float>(10'000, Fill::kUniform, 1);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*least, -1.0F);
  EXPECT_LT(*least, -0.99F);
  EXPECT_LT(*most, 1.0F);
  EXPECT_GT(*most, 0.99F);
}

TEST(Data, ARampCountsAndStaysExactInFloat) {
  const auto values = generate<float>((1 << 24) + 2, Fill::kRamp, 1);
  EXPECT_EQ(values[5], 5.0F);
  EXPECT_EQ(values[(1 << 24) - 1], 16777215.0F);
  EXPECT_EQ(values[1 << 24], 0.0F);
}

TEST(Data, AConstantIsOneValueOtherThanZero) {
  const auto values = generate<int>(50, Fill::kConstant, 3);
  EXPECT_NE(values[0], 0);
  EXPECT_EQ(std::set<int>(values.begin(), values.end()).size(), 1U);
}

TEST(Data, AdversarialFloatsAreFiniteAndHoldTheHardCases) {
  const auto values = generate<double>(2000, Fill::kAdversarial, 1);
  EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }));
  const auto holds = [&](auto test) { return std::any_of(values.begin(), values.end(), test); };
  EXPECT_TRUE(holds([](double v) { return v == 0 && std::signbit(v); }));
  EXPECT_TRUE(holds([](double v) { return v == std::numeric_limits<double>::denorm_min(); }));
  EXPECT_TRUE(holds([](double v) { return v == std::numeric_limits<double>::max(); }));
}

TEST(Data, AdversarialIntsHoldBothEndsOfTheirRange) {
  const auto values = generate<int>(2000, Fill::kAdversarial, 1);
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), std::numeric_limits<int>::min());
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), std::numeric_limits<int>::max());
}

TEST(Data, WholeNumbersReachBothEndsAndNothingElse) {
  const auto values = generate_integers<float>(1000, -3, 3, 1);
  EXPECT_EQ(std::set<float>(values.begin(), values.end()),
            (std::set<float>{-3, -2, -1, 0, 1, 2, 3}));
}

TEST(Data, SprinklingHitsAboutTheShareAskedFor) {
  std::vector<float> values(10'000, 0.0F);
  sprinkle(values, 0.25, 1.0F, 5);
  EXPECT_NEAR(static_cast<double>(std::count(values.begin(), values.end(), 1.0F)), 2500, 200);
}

TEST(Draw, GivesWhatGenerateGives) {
  const Draw how{9, 0, 0, 0, static_cast<int>(Fill::kUniform), 0};
  EXPECT_EQ(draw<float>(100, how), generate<float>(100, Fill::kUniform, 9));
}

/// Undoes z ^= z >> by.
std::uint64_t unshifted(std::uint64_t z, int by) {
  std::uint64_t known = z;
  for (int done = by; done < 64; done += by) known = z ^ known >> by;
  return known;
}

/// The seed that random_bits(seed, 0) is of.
std::uint64_t seed_of(std::uint64_t bits) {
  std::uint64_t z = unshifted(bits, 31) * 0x319642B2D24D8EC3ULL;
  z = unshifted(z, 27) * 0x96DE1B173F119089ULL;
  return unshifted(z, 30) - 0x9E3779B97F4A7C15ULL;
}

/// The seed that explains the first numbers, found as a kernel could: 53 of 64 bits are seen.
std::optional<std::uint64_t> guessed_seed(const std::vector<double>& seen) {
  const auto known = static_cast<std::uint64_t>((seen[0] + 1) / 2 * 0x1p53) << 11;
  for (std::uint64_t low = 0; low < 1 << 11; ++low) {
    const std::uint64_t seed = seed_of(known | low);
    if (generate<double>(seen.size(), Fill::kUniform, seed) == seen) return seed;
  }
  return std::nullopt;
}

TEST(Draw, ShowsNoSeedInTheNumbersThatItGives) {
  const Draw how{9, 0, 0, 0, static_cast<int>(Fill::kUniform), 0};
  EXPECT_EQ(guessed_seed(generate<double>(4, Fill::kUniform, 9)), 9U) << "the guess works";
  EXPECT_EQ(guessed_seed(draw<double>(4, how)), std::nullopt);
  EXPECT_NE(draw<double>(4, how), draw<double>(4, {10, 0, 0, 0, how.fill, 0}));
}

TEST(Draw, TakesWholeNumbersFromTheRange) {
  const Draw how{9, -2, 5, 0, static_cast<int>(Fill::kUniform), 1};
  EXPECT_EQ(draw<float>(100, how), generate_integers<float>(100, -2, 5, 9));
}

TEST(Draw, PutsAboutTheShareOfInfinitiesIn) {
  const Draw how{9, 1, 5, 0.25, static_cast<int>(Fill::kUniform), 1};
  const auto values = draw<float>(10'000, how);
  EXPECT_NEAR(static_cast<double>(
                  std::count(values.begin(), values.end(), std::numeric_limits<float>::infinity())),
              2500, 200);
}

TEST(Fingerprint, TellsAnyOneChangedWordApart) {
  std::vector<std::uint32_t> words(1001, 7);
  const std::uint64_t before = fingerprint_of(words, 42);
  for (const std::size_t place : {0, 500, 501, 1000}) {
    for (const std::uint32_t change : {1U, 0x80000000U}) {
      words[place] ^= change;
      EXPECT_NE(fingerprint_of(words, 42), before);
      words[place] ^= change;
    }
  }
}

TEST(Fingerprint, TellsTwoWordsThatChangedPlacesApart) {
  EXPECT_NE(fingerprint_of(std::vector<std::uint32_t>{1, 2}, 42),
            fingerprint_of(std::vector<std::uint32_t>{2, 1}, 42));
}

TEST(Fingerprint, DependsOnTheKey) {
  const std::vector<std::uint32_t> words = {1, 2, 3};
  EXPECT_NE(fingerprint_of(words, 1), fingerprint_of(words, 2));
}

}  // namespace
}  // namespace membound::harness
