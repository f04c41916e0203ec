// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/ptxas/passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "grader/device_code/ptx/parser.hpp"

namespace membound::vgpu::program {
namespace {

struct Marked {
  std::ptrdiff_t control = 0;
  std::ptrdiff_t loads = 0;   ///< that share their wait with other rounds
  std::uint8_t together = 1;  ///< rounds of which the loads are one wait
  std::ptrdiff_t vanishing = 0;
};

/// `body` sees %rd0 = a parameter, %r0 = a counter, %r1 = how far it goes.
Marked marked_in(const std::string& body) {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u32 to) {
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<9>;
  ld.param.u64 %rd0, [in];
  ld.param.u32 %r1, [to];
  mov.u32 %r0, 0;
)" + body + "  st.global.f32 [%rd0], %f1;\n  ret;\n}\n";
  const auto module = ptx::parse(text, "test.ptx");
  if (!module) throw std::runtime_error(to_string(module.error()));
  const auto program = Program::link({&*module, 1});
  if (!program) throw std::runtime_error(to_string(program.error()));
  Marked found;
  for (const Instruction& in : program->functions()[0].code) {
    found.control += runs_once_per_unrolled_body(in);
    found.vanishing += in.opcode == Opcode::kBra && in.fused;
    found.loads += in.iterations_together > 1;
    found.together = std::max(found.together, in.iterations_together);
  }
  return found;
}

std::string loop(const std::string& body, const std::string& count = "add.s32 %r0, %r0, 1;") {
  return "LOOP:\n" + body + count + "\nsetp.lt.s32 %p1, %r0, %r1;\n@%p1 bra LOOP;\n";
}

constexpr const char* kAddsUp = "fma.rn.f32 %f1, %f1, %f1, %f1;\n";
constexpr const char* kLoads = R"(
mul.wide.u32 %rd1, %r0, 4;
add.u64 %rd1, %rd0, %rd1;
ld.global.f32 %f2, [%rd1];
add.f32 %f1, %f1, %f2;
)";

TEST(Unrolling, CountingByAConstantHappensOnceForSeveralRounds) {
  EXPECT_EQ(marked_in(loop(kAddsUp)).control, 3) << "sum, comparison and branch";
}

TEST(Unrolling, ABranchOutAndAJumpBackAreOneBranch) {
  const std::string body = std::string("LOOP:\n") + kAddsUp + R"(
add.s32 %r0, %r0, 1;
setp.eq.s32 %p1, %r0, 64;
@%p1 bra OUT;
bra.uni LOOP;
OUT:
)";
  EXPECT_EQ(marked_in(body).control, 4) << "sum, comparison, branch and jump";
  EXPECT_EQ(marked_in(body).vanishing, 1);
}

/// So many words a round.
std::string loads(int words) {
  std::string body = "mul.wide.u32 %rd1, %r0, 64;\nadd.u64 %rd1, %rd0, %rd1;\n";
  for (int i = 0; i < words; ++i)
    body += "ld.global.f32 %f2, [%rd1+" + std::to_string(4 * i) + "];\nadd.f32 %f1, %f1, %f2;\n";
  return body;
}

TEST(Unrolling, AboutSixteenLoadsAreInFlightTogether) {
  EXPECT_EQ(marked_in(loop(loads(3))).together, 4);
  EXPECT_EQ(marked_in(loop(loads(4))).together, 4);
  EXPECT_EQ(marked_in(loop(loads(5))).together, 2);
  EXPECT_EQ(marked_in(loop(loads(8))).together, 2);
  EXPECT_EQ(marked_in(loop(loads(9))).together, 1);
}

TEST(Unrolling, WhatNvccHasRepeatedPtxasDoesNotRepeat) {
  const std::string down =
      "LOOP:\n" + loads(4) + "add.s32 %r0, %r0, -4;\nsetp.ne.s32 %p1, %r0, 0;\n@%p1 bra LOOP;\n";
  EXPECT_EQ(marked_in(down).together, 1);
}

TEST(Unrolling, LoopsStayThatCountByWhatNobodyKnows) {
  EXPECT_EQ(marked_in("mov.u32 %r2, %ntid.x;\n" + loop(kAddsUp, "add.s32 %r0, %r0, %r2;")).control,
            0);
}

TEST(Unrolling, LoopsStayThatSayNounroll) {
  EXPECT_EQ(marked_in(loop(std::string(".pragma \"nounroll\";\n") + kAddsUp)).control, 0);
}

TEST(Unrolling, LoopsWithABarrierStay) {
  EXPECT_EQ(marked_in(loop(std::string("bar.sync 0;\n") + kAddsUp)).control, 0);
}

TEST(Unrolling, LoadsOfSeveralRoundsAreInFlightTogether) {
  EXPECT_EQ(marked_in(loop(kLoads)).loads, 1);
}

TEST(Unrolling, LoadsStayInTurnWhereStoresMayChangeWhatTheyRead) {
  EXPECT_EQ(marked_in(loop(std::string(kLoads) + "st.global.f32 [%rd1], %f1;\n")).loads, 0);
}

TEST(Unrolling, AChainOfLoadsStaysOne) {
  const Marked chain = marked_in("mov.u32 %r3, 0;\n" + loop(R"(
mul.wide.u32 %rd1, %r3, 4;
add.u64 %rd1, %rd0, %rd1;
ld.global.u32 %r3, [%rd1];
)"));
  EXPECT_EQ(chain.control, 3);
  EXPECT_EQ(chain.loads, 0);
}

}  // namespace
}  // namespace membound::vgpu::program
