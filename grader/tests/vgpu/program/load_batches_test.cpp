// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "grader/device_code/ptx/parser.hpp"
#include "grader/vgpu/program/ptxas/passes.hpp"

namespace membound::vgpu::program {
namespace {

/// Destinations of the loads from global memory that start a round. `body` sees %rd0 = a parameter,
/// %r0 = the thread, %r1 = how many there are, and %p0 to %p15.
std::vector<std::uint32_t> rounds_of(const std::string& body, const AssemblerPasses& passes = {}) {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u32 to) {
  .reg .pred %p<16>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<40>;
  .shared .align 4 .b8 tile[4096];
  ld.param.u64 %rd0, [in];
  ld.param.u32 %r1, [to];
  mov.u32 %r0, %tid.x;
)" + body + "  ret;\n}\n";
  const auto module = ptx::parse(text, "test.ptx");
  if (!module) throw std::runtime_error(to_string(module.error()));
  const auto program = Program::link({&*module, 1}, 0, passes);
  if (!program) throw std::runtime_error(to_string(program.error()));
  std::vector<std::uint32_t> lines;
  for (const Instruction& in : program->functions()[0].code)
    if (in.has(kStartsGlobalBatch)) lines.push_back(in.ptx_line);
  return lines;
}

/// `count` times: a comparison, a branch around a load and what is done with it.
std::string guarded(int count, const std::string& use, int padding = 0) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    text += "setp.ge.s32 %p1, %r0, %r1;\n@%p1 bra L" + n + ";\n";
    text += "ld.global.f32 %f" + n + ", [%rd0+" + std::to_string(4 * i) + "];\n";
    for (int k = 0; k < padding; ++k) text += "add.f32 %f30, %f30, %f" + n + ";\n";
    if (!use.empty()) text += use + "%f" + n + ";\n";
    text += "L" + n + ":\nadd.s32 %r0, %r0, 1;\n";
  }
  return text;
}

constexpr const char* kStores = "st.shared.f32 [tile], ";

TEST(Rounds, IndependentLoadsWaitTogetherDependentOnesInTurn) {
  EXPECT_EQ(rounds_of(R"(ld.global.u64 %rd2, [%rd0];
    ld.global.u64 %rd3, [%rd0+8];
    ld.global.u64 %rd4, [%rd2];
    st.global.u64 [%rd0], %rd4; st.global.u64 [%rd0+8], %rd3;)")
                .size(),
            2u);
}

TEST(Rounds, WithoutBatchesEachLoadIsWaitedForAlone) {
  EXPECT_EQ(rounds_of(R"(ld.global.u64 %rd2, [%rd0];
    ld.global.u64 %rd3, [%rd0+8];
    st.global.u64 [%rd0], %rd2; st.global.u64 [%rd0+8], %rd3;)",
                      {.batches_loads = false})
                .size(),
            2u);
}

TEST(Rounds, LoadsMoveUpToWhereTheirAddressesAreKnown) {
  EXPECT_EQ(rounds_of(R"(ld.global.u64 %rd2, [%rd0];
    ld.global.u64 %rd3, [%rd2];
    ld.global.u64 %rd4, [%rd0+8];
    ld.global.u64 %rd5, [%rd4];
    st.global.u64 [%rd0], %rd3; st.global.u64 [%rd0+8], %rd5;)")
                .size(),
            2u)
      << "two lists walked side by side";
}

TEST(Rounds, NoLoadMovesAcrossAStore) {
  EXPECT_EQ(rounds_of(R"(ld.global.u64 %rd2, [%rd0];
    st.global.u64 [%rd0+16], %rd2;
    ld.global.u64 %rd3, [%rd0+8];
    st.global.u64 [%rd0+24], %rd3;)")
                .size(),
            2u);
}

TEST(Rounds, LoadsBehindShortGuardsAreInFlightTogether) {
  EXPECT_EQ(rounds_of(guarded(8, "")).size(), 1u);
}

