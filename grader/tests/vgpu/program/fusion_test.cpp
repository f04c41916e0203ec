// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/ptxas/passes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "grader/device_code/ptx/parser.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::program {
namespace {

/// What vanishes, by mnemonic. `body` sees %rd0 = a parameter, %r0 and %f0 = words loaded from it;
/// what it leaves in %r9, %f9 and %rd9 is stored.
std::vector<std::string> fused_in(const std::string& body) {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in) {
  .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<10>;
  ld.param.u64 %rd0, [in];
  ld.global.u32 %r0, [%rd0];
  ld.global.f32 %f0, [%rd0+4];
)" + body + R"(
  st.global.u32 [%rd0], %r9;
  st.global.f32 [%rd0+4], %f9;
  st.global.u64 [%rd0+8], %rd9;
  ret;
})";
  const auto module = ptx::parse(text, "test.ptx");
  if (!module) throw std::runtime_error(to_string(module.error()));
  const auto program = Program::link({&*module, 1});
  if (!program) throw std::runtime_error(to_string(program.error()));
  std::vector<std::string> names;
  for (const Instruction& in : program->functions()[0].code) {
    if (!in.fused) continue;
    names.emplace_back(in.mnemonic);
    EXPECT_EQ(cost_of(in), Cost::kNone) << in.mnemonic;
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(Fusion, AProductAndASumAreOneUnlessARoundingIsNamed) {
  EXPECT_EQ(fused_in("mul.f32 %f1, %f0, %f0; sub.f32 %f9, %f0, %f1;"), Names{"mul.f32"});
  EXPECT_EQ(fused_in("mul.rn.f32 %f1, %f0, %f0; add.f32 %f9, %f0, %f1;"), Names{});
  EXPECT_EQ(fused_in("mul.f32 %f1, %f0, %f0; add.rn.f32 %f9, %f0, %f1;"), Names{});
}

TEST(Fusion, OfTwoProductsOneSumTakesUpOne) {
  EXPECT_EQ(fused_in("mul.f32 %f1, %f0, %f0; mul.f32 %f2, %f0, 0f3F000000; add.f32 %f9, %f1, %f2;"),
            Names{"mul.f32"});
}

TEST(Fusion, WhatIsUsedTwiceStays) {
  EXPECT_EQ(fused_in("mul.f32 %f1, %f0, %f0; add.f32 %f2, %f0, %f1; add.f32 %f9, %f2, %f1;"),
            Names{});
}

TEST(Fusion, SumsOfThreeWordsAndShiftsWithASumAreOne) {
  EXPECT_EQ(fused_in("add.s32 %r1, %r0, 5; add.s32 %r9, %r1, %r0;"), Names{"add.s32"});
  EXPECT_EQ(fused_in("shl.b32 %r1, %r0, 2; add.s32 %r9, %r1, %r0;"), Names{"shl.b32"});
  EXPECT_EQ(fused_in("shl.b32 %r1, %r0, %r0; add.s32 %r9, %r1, %r0;"), Names{})
      << "by a number that nobody knows";
}

TEST(Fusion, ASumOfFourWordsAreTwo) {
  EXPECT_EQ(fused_in("add.s32 %r1, %r0, 5; add.s32 %r2, %r1, %r0; add.s32 %r9, %r2, %r0;"),
            Names{"add.s32"});
}

TEST(Fusion, LogicOfThreeWordsIsOne) {
  EXPECT_EQ(fused_in("and.b32 %r1, %r0, 7; xor.b32 %r9, %r1, %r0;"), Names{"and.b32"});
  EXPECT_EQ(fused_in("and.b32 %r1, %r0, 7; add.s32 %r9, %r1, %r0;"), Names{});
}

TEST(Fusion, AProductBecomesPartOfEachSumOf64Bits) {
  const std::string product = "mul.wide.u32 %rd1, %r0, 4; add.s64 %rd2, %rd0, %rd1;";
  EXPECT_EQ(fused_in(product + "add.s64 %rd9, %rd2, %rd1;"), Names{"mul.wide.u32"});
  EXPECT_EQ(fused_in(product + "xor.b64 %rd9, %rd2, %rd1;"), Names{});
}

TEST(Fusion, SignsAreTakenOnTheWay) {
  EXPECT_EQ(fused_in("abs.f32 %f1, %f0; max.f32 %f9, %f1, 0f3F000000;"), Names{"abs.f32"});
  EXPECT_EQ(fused_in("neg.f32 %f1, %f0; rcp.rn.f32 %f9, %f1;"), Names{});
}

TEST(Fusion, NothingIsJoinedAcrossBlocksOrUnderAGuard) {
  EXPECT_EQ(fused_in(R"(
mul.f32 %f1, %f0, %f0;
setp.eq.u32 %p1, %r0, 0;
@%p1 bra NEXT;
mov.u32 %r9, 1;
NEXT:
add.f32 %f9, %f0, %f1;)"),
            Names{});
  EXPECT_EQ(fused_in("setp.eq.u32 %p1, %r0, 0; mul.f32 %f1, %f0, %f0; @%p1 add.f32 %f9, %f0, %f1;"),
            Names{});
}

}  // namespace
}  // namespace membound::vgpu::program
