// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// "The last block to arrive does the rest": which kernels of that kind run some of their blocks,
/// and what the last one then sees.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

constexpr std::uint32_t kEach = 64, kMany = 5003;
constexpr std::uint32_t kStale = 1'000'000;  // what memory holds where no launch has been
const std::string kLearn = "its blocks may learn from each other";

/// Every block adds 1 for each of its in[i] to its word of `left`; `arrive` leaves the ticket in
/// %r5, with the words `count` at %rd5 and %r1 the block, %r6 the grid's last; thread 0 comes by.
/// Where the ticket is the last's, `last` puts the sum of all words into out.
std::string counting(const std::string& arrive, const std::string& last = "",
                     const std::string& before = "") {
  return R"(.version 8.0
.target sm_90
.address_size 64
.global .align 8 .b8 count[16];
.visible .entry k(.param .u64 in, .param .u64 left, .param .u64 out) {
  .reg .pred %p<6>; .reg .b32 %r<16>; .reg .b64 %rd<12>;
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [left];
  ld.param.u64 %rd2, [out];
  mov.u64 %rd5, count;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r6, %nctaid.x;
  sub.u32 %r6, %r6, 1;
  mad.lo.u32 %r2, %r1, 64, %r0;
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd3, %rd0, %rd3;
  ld.global.u32 %r4, [%rd3];
)" + before +
         R"(
  bar.sync 0;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra DONE;
  mul.wide.u32 %rd4, %r1, 4;
  add.u64 %rd4, %rd1, %rd4;
  mul.lo.u32 %r4, %r4, 64;
  st.global.u32 [%rd4], %r4;
)" + arrive +
         R"(
  setp.ne.u32 %p1, %r5, %r6;
  @%p1 bra DONE;
  mov.u32 %r7, 0;
  mov.u32 %r8, 0;
NEXT:
  mul.wide.u32 %rd6, %r7, 4;
  add.u64 %rd6, %rd1, %rd6;
  ld.global.u32 %r9, [%rd6];
  add.u32 %r8, %r8, %r9;
  add.u32 %r7, %r7, 1;
  setp.le.u32 %p2, %r7, %r6;
  @%p2 bra NEXT;
  st.global.u32 [%rd2], %r8;
)" + last +
         R"(
DONE:
  ret;
})";
}

const std::string kInc = "atom.global.inc.u32 %r5, [%rd5], %r6;\n";
const std::string kAdd = "atom.global.add.u32 %r5, [%rd5], 1;\n";
const std::string kReset = "st.global.u32 [%rd5], 0;\n";

/// Inputs are ones.
struct Counting : Machine {
  explicit Counting(const std::string& ptx, std::uint32_t workers = 2) : Machine(ptx) {
    request().sm_count = 16;
    request().caches = {.enabled = true, .resident_blocks_per_sm = 4};
    request().limits.worker_threads = workers;
    in = *space().allocate(std::uint64_t{kMany} * kEach * 4, 256, {});
    left = upload(std::vector<std::uint32_t>(kMany, kStale));
    out = *space().allocate(4, 256, {});
  }
  LaunchReport launch(std::optional<std::uint64_t> seed, std::uint32_t blocks = kMany) {
    const auto ones = [](std::uint64_t, std::byte* to, std::uint64_t n) {
      for (std::uint64_t i = 0; i < n; ++i) to[i] = i % 4 == 0 ? std::byte{1} : std::byte{0};
    };
    const auto zeros = [](std::uint64_t, std::byte* to, std::uint64_t n) {
      std::fill_n(to, n, std::byte{});
    };
    space().generate_lazily(in, ones);
    space().generate_lazily(out, zeros, true);
    request().sample.reset();
    if (seed) request().sample = SampleOrder{*seed, 1 << 20};
    return argument(in).argument(left).argument(out).run("k", {blocks, 1, 1}, {kEach, 1, 1});
  }
  std::uint32_t result() { return download<std::uint32_t>(out, 1)[0]; }
  std::uint32_t count(std::size_t word = 0) {
    return download<std::uint32_t>(program().globals()[0].device_address, 4)[word];
  }
  std::uint64_t in, left, out;
};

std::string why_not(const std::string& ptx) { return Counting(ptx).launch(1).unsampled; }