TEST(Rounds, AGuardThatAStoreNeedsAgainTakesAPredicate) {
  EXPECT_EQ(rounds_of(guarded(6, kStores)).size(), 1u);
  EXPECT_EQ(rounds_of(guarded(7, kStores)).size(), 2u);
  EXPECT_EQ(rounds_of(guarded(12, kStores)).size(), 2u);
  EXPECT_EQ(rounds_of(guarded(13, kStores)).size(), 3u);
}

TEST(Rounds, LongGuardedPiecesStayBranches) {
  EXPECT_EQ(rounds_of(guarded(3, kStores, 15)).size(), 1u);
  EXPECT_EQ(rounds_of(guarded(3, kStores, 25)).size(), 3u);
}

TEST(Rounds, AreCountedWhereAllWarpsComeBy) {
  const auto with = rounds_of(guarded(1, "") + "ld.global.f32 %f9, [%rd0+64];\n");
  const auto without = rounds_of(guarded(1, ""));
  ASSERT_EQ(with.size(), 1u);
  ASSERT_EQ(without.size(), 1u);
  EXPECT_GT(with[0], without[0]) << "the load without a guard, not the one that may be skipped";
}

TEST(Rounds, WhatOtherPlacesLeadToStartsAnew) {
  // A jump from elsewhere comes to the piece behind the guard.
  EXPECT_EQ(rounds_of("setp.eq.s32 %p2, %r0, 7;\n@%p2 bra L0;\n" + guarded(1, "") +
                      "ld.global.f32 %f9, [%rd0+64];\n")
                .size(),
            2u);
  // A piece that ends elsewhere is no guarded one.
  EXPECT_EQ(rounds_of(R"(setp.ge.s32 %p1, %r0, %r1;
    @%p1 bra BEHIND;
    ld.global.f32 %f0, [%rd0];
    bra END;
    BEHIND: ld.global.f32 %f1, [%rd0+64];
    END:)")
                .size(),
            2u);
}

TEST(Rounds, BarriersAndCallsEndThem) {
  EXPECT_EQ(rounds_of(guarded(1, "") + "bar.sync 0;\n" + "ld.global.f32 %f9, [%rd0+64];\n").size(),
            2u);
}

/// Four times: a load of memory that does not change, something, and a store of what was loaded.
std::string rows(const std::string& between, int count = 4,
                 const std::string& load = "ld.global.nc") {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string offset = std::to_string(4 * i);
    text += load + ".u32 %r2, [%rd0+" + offset + "];\n" + between + "\n";
    text += "st.global.u32 [%rd0+" + offset + "], %r2;\n";
  }
  return text;
}

TEST(Rounds, LoadsOfWhatStaysMoveAcrossWhatWritesAndAcrossBarriers) {
  for (const char* between :
       {"", "red.global.add.u32 [%rd0], %r0;", "vote.sync.ballot.b32 %r2, %p0, -1;",
        "shfl.sync.bfly.b32 %r2, %r2, 1, 31, -1;", "match.any.sync.b32 %r2, %r2, -1;",
        "bar.warp.sync -1;", "bar.sync 0;", "st.volatile.global.u32 [%rd0], %r2;",
        "st.shared.u32 [tile], %r2; bar.sync 0; ld.shared.u32 %r2, [tile];"})
    EXPECT_EQ(rounds_of(rows(between)).size(), 1u) << between;
  EXPECT_EQ(rounds_of(rows("", 4, "ld.global")).size(), 4u) << "what may change";
}

TEST(Rounds, FencesCallsAndAcquiredValuesHoldThemBack) {
  for (const char* between : {"membar.cta;", "membar.gl;", "membar.sys;", "fence.acq_rel.gpu;"})
    EXPECT_EQ(rounds_of(rows(between)).size(), 4u) << between;
  // An acquiring load is in flight with the one before it, not with the one after it.
  EXPECT_EQ(rounds_of(rows("ld.acquire.gpu.global.u32 %r3, [%rd0];")).size(), 4u);
}

TEST(Rounds, AnAtomicWhoseResultIsWantedIsWaitedForByItself) {
  EXPECT_EQ(rounds_of(rows("atom.global.add.u32 %r3, [%rd0], %r2;")).size(), 4u)
      << "four atomics, the loads in flight with the first";
}

