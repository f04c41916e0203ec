// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/wrong_answer.hpp"

#include <gtest/gtest.h>

namespace membound::authoring {
namespace {

TEST(TurnedAnswer, EachNameIsAnsweredByTheFunctionThatIsSoManyPlacesBeforeIt) {
  EXPECT_EQ(with_names_turned("a(); b(); c();", {"a", "b", "c"}, 2), "c(); a(); b();");
}

TEST(TurnedAnswer, ANameWithinALongerWordStays) {
  EXPECT_EQ(with_names_turned("fast_kernel, FAST(fast), my_fast", {"fast", "slow"}, 1),
            "fast_kernel, FAST(slow), my_fast");
}

TEST(TurnedAnswer, AWordAtTheEndIsAWord) {
  EXPECT_EQ(with_names_turned("b;\na", {"a", "b"}, 1), "a;\nb");
}

}  // namespace
}  // namespace membound::authoring
