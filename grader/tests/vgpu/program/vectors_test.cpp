// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/ptxas/passes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "grader/device_code/ptx/parser.hpp"

namespace membound::vgpu::program {
namespace {

/// The offsets of the loads that vanish into a vector. `body` sees %r0 = the thread's number and
/// %r1 = row %r0 of `words`, rows of 64 bytes.
std::vector<std::int64_t> joined_in(const std::string& body) {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<9>; .reg .f64 %fd<3>;
  .shared .align 4 .b8 words[4096];
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r2, words;
  shl.b32 %r3, %r0, 6;
  add.s32 %r1, %r2, %r3;
)" + body + "  st.global.f32 [%rd0], %f1;\n  ret;\n}\n";
  const auto module = ptx::parse(text, "test.ptx");
  if (!module) throw std::runtime_error(to_string(module.error()));
  const auto program = Program::link({&*module, 1});
  if (!program) throw std::runtime_error(to_string(program.error()));
  std::vector<std::int64_t> offsets;
  for (const Instruction& in : program->functions()[0].code)
    if (in.opcode == Opcode::kLd && in.fused) offsets.push_back(in.as<Access>().offset);
  return offsets;
}

std::string load(int offset, const std::string& base = "%r1") {
  return "ld.shared.f32 %f1, [" + base + "+" + std::to_string(offset) + "];\n";
}

using Offsets = std::vector<std::int64_t>;

TEST(Vectors, FourWordsOfSixteenAlignedBytesAreOneLoad) {
  EXPECT_EQ(joined_in(load(0) + load(4) + load(8) + load(12) + load(16)), (Offsets{4, 8, 12}));
}

TEST(Vectors, ThreeOfThemAreOneToo) {
  EXPECT_EQ(joined_in(load(16) + load(20) + load(24)), (Offsets{20, 24}));
}

TEST(Vectors, TwoAreOneWhereTheyLieInEightAlignedBytes) {
  EXPECT_EQ(joined_in(load(8) + load(12)), Offsets{12});
  EXPECT_EQ(joined_in(load(4) + load(8)), Offsets{});
}

TEST(Vectors, TwoWordsThatNvccMadeOneLoadCountAsTwo) {
  const std::string pair = "ld.shared.v2.f32 {%f1, %f2}, [%r1+16];\n";
  EXPECT_EQ(joined_in(pair + load(24)), Offsets{24});
  EXPECT_EQ(joined_in(pair + load(20)), Offsets{20});
  EXPECT_EQ(joined_in(pair + load(32)), Offsets{});
}

TEST(Vectors, TwoDoublesAreOneLoad) {
  EXPECT_EQ(joined_in("ld.shared.f64 %fd0, [%r1+32];\nld.shared.f64 %fd1, [%r1+40];\n"),
            Offsets{40});
}

TEST(Vectors, WordsWhoseAlignmentNobodyKnowsStay) {
  const std::string odd = "mad.lo.s32 %r4, %r0, 68, %r2;\n";  // rows of 17 words
  EXPECT_EQ(joined_in(odd + load(0, "%r4") + load(4, "%r4")), Offsets{});
  const std::string even = "mad.lo.s32 %r4, %r0, 72, %r2;\n";  // of 18
  EXPECT_EQ(joined_in(even + load(0, "%r4") + load(4, "%r4") + load(8, "%r4")), Offsets{4});
}

TEST(Vectors, APointerThatGoesOnByWholeVectorsStaysAligned) {
  const auto walk = [](int step) {
    return "mov.u32 %r4, %r2;\nLOOP:\n" + load(0, "%r4") + load(4, "%r4") + "add.s32 %r4, %r4, " +
           std::to_string(step) + ";\nsetp.lt.u32 %p1, %r4, 4096;\n@%p1 bra LOOP;\n";
  };
  EXPECT_EQ(joined_in(walk(8)), Offsets{4});
  EXPECT_EQ(joined_in(walk(12)), Offsets{});
}

/// A loop whose pointer begins `ahead` bytes behind a whole vector, and goes on by one.
std::string walk_from(int ahead, const std::string& rounds) {
  return "mov.u32 %r5, " + rounds + ";\nadd.s32 %r4, %r1, " + std::to_string(ahead) + ";\nLOOP:\n" +
         load(-8, "%r4") + load(-4, "%r4") + load(0, "%r4") + load(4, "%r4") +
         "add.s32 %r4, %r4, 16;\nadd.s32 %r5, %r5, -1;\nsetp.ne.s32 %p1, %r5, 0;\n"
         "@%p1 bra LOOP;\n";
}

TEST(Vectors, ABaseBesideAWholeVectorIsAsGoodAsOneAtItWherePtxasRepeatsTheBody) {
  EXPECT_EQ(joined_in(walk_from(8, "4")), (Offsets{-4, 0, 4}));
  EXPECT_EQ(joined_in(walk_from(16, "4")), (Offsets{-4, 4}));
  EXPECT_EQ(joined_in(walk_from(4, "4")), (Offsets{0, 4}));
}

TEST(Vectors, ElsewhereOnlyWhatDividesItIsKnown) {
  EXPECT_EQ(joined_in(walk_from(8, "%ntid.x")), (Offsets{-4, 4}));
  EXPECT_EQ(joined_in(walk_from(4, "%ntid.x")), Offsets{});
}

TEST(Vectors, BitsThatAreMaskedAwayAreKnown) {
  const std::string masked = "and.b32 %r5, %r1, 4080;\nor.b32 %r4, %r5, 8;\n";
  EXPECT_EQ(joined_in(masked + load(-8, "%r4") + load(-4, "%r4") + load(0, "%r4")),
            (Offsets{-4, 0}));
}

TEST(Vectors, AStoreOrABarrierBetweenKeepsThemApart) {
  EXPECT_EQ(joined_in(load(0) + "st.shared.f32 [%r2], %f1;\n" + load(4)), Offsets{});
  EXPECT_EQ(joined_in(load(0) + "bar.sync 0;\n" + load(4)), Offsets{});
  EXPECT_EQ(joined_in(load(0) + "st.global.f32 [%rd0], %f1;\n" + load(4)), Offsets{4});
}

TEST(Vectors, AnotherValueOfTheBaseIsAnotherPlace) {
  EXPECT_EQ(joined_in(load(0) + "add.s32 %r1, %r1, 64;\n" + load(4)), Offsets{});
}

}  // namespace
}  // namespace membound::vgpu::program