TEST(Rounds, LoadsOfWhatStaysWaitForTheirAddresses) {
  EXPECT_EQ(rounds_of(R"(ld.global.nc.u64 %rd2, [%rd0];
    st.global.u64 [%rd0], %rd2;
    ld.global.nc.u64 %rd3, [%rd2];
    st.global.u64 [%rd0+8], %rd3;
    ld.global.nc.u64 %rd4, [%rd0+16];
    st.global.u64 [%rd0+16], %rd4;)")
                .size(),
            2u);
  EXPECT_EQ(rounds_of(R"(ld.global.u64 %rd2, [%rd0];
    st.global.u64 [%rd0], %rd2;
    ld.global.u64 %rd3, [%rd0+8];
    ld.global.nc.u64 %rd4, [%rd3];)")
                .size(),
            3u)
      << "an address that is loaded after a store";
}

TEST(Rounds, LoadsOfWhatStaysShareARoundWithOthers) {
  EXPECT_EQ(rounds_of(R"(ld.global.u64 %rd2, [%rd0];
    ld.global.nc.u64 %rd3, [%rd0+8];
    st.global.u64 [%rd0], %rd2;
    ld.global.nc.u64 %rd4, [%rd0+16];)")
                .size(),
            1u);
}

TEST(Rounds, RegistersEndWhatMovesUp) {
  EXPECT_EQ(rounds_of(rows("", 24)).size(), 1u);
  EXPECT_EQ(rounds_of(rows("", 25)).size(), 2u);
  EXPECT_EQ(rounds_of(rows("", 64)).size(), 3u);
}

/// A loop that loads until it gets another value, and a load after it.
std::string poll(const std::string& load, const std::string& more = "") {
  return "mov.u32 %r2, 0;\nL: " + load + " %r2, [%rd0];\n" + more + R"(
    setp.eq.s32 %p1, %r2, %r1;
    @%p1 bra L;
    ld.global.u32 %r3, [%rd0+4];
    st.global.u32 [%rd0+8], %r3;)";
}

TEST(Rounds, PollsAreNone) {
  EXPECT_EQ(rounds_of(poll("ld.volatile.global.u32")).size(), 1u) << "what comes after the flag";
  EXPECT_EQ(rounds_of(poll("ld.global.u32")).size(), 2u) << "a search";
  EXPECT_EQ(rounds_of(poll("ld.volatile.global.u32", "ld.global.u32 %r4, [%rd0+16];")).size(), 2u);
}

TEST(Rounds, PollsOfWhoLooksBackAreSome) {
  EXPECT_EQ(rounds_of(poll("ld.volatile.global.u32") + "st.global.u32 [%rd0], %r2;").size(), 2u)
      << "what it waited for is data";
  EXPECT_EQ(rounds_of("BACK:\n" + poll("ld.volatile.global.u32") + R"(
    setp.lt.s32 %p2, %r3, %r1;
    @%p2 bra BACK;)")
                .size(),
            2u)
      << "one place after the other";
}

TEST(Rounds, ABranchAroundWhatJoinsLanesStaysABranch) {
  const auto with = [](const std::string& what) {
    return rounds_of(R"(ld.global.nc.u32 %r2, [%rd0];
      setp.ge.s32 %p1, %r2, %r1;
      @%p1 bra BEHIND;
      )" + what + R"(
      BEHIND: st.global.u32 [%rd0], %r2;
      ld.global.nc.u32 %r3, [%rd0+4];
      st.global.u32 [%rd0+4], %r3;)")
        .size();
  };
  for (const char* what :
       {"vote.sync.ballot.b32 %r2, %p0, %r1;", "match.any.sync.b32 %r2, %r2, %r1;",
        "shfl.sync.bfly.b32 %r2, %r2, 1, 31, %r1;", "redux.sync.add.u32 %r2, %r2, %r1;"})
    EXPECT_EQ(with(what), 2u) << what;
  EXPECT_EQ(with("activemask.b32 %r2;"), 1u);
  EXPECT_EQ(with("add.u32 %r2, %r2, 3;"), 1u);
}

}  // namespace

}  // namespace membound::vgpu::program
