// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whatever the number of worker threads: the same findings in the same words, and the same memory.
#include <gtest/gtest.h>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

constexpr const char* kHead = ".version 8.0\n.target sm_90\n.address_size 64\n";
constexpr std::uint32_t kRaceBlocks = 64, kRaceThreads = 64;

/// `body` sees %r0 = thread, %r1 = block, %r2 = thread of the grid, %rd0 = `out`, %rd1 = its
/// element of 4 bytes.
std::string kernel_of(const std::string& body) {
  return std::string(kHead) + R"(.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<12>;
  .shared .align 4 .b8 tile[256];
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mad.lo.u32 %r2, %r1, 64, %r0;
  mul.wide.u32 %rd1, %r2, 4;
  add.u64 %rd1, %rd0, %rd1;
)" + body +
         "  ret;\n}\n";
}

/// All that a launch says, and the memory it leaves.
struct Told {
  std::vector<std::string> findings;
  std::vector<std::uint32_t> memory;
  bool fault = false;
};

Told run(const std::string& body, std::uint32_t workers, std::uint32_t blocks = kRaceBlocks) {
  Machine machine(kernel_of(body));
  machine.space().track_initialised(true);
  std::vector<std::uint32_t> before(blocks * kRaceThreads);
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = static_cast<std::uint32_t>(i);
  const std::uint64_t out = machine.upload(before);
  machine.request().checks.switch_on("all");
  machine.request().limits.worker_threads = workers;
  const LaunchReport report = machine.argument(out).run("k", {blocks, 1, 1}, {kRaceThreads, 1, 1});
  Told told;
  told.fault = report.fault.has_value();
  for (const CheckReport& found : report.checks) {
    const auto& block = found.place.block;
    const auto& thread = found.place.thread;
    // Addresses are told from `out` on: a sanitizer may want the place where they usually begin.
    std::string text = found.text;
    for (std::size_t at = text.find("0x"); at != std::string::npos; at = text.find("0x", at)) {
      std::size_t digits = 0;
      const std::uint64_t address = std::stoull(text.substr(at), &digits, 16);
      text.replace(at, digits, "out + " + std::to_string(address - out));
    }
    told.findings.push_back(found.checker + ", " + found.kind + ", line " +
                            std::to_string(found.place.ptx_line) + ", block " +
                            std::to_string(block.x) + ", thread " + std::to_string(thread.x) +
                            ", " + std::to_string(found.count) + " times: " + text);
  }
  told.memory = machine.download<std::uint32_t>(out, before.size());
  return told;
}

struct Case {
  const char* name;
  const char* body;
  const char* kind;  ///< of a finding there must be; "" = there must be none
};