TEST(LastBlockPattern, TheLastBlockAddsUpWhatThoseThatRanHaveLeft) {
  for (const std::string& ptx : {counting(kInc), counting(kAdd, kReset)}) {
    Counting machine(ptx);
    for (const std::uint64_t seed : {1, 2, 3}) {
      const LaunchReport some = machine.launch(seed);
      ASSERT_TRUE(some.sample) << some.unsampled;
      EXPECT_TRUE(some.sample->counts_arrivals);
      EXPECT_LT(some.sample->blocks, 400u);
      EXPECT_EQ(machine.result(), some.sample->blocks * kEach) << "not of an earlier launch";
      EXPECT_EQ(machine.count(), 0u) << "ready for the next launch";
    }
  }
}

TEST(LastBlockPattern, AreCountedAsThoseOfAllBlocks) {
  Counting machine(counting(kInc));
  const LaunchReport whole = machine.launch({}), some = machine.launch(1);
  ASSERT_TRUE(some.sample) << some.unsampled;
  EXPECT_EQ(some.counters.totals.warp_instructions, whole.counters.totals.warp_instructions);
  EXPECT_EQ(some.counters.totals.atomic_requests, kMany);
  EXPECT_EQ(some.counters.totals.hottest_atomic_address_count, kMany);
  EXPECT_EQ(some.counters.work.runs, whole.counters.work.runs) << "the last for itself";
}

TEST(LastBlockPattern, OneSeedGivesTheSameWithAnyNumberOfWorkers) {
  Counting alone(counting(kInc), 1), together(counting(kInc), 2);
  const LaunchReport first = alone.launch(3), again = together.launch(3);
  ASSERT_TRUE(first.sample) << first.unsampled;
  EXPECT_EQ(again.counters.totals, first.counters.totals);
  EXPECT_EQ(again.counters.work.runs, first.counters.work.runs);
}

TEST(LastBlockPattern, LeaveTheCounterAsAWholeLaunchDoes) {
  for (const std::string& arrive :
       {kAdd, kInc, std::string("atom.global.add.u32 %r5, [%rd5], 0xFFFFFFFF;\n"),
        std::string("atom.global.inc.u32 %r5, [%rd5], 99;\n"),
        std::string("atom.global.dec.u32 %r5, [%rd5], 99;\n"),
        std::string("atom.global.add.u64 %rd7, [%rd5], 7;\ncvt.u32.u64 %r5, %rd7;\n")}) {
    // Nobody does the rest. Of a whole launch anybody's ticket may be stored last.
    Counting machine(counting(arrive + "st.global.u32 [%rd5+8], %r5;\nmov.u32 %r5, 0xFFFFFFFF;\n"));
    for (const std::uint32_t start : {0u, 7u, 5000u, 0xFFFFFFFEu}) {
      const std::vector<std::uint32_t> words = {start, 0, 0, 0};
      const std::uint64_t counter = machine.program().globals()[0].device_address;
      machine.space().copy_in(counter, words.data(), 16);
      machine.launch({});
      const auto of_all = machine.download<std::uint32_t>(counter, 2);
      machine.space().copy_in(counter, words.data(), 16);
      ASSERT_EQ(machine.launch(1).unsampled, "");
      EXPECT_EQ(machine.download<std::uint32_t>(counter, 2), of_all) << arrive << start;
    }
  }
}

TEST(LastBlockPattern, TicketsFollowTheGridWhoeverRuns) {
  const std::string mine = R"(
  setp.ne.u32 %p3, %r5, %r1;
  @%p3 st.global.u32 [%rd5+8], 1;
)";
  Counting machine(counting(kAdd + mine, kReset));
  ASSERT_EQ(machine.launch(1).unsampled, "");
  EXPECT_EQ(machine.count(2), 0u) << "a ticket that was not its block's number";
}

TEST(LastBlockPattern, OfASmallGridAllBlocksRunAndNothingIsTakenForZero) {
  Counting machine(counting(kInc));
  for (const std::uint32_t blocks : {1u, 2u, 9u}) {
    ASSERT_EQ(machine.launch(1, blocks).unsampled, "");
    EXPECT_EQ(machine.result(), blocks * kEach);
    EXPECT_EQ(machine.download<std::uint32_t>(machine.left, 10)[9], kStale);
  }
}

TEST(LastBlockPattern, TheLastBlockMayReadInOrder) {
  EXPECT_EQ(why_not(counting(kInc, "ld.volatile.global.u32 %r9, [%rd1];\n")), "");
}

