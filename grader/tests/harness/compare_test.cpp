// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/compare.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>

#include "grader/harness/cases/data.hpp"

namespace membound::harness {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename T>
T poison() {
  T value;
  const std::uint32_t words[2] = {kPoisonWord, kPoisonWord};
  std::memcpy(&value, words, sizeof(T));
  return value;
}

Shape list_of(std::int64_t count) { return {{count}, {"element"}}; }

template <typename T>
std::string message(const std::vector<T>& got, const std::vector<T>& expected, const Shape& shape,
                    Tolerance tolerance = {}) {
  const testing::AssertionResult result = arrays_equal(got, expected, shape, tolerance);
  EXPECT_FALSE(result);
  return result.message();
}

TEST(ArraysEqual, EqualArraysPass) {
  EXPECT_TRUE(arrays_equal<float>({1, 2, 3}, {1, 2, 3}, list_of(3)));
}

TEST(ArraysEqual, NegativeZeroEqualsZero) {
  EXPECT_TRUE(arrays_equal<float>({-0.0F}, {0.0F}, list_of(1)));
}

TEST(ArraysEqual, TellsTheFirstWrongElementInTheLabsCoordinates) {
  const std::string text =
      message<int>({0, 1, 2, 3, 99, 5}, {0, 1, 2, 3, 4, 5}, {{2, 3}, {"row", "column"}});
  EXPECT_THAT(text, HasSubstr("first wrong: row 1, column 1"));
  EXPECT_THAT(text, HasSubstr("got      99"));
  EXPECT_THAT(text, HasSubstr("expected 4"));
  EXPECT_THAT(text, HasSubstr("1 of 6 elements are wrong"));
}

TEST(ArraysEqual, TellsWhereAMisplacedValueBelongs) {
  EXPECT_THAT(message<int>({20, 20, 30}, {10, 20, 30}, list_of(3)),
              HasSubstr("that value belongs to element 1"));
}

TEST(ArraysEqual, DoesNotGuessAHomeThatIsNotUnique) {
  EXPECT_THAT(message<int>({20, 20, 20}, {10, 20, 20}, list_of(3)), Not(HasSubstr("belongs")));
}

TEST(ArraysEqual, PoisonIsToldAsNeverWritten) {
  const float p = poison<float>();
  const std::string text = message<float>({1, p, p, 7}, {1, 2, 3, 4}, list_of(4));
  EXPECT_THAT(text, HasSubstr("nothing (never written)"));
  EXPECT_THAT(text, HasSubstr("3 of 4 elements are wrong, 2 of them never written"));
  EXPECT_THAT(text, HasSubstr(".--X"));
}

TEST(ArraysEqual, AnIntThatIsMeantToBeThePoisonPatternPasses) {
  EXPECT_TRUE(arrays_equal<int>({poison<int>()}, {poison<int>()}, list_of(1)));
}

/// What holds for each type of a lab's arrays.
template <typename T>
class ArraysOf : public testing::Test {};

using Elements = testing::Types<float, double, int, unsigned, long long, unsigned long long>;
TYPED_TEST_SUITE(ArraysOf, Elements);

TYPED_TEST(ArraysOf, PoisonIsRecognised) {
  EXPECT_THAT(message<TypeParam>({poison<TypeParam>()}, {1}, list_of(1)),
              HasSubstr("never written"));
}

TYPED_TEST(ArraysOf, AnotherLengthIsAFailureNotACrash) {
  EXPECT_THAT(message<TypeParam>({1, 2}, {1, 2, 3}, list_of(3)),
              HasSubstr("got 2 elements, expected 3"));
}

TYPED_TEST(ArraysOf, NothingEqualsNothing) {
  EXPECT_TRUE(arrays_equal<TypeParam>({}, {}, list_of(0)));
}

TYPED_TEST(ArraysOf, TheFirstWrongElementIsToldWithBothValues) {
  const std::string text = message<TypeParam>({1, 7, 3}, {1, 2, 3}, list_of(3));
  EXPECT_THAT(text, HasSubstr("first wrong: element 1"));
  EXPECT_THAT(text, HasSubstr("got      7"));
  EXPECT_THAT(text, HasSubstr("expected 2"));
}

TEST(ArraysEqual, LargeIntegersAreComparedExactly) {
  constexpr long long kLarge = (1LL << 60) + 1;  // not a double
  EXPECT_FALSE(arrays_equal<long long>({kLarge - 1}, {kLarge}, list_of(1)));
}

TEST(ArraysEqual, FloatsAreShownWithAllTheirDigits) {
  const float next = std::nextafter(1.0F, 2.0F);
  EXPECT_THAT(message<float>({next}, {1}, list_of(1)), HasSubstr("1.00000012"));
}

TEST(ElementEqual, NanPassesOnlyWhereNanIsExpected) {
  const Tolerance generous{1e30, 1e30};
  EXPECT_FALSE(element_equal(kNan, 1.0F, generous));
  EXPECT_FALSE(element_equal(1.0F, kNan, generous));
  EXPECT_TRUE(element_equal(kNan, kNan, {}));
}

TEST(ElementEqual, PoisonIsNoAnswerEvenWhereNanIsExpected) {
  EXPECT_FALSE(element_equal(poison<float>(), kNan, {}));
}

TEST(ElementEqual, InfinityEqualsOnlyItself) {
  const Tolerance generous{1e30, 1e30};
  EXPECT_TRUE(element_equal(kInfinity, kInfinity, {}));
  EXPECT_FALSE(element_equal(-kInfinity, kInfinity, generous));
  EXPECT_FALSE(element_equal(1.0F, kInfinity, generous));
  EXPECT_FALSE(element_equal(kInfinity, 1.0F, generous));
}

TEST(ElementEqual, ToleranceIsAbsolutePlusRelative) {
  const Tolerance tolerance{0.5, 0.1};  // 10.5 allowed around 100
  EXPECT_TRUE(element_equal(110.5F, 100.0F, tolerance));
  EXPECT_FALSE(element_equal(110.6F, 100.0F, tolerance));
  EXPECT_TRUE(element_equal(89.5F, 100.0F, tolerance));
}

}  // namespace
}  // namespace membound::harness
