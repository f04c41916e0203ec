// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/data_flow.hpp"

#include <gmock/gmock.h>

namespace membound::harness {
namespace {

using runner::Call;
using runner::CallKind;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(HandInAgain, FollowsWordsInWhateverOrderTheyWereCopiedBack) {
  const CopiedBack back{{1, 2, 3, 4}, {11, 12, 13, 14}, {2, 4}};
  const HandedInAgain all = hand_in_again({3, 4, 1, 2}, {13, 14, 11, 12}, back);
  EXPECT_THAT(all.words, ElementsAre(13, 14, 11, 12));
  EXPECT_EQ(all.strangers, 0U);
  EXPECT_THAT(all.copies, ElementsAre(true, true));
  EXPECT_THAT(hand_in_again({2, 1}, {12, 11}, back).copies, ElementsAre(true, false));
}

TEST(HandInAgain, TakesTheOneThatIsMeantOfEqualWords) {
  const CopiedBack back{{7, 7, 7}, {1, 2, 3}, {3}};
  EXPECT_THAT(hand_in_again({7, 7}, {3, 1}, back).words, ElementsAre(3, 1));
  // None of them: then one that was copied back.
  EXPECT_THAT(hand_in_again({7}, {9}, back).words, ElementsAre(testing::AnyOf(1, 2, 3)));
}

TEST(HandInAgain, CountsWordsThatNoCopyBrought) {
  const HandedInAgain handed = hand_in_again({1, 5, 6}, {1, 5, 6}, {{1}, {1}, {1}});
  EXPECT_EQ(handed.strangers, 2U);
  EXPECT_EQ(handed.first_stranger, 1U);
  EXPECT_THAT(handed.words, ElementsAre(1, 5, 6));
}

const Call kLaunch{.kind = CallKind::kLaunch, .kernel = "_Z6softenPiii", .uses = {{0, 8, true}}};
Call copy(CallKind kind) { return {.kind = kind, .address = 0, .bytes = 8}; }

/// Of two words whose replay gave 3 and 4 where 1 and 2 are expected.
std::string why(std::vector<Call> calls, std::vector<std::uint32_t> back,
                std::size_t replaced = 2) {
  Replay replay;
  replay.calls = std::move(calls);
  replay.back = {back, back, {back.size()}};
  replay.replaced = replaced;
  const HandedInAgain handed = hand_in_again({3, 4}, {1, 2}, replay.back);
  return why_not_the_devices(replay, handed, {1, 2}, "out");
}

TEST(WhyNotTheDevices, SaysWhatIsMissing) {
  EXPECT_THAT(why({copy(CallKind::kCopyOut)}, {3, 4}), HasSubstr("no kernel was launched"));
  EXPECT_THAT(why({kLaunch}, {}),
              HasSubstr("2 of 2 results in \"out\" are not what kernel soften wrote: nothing was "
                        "copied from the device to the host"));
  EXPECT_THAT(why({kLaunch, copy(CallKind::kCopyOut)}, {3, 9}),
              HasSubstr("1 of 2 results in \"out\" are not what kernel soften wrote: no copy from "
                        "the device brought them (the first is number 1"));
  EXPECT_THAT(why({kLaunch, copy(CallKind::kCopyIn), copy(CallKind::kCopyOut)}, {3, 4}),
              HasSubstr("what the host had copied to the device"));
  EXPECT_THAT(why({kLaunch, copy(CallKind::kCopyOut)}, {3, 4}, 0),
              HasSubstr("no copy to the device brought any input"));
  EXPECT_THAT(why({kLaunch, copy(CallKind::kCopyOut)}, {3, 4}),
              HasSubstr("the same calls with other inputs"));
}

TEST(WhyNotAsCopied, CountsWordsThatStayedAsTheyWere) {
  EXPECT_EQ(why_not_as_copied("aaaabbbb", "AAAABBBB", "out"), "");
  EXPECT_THAT(
      why_not_as_copied("aaaabbbb", "AAAAbbbb", "out"),
      HasSubstr("1 of 2 results in \"out\" are not what the copies from the device brought"));
  EXPECT_EQ(why_not_as_copied("aaaabbbb", "aaaa", "out"), "");  // it ended otherwise
}

}  // namespace
}  // namespace membound::harness