TEST(LastBlockPattern, TheLastBlockMaySwap) {
  Counting machine(counting(kAdd, "atom.global.exch.b32 %r9, [%rd5], 0;\n"));
  ASSERT_EQ(machine.launch(1).unsampled, "");
  EXPECT_EQ(machine.count(), 0u);
}

TEST(LastBlockPattern, ATotalThatAllAddToNeedsNoWordOfEach) {
  const std::string add = "cvt.rn.f32.u32 %r10, %r4;\nred.global.add.f32 [%rd5+8], %r10;\n";
  const std::string take = R"(
  ld.global.f32 %r10, [%rd5+8];
  cvt.rzi.u32.f32 %r10, %r10;
  st.global.u32 [%rd2], %r10;
  st.global.u32 [%rd5+8], 0;
)";
  Counting machine(counting(add + kInc, take));
  const LaunchReport some = machine.launch(1);
  ASSERT_TRUE(some.sample) << some.unsampled;
  EXPECT_EQ(machine.result(), some.sample->blocks * kEach);
}

TEST(LastBlockPattern, AnyOtherUseOfThemIsNotSampled) {
  const auto cases = std::to_array<std::pair<const char*, std::string>>({
      {"a second ticket chooses more work",
       counting(kAdd + "atom.global.add.u32 %r7, [%rd5], 1;\n")},
      {"two words", counting("atom.global.add.u32 %r7, [%rd5+4], 1;\n" + kInc)},
      {"a word of each group",
       counting("and.b32 %r7, %r1, 1;\nmul.wide.u32 %rd7, %r7, 4;\nadd.u64 %rd5, %rd5, %rd7;\n" +
                kInc)},
      {"every thread", counting(kInc, "", "atom.global.add.u32 %r7, [%rd5+4], 1;\n")},
      {"what it adds differs", counting("atom.global.add.u32 %r5, [%rd5], %r1;\n")},
      {"some blocks do not arrive",
       counting("mov.u32 %r5, 0;\nand.b32 %r7, %r1, 1;\nsetp.eq.u32 %p3, %r7, 1;\n@%p3 " + kInc)},
      {"others change the word", counting("red.global.add.u32 [%rd5], 1;\n" + kInc)},
      {"a lock", counting("atom.global.cas.b32 %r7, [%rd5+4], 0, 1;\n" + kInc)},
      {"a flag", counting("atom.global.exch.b32 %r7, [%rd5+4], 1;\n" + kInc)},
      {"looks back", counting("ld.acquire.gpu.global.u32 %r7, [%rd1];\n" + kInc)},
      {"looks on after it has arrived", counting(kInc + "ld.volatile.global.u32 %r7, [%rd5];\n")},
  });
  for (const auto& [what, ptx] : cases) EXPECT_EQ(why_not(ptx), kLearn) << what;
}

TEST(LastBlockPattern, TheLastBlockMayNotDoWhatOthersLeftOut) {
  for (const char* const reads : {"%rd0", "%rd2"}) {
    Counting machine(counting(kInc, "ld.global.u32 %r9, [" + std::string(reads) + "];\n"));
    EXPECT_EQ(machine.launch(1).unsampled,
              "its last block reads more than what the others leave it");
  }
}

TEST(LastBlockPattern, TheLastBlockMayNotLookBeforeItArrives) {
  EXPECT_EQ(why_not(counting("ld.global.u32 %r7, [%rd1];\n" + kInc)), kLearn);
  EXPECT_EQ(why_not(counting("ld.global.u32 %r7, [%rd4];\n" + kInc)), "") << "its own";
}

TEST(LastBlockPattern, WhatIsGivenUpLeavesNothingBehind) {
  Counting machine(counting(kAdd, "ld.global.u32 %r9, [%rd0];\n"));
  ASSERT_NE(machine.launch(1).unsampled, "");
  EXPECT_EQ(machine.count(), 0u);
  EXPECT_EQ(machine.download<std::uint32_t>(machine.left, kMany),
            std::vector<std::uint32_t>(kMany, kStale));
}

TEST(LastBlockPattern, ALaunchThatIsLookedAtOrPreparesIsNotSampled) {
  Counting machine(counting(kInc));
  machine.request().checks.switch_on("racecheck");
  EXPECT_EQ(machine.launch(1).unsampled, kLearn);
}

}  // namespace

}  // namespace membound::vgpu::exec
