// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Blocks that wait for one another in a row are seen to wait, however they began; blocks that tell
/// each other something without waiting are not.
#include <string>

#include <gtest/gtest.h>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

constexpr std::uint32_t kRow = 512;

/// One thread a block. %r1 becomes its place in the row (`place`); `before` stands in front of its
/// wait for word[place - 1], each turn of which ends with `in_loop`; then it sets its own word,
/// where `guard` holds (%p0: in lane 31).
std::string row_of_blocks(const std::string& place, const std::string& before = "",
                          const std::string& in_loop = "", const std::string& guard = "") {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 words, .param .u64 ticket) {
  .reg .pred %p<3>; .reg .b32 %r<10>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [words];
  ld.param.u64 %rd2, [ticket];
)" + place +
         R"(
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd3, %rd1, %rd3;
)" + before +
         R"(
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra SET;
WAIT:
  ld.volatile.global.u32 %r2, [%rd3+-4];
)" + in_loop +
         R"(
  setp.ne.u32 %p2, %r2, 2;
  @%p2 bra WAIT;
SET:
  mov.u32 %r5, %laneid;
  setp.eq.u32 %p0, %r5, 31;
  )" + guard +
         R"( st.volatile.global.u32 [%rd3], 2;
  ret;
})";
}

const std::string kByNumber = "mov.u32 %r1, %ctaid.x;\n";
const std::string kByTicket = "atom.global.add.u32 %r1, [%rd2], 1;\n";
const std::string kTellsFirst = "st.volatile.global.u32 [%rd3], 1;\n";
const std::string kSleeps = "nanosleep.u32 100;\n";
/// Both branches of a warp's lanes come by in each turn of the loop.
const std::string kParts = R"(
  mov.u32 %r3, %laneid;
  and.b32 %r3, %r3, 1;
  setp.eq.u32 %p2, %r3, 0;
  @%p2 bra EVEN;
  add.u32 %r4, %r4, 1;
EVEN:
)";

/// The loop goes on or ends by one branch of two targets, as a switch makes it.
const std::string kSwitches = R"(
  setp.eq.u32 %p2, %r2, 2;
  selp.u32 %r3, 1, 0, %p2;
NEXT: .branchtargets WAIT, SET;
  brx.idx %r3, NEXT;
)";

std::uint64_t wait_turns(const std::string& ptx, std::uint32_t threads = 1) {
  Machine machine(ptx);
  const auto words = machine.upload(std::vector<std::uint32_t>(kRow));
  const auto ticket = machine.upload(std::vector<std::uint32_t>(1));
  const LaunchReport report =
      machine.argument(words).argument(ticket).run("k", {kRow, 1, 1}, {threads, 1, 1});
  EXPECT_FALSE(report.fault) << report.fault->text;
  for (const std::uint32_t word : machine.download<std::uint32_t>(words, kRow)) EXPECT_EQ(word, 2u);
  return report.counters.totals.block_wait_turns;
}

/// In a drawn order a row moves on by e - 1 blocks a turn; where a load is followed by a sleep, by
/// less.
void expect_a_row(std::uint64_t turns) {
  EXPECT_GT(turns, kRow / 3);
  EXPECT_LT(turns, 2 * kRow);
}

TEST(HandOvers, OfARowOfBlocksAreWaitedFor) {
  expect_a_row(wait_turns(row_of_blocks(kByNumber)));
  expect_a_row(wait_turns(row_of_blocks(kByTicket)));
  expect_a_row(wait_turns(row_of_blocks(kByNumber, kTellsFirst)));
  expect_a_row(wait_turns(row_of_blocks(kByTicket, kTellsFirst)));
}

TEST(HandOvers, AreSeenWhateverTheLoopDoesBesides) {
  expect_a_row(wait_turns(row_of_blocks(kByTicket, "", kSleeps)));
  expect_a_row(wait_turns(row_of_blocks(kByNumber, "", kParts), 32));
  expect_a_row(wait_turns(row_of_blocks(kByTicket, "", kSwitches)));
}

TEST(HandOvers, AreSeenWhicheverLaneStores) {
  expect_a_row(wait_turns(row_of_blocks(kByNumber, "", "", "@%p0"), 32));
}

TEST(HandOvers, AreTheSameEachTime) {
  const std::string ptx = row_of_blocks(kByTicket, kTellsFirst);
  EXPECT_EQ(wait_turns(ptx), wait_turns(ptx));
}

/// Each adds up what the blocks before it have told, from the nearest to the first.
TEST(HandOvers, ThatNobodyWaitsForInARowAreNone) {
  const std::string look_back = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 words, .param .u64 ticket) {
  .reg .pred %p<3>; .reg .b32 %r<10>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [words];
  ld.param.u64 %rd2, [ticket];
  atom.global.add.u32 %r1, [%rd2], 1;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd3, %rd1, %rd3;
  st.volatile.global.u32 [%rd3], 2;
NEXT:
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  sub.u32 %r1, %r1, 1;
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd4, %rd1, %rd4;
WAIT:
  ld.volatile.global.u32 %r2, [%rd4];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra WAIT;
  bra NEXT;
DONE:
  ret;
})";
  EXPECT_EQ(wait_turns(look_back), 0u);
}

}  // namespace
}  // namespace membound::vgpu::exec