constexpr Case kCases[] = {
    {"OneByteOfTwoWriters", "add.u32 %r3, %r1, 7;\nst.global.u8 [%rd0+3], %r3;\n", "data race"},
    {"AReaderAndAWriter",
     "setp.ne.u32 %p1, %r1, 5;\n@%p1 ld.global.u32 %r3, [%rd0];\nsetp.eq.u32 %p2, %r1, 5;\n"
     "mov.u32 %r4, 77;\n@%p2 st.global.u32 [%rd0], %r4;\n",
     "data race"},
    {"RowsThatOverlapByOneThread",
     "st.global.u32 [%rd1], %r2;\nadd.u32 %r3, %r2, 64;\n"
     "rem.u32 %r3, %r3, 4096;\nsetp.ne.u32 %p1, %r0, 63;\n"
     "@%p1 bra DONE;\nmul.wide.u32 %rd2, %r3, 4;\n"
     "add.u64 %rd2, %rd0, %rd2;\nmov.u32 %r4, 99;\n"
     "st.global.u32 [%rd2], %r4;\nDONE:\n",
     "data race"},
    {"AnAtomicAndAPlainRead",
     "mov.u32 %r3, 1;\nred.global.add.u32 [%rd0], %r3;\nsetp.ne.u32 %p1, %r1, 9;\n"
     "@%p1 bra DONE;\nld.global.u32 %r4, [%rd0];\nDONE:\n",
     "data race"},
    {"InsideABlockAlone",
     "mov.u32 %r3, tile;\nst.shared.u32 [%r3], %r0;\nst.global.u32 [%rd1], %r0;\n", "data race"},
    {"AnAddressBehindTheEndInTwoBlocks",
     "setp.lt.u32 %p1, %r1, 40;\n@%p1 bra DONE;\nmul.wide.u32 %rd2, %r2, 4096;\n"
     "add.u64 %rd2, %rd2, 1073741824;\nadd.u64 %rd2, %rd0, %rd2;\nst.global.u32 [%rd2], "
     "%r0;\nDONE:\n",
     "out of bounds write"},
    {"AWordOfAnotherWarpsRowOfPairs",
     "mul.wide.u32 %rd2, %r1, 256;\nadd.u64 %rd2, %rd0, %rd2;\nsetp.ge.u32 %p1, %r0, 32;\n"
     "@%p1 bra READ;\nmul.wide.u32 %rd3, %r0, 8;\nadd.u64 %rd3, %rd2, %rd3;\n"
     "st.global.v2.u32 [%rd3], {%r0, %r1};\nbra DONE;\n"
     "READ: ld.global.u32 %r4, [%rd2+28];\nDONE:\n",
     "data race"},
    {"AWordOfAnotherWarpsRowAfterABarrier",
     "mul.wide.u32 %rd2, %r1, 256;\nadd.u64 %rd2, %rd0, %rd2;\nsetp.ge.u32 %p1, %r0, 32;\n"
     "@%p1 bra MEET;\nmul.wide.u32 %rd3, %r0, 8;\nadd.u64 %rd3, %rd2, %rd3;\n"
     "st.global.v2.u32 [%rd3], {%r0, %r1};\nMEET: bar.sync 0;\nld.global.u32 %r4, [%rd2+28];\n"
     "bar.sync 0;\nsetp.ne.u32 %p2, %r0, 60;\n@%p2 bra DONE;\nst.global.u32 [%rd2+28], %r0;\n"
     "DONE:\n",
     ""},
    {"AWordThatLaneZeroWroteForItsWarp",
     "and.b32 %r3, %r0, 31;\nshr.u32 %r4, %r0, 5;\nshl.b32 %r4, %r4, 2;\nmov.u32 %r5, tile;\n"
     "add.u32 %r5, %r5, %r4;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 st.shared.u32 [%r5], %r0;\n"
     "ld.shared.u32 %r6, [%r5];\n",
     "data race"},
    {"AWordThatLaneZeroWroteBeforeAWarpBarrier",
     "and.b32 %r3, %r0, 31;\nshr.u32 %r4, %r0, 5;\nshl.b32 %r4, %r4, 2;\nmov.u32 %r5, tile;\n"
     "add.u32 %r5, %r5, %r4;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 st.shared.u32 [%r5], %r0;\n"
     "bar.warp.sync 0xffffffff;\nld.shared.u32 %r6, [%r5];\n",
     ""},
    {"NeighboursThatOnlyAdd",
     "ld.global.u32 %r3, [%rd1];\nadd.u32 %r3, %r3, 5;\nst.global.u32 [%rd1], %r3;\n", ""},
    {"AtomicsAlone", "mov.u32 %r3, 1;\nred.global.add.u32 [%rd0], %r3;\n", ""},
    {"AnInputThatAllRead", "ld.global.u32 %r3, [%rd0];\nld.global.u32 %r4, [%rd0+4];\n", ""},
    {"EqualValues", "mov.u32 %r3, 5;\nst.global.u32 [%rd0], %r3;\n", ""},
};

class RaceWorkers : public testing::TestWithParam<Case> {};

TEST_P(RaceWorkers, TellTheSameHoweverManyTheyAre) {
  const Case& what = GetParam();
  const Told alone = run(what.body, 1);
  if (*what.kind == '\0') {
    EXPECT_EQ(alone.findings, std::vector<std::string>{});
  } else {
    ASSERT_FALSE(alone.findings.empty());
    EXPECT_NE(alone.findings[0].find(what.kind), std::string::npos) << alone.findings[0];
  }
  for (const std::uint32_t workers : {2u, 8u, 16u}) {
    for (int turn = 0; turn < 20; ++turn) {
      const Told told = run(what.body, workers);
      ASSERT_EQ(told.findings, alone.findings) << workers << " workers";
      ASSERT_EQ(told.memory, alone.memory) << workers << " workers";
      ASSERT_EQ(told.fault, alone.fault) << workers << " workers";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, RaceWorkers, testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(RaceWorkersOfTwoBlocks, SeeAByteThatBothWriteEveryTime) {
  const char* const body = "add.u32 %r3, %r1, 7;\nst.global.u8 [%rd0+3], %r3;\n";
  const Told alone = run(body, 1, 2);
  ASSERT_EQ(alone.findings.size(), 1u);
  for (int turn = 0; turn < 200; ++turn) {
    const Told told = run(body, 2, 2);
    ASSERT_EQ(told.findings, alone.findings);
    ASSERT_EQ(told.memory, alone.memory);
    ASSERT_EQ(told.fault, alone.fault);
  }
}

/// What is remembered of a place has room for the numbers of 65,535 instructions.
TEST(RacesOfLongKernels, AnInstructionBeyondTheLastNumberIsNotTakenForAnother) {
  std::string body;
  for (int i = 0; i < 65535; ++i) body += "ld.global.u32 %r3, [%rd1];\n";
  body += "st.shared.u32 [tile], %r0;\n";  // by both warps
  const Told told = run(body, 1, 1);
  ASSERT_EQ(told.findings.size(), 1u);
  EXPECT_NE(told.findings[0].find("data race"), std::string::npos) << told.findings[0];
  EXPECT_EQ(told.findings[0].find("wrote at"), std::string::npos) << told.findings[0];
}

}  // namespace
}  // namespace membound::vgpu::exec
