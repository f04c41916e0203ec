// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/replayed_run.hpp"

#include <gmock/gmock.h>

#include <set>

namespace membound::harness {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::uint32_t>;

OtherInputs two_inputs() {
  OtherInputs inputs;
  inputs.add({10, 11, 12, 13}, {20, 21, 22, 23});
  inputs.add({50, 51}, {60, 61});
  return inputs;
}

/// What a copy of these words brings instead; the number of replaced ones is expected.
Words replaced(OtherInputs& inputs, Words words, std::size_t count) {
  EXPECT_EQ(inputs.replace_in(std::as_writable_bytes(std::span(words))), count);
  return words;
}

TEST(OtherInputs, StandForEachWordHoweverItIsCopied) {
  OtherInputs inputs = two_inputs();
  EXPECT_THAT(replaced(inputs, {10, 11}, 2), ElementsAre(20, 21));
  EXPECT_THAT(replaced(inputs, {12, 13}, 2), ElementsAre(22, 23));  // the next piece
  EXPECT_THAT(replaced(inputs, {50, 51}, 2), ElementsAre(60, 61));  // the other input
  EXPECT_THAT(replaced(inputs, {10, 50, 11, 51}, 4), ElementsAre(20, 60, 21, 61));
  EXPECT_THAT(replaced(inputs, {13, 0, 0, 12}, 2), ElementsAre(23, 0, 0, 22));  // with gaps
}

TEST(OtherInputs, MayBeAddedAfterTheFirstCopies) {
  OtherInputs inputs = two_inputs();
  EXPECT_THAT(replaced(inputs, {7, 12, 70}, 1), ElementsAre(7, 22, 70));
  inputs.add({70, 71, 12}, {80, 81, 99});  // copied back meanwhile
  EXPECT_THAT(replaced(inputs, {7, 12, 70}, 2), ElementsAre(7, 22, 80));
}

TEST(OtherInputs, LeaveWordsThatAreInNoInput) {
  OtherInputs inputs = two_inputs();
  EXPECT_THAT(replaced(inputs, {1, 2, 3}, 0), ElementsAre(1, 2, 3));
  EXPECT_THAT(replaced(inputs, {}, 0), ElementsAre());
}

TEST(OtherInputs, OtherIntegersAreOthersOfTheRangeAndTheSameForTheSame) {
  std::set<std::int64_t> seen;
  for (std::int64_t value = -3; value <= 3; ++value) {
    const std::int64_t other = other_integer(value, -3, 3, 7);
    EXPECT_NE(other, value);
    EXPECT_TRUE(-3 <= other && other <= 3) << other;
    EXPECT_EQ(other, other_integer(value, -3, 3, 7));
    seen.insert(other_integer(1, 0, 1000000, static_cast<std::uint64_t>(value)));
  }
  EXPECT_GT(seen.size(), 5U);  // the key decides
}

}  // namespace
}  // namespace membound::harness
