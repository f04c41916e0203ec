// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Of a kernel only what decides where its blocks store runs: the places are those of the whole
/// kernel, in fewer instructions, and blocks that go another way are told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "grader/tests/vgpu/exec/sampled_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr std::uint32_t kSliceBlocks = 100, kUnwritten = 0xABCD1234;

struct Shown {
  LaunchReport report;
  std::set<std::uint32_t> blocks;  ///< that stored all of their words, or would
  std::vector<std::uint32_t> words;
};

/// The copy with this body, of so many blocks: their slices with a step that is not 0.
Shown run_kernel(const std::string& body, std::uint64_t step, std::uint64_t count = kSliceBlocks) {
  Machine machine(copy_with(body));
  const std::size_t words = std::size_t{kSliceBlocks} * kSampleThreads;
  const auto in = machine.upload(std::vector<std::uint32_t>(words, 3));
  const auto out = machine.upload(std::vector<std::uint32_t>(words, kUnwritten));
  machine.request().only = BlockRange{0, count, 0, step};
  Shown shown;
  shown.report =
      machine.argument(in).argument(out).run("k", {kSliceBlocks, 1, 1}, {kSampleThreads, 1, 1});
  shown.words = machine.download<std::uint32_t>(out, words);
  constexpr std::uint64_t kBytes = kSampleThreads * 4;
  for (std::uint64_t i = 0;
       step != 0 && i < shown.report.slice.value_or(SliceFacts{}).stored.size(); ++i) {
    const std::uint64_t block = i * step % kSliceBlocks;
    const std::uint64_t sum = kBytes * (out + block * kBytes) + kBytes * (kBytes - 1) / 2;
    if (shown.report.slice->stored[i] == SliceFacts::Stored{kBytes, sum})
      shown.blocks.insert(static_cast<std::uint32_t>(block));
  }
  for (std::uint32_t b = 0; b < kSliceBlocks; ++b) {
    const auto first = shown.words.begin() + b * kSampleThreads;
    if (std::count(first, first + kSampleThreads, kUnwritten) == 0) shown.blocks.insert(b);
  }
  return shown;
}

/// Leaves the kernel in block 7 and in block 8.
constexpr const char* kLeaves = R"(
  and.b32 %r6, %r1, 1;
  sub.u32 %r7, %r1, 7;
  setp.lt.u32 %p2, %r7, 2;
  @%p2 ret;
)";
/// A hundred turns of which only their number decides anything.
constexpr const char* kLong = R"(
  mov.u32 %r5, 100;
TURN:
  mul.lo.u32 %r4, %r4, 5;
  mul.lo.u32 %r4, %r4, 7;
  mul.lo.u32 %r4, %r4, 5;
  mul.lo.u32 %r4, %r4, 7;
  mul.lo.u32 %r4, %r4, 5;
  mul.lo.u32 %r4, %r4, 7;
  sub.u32 %r5, %r5, 1;
  setp.gt.s32 %p1, %r5, 0;
  @%p1 bra TURN;
)";

TEST(ProgramSlice, StoresWhereTheKernelDoesInFewerInstructions) {
  const Shown whole = run_kernel(kLong, 0), slice = run_kernel(kLong, 1);
  EXPECT_THAT(slice.blocks, SizeIs(kSliceBlocks));
  EXPECT_EQ(slice.blocks, whole.blocks);
  EXPECT_THAT(slice.words, testing::Each(kUnwritten)) << "of several is told where they would";
  const Shown one = run_kernel(kLong, 1, 1);
  EXPECT_THAT(one.blocks, ElementsAre(0)) << "one alone does store";
  EXPECT_NE(one.words[0], whole.words[0]) << "but not what the kernel works out";
  EXPECT_LT(slice.report.warp_instructions, whole.report.warp_instructions / 2);
  ASSERT_TRUE(slice.report.slice);
  EXPECT_THAT(slice.report.slice->kinds, ElementsAre(0));
}

TEST(ProgramSlice, TellsABlockOfThoseThatGoAnotherWay) {
  const Shown slice = run_kernel(std::string(kLeaves) + kLong, 1);
  EXPECT_THAT(slice.blocks, SizeIs(kSliceBlocks - 2));
  EXPECT_FALSE(slice.blocks.contains(7) || slice.blocks.contains(8));
  ASSERT_TRUE(slice.report.slice);
  EXPECT_THAT(slice.report.slice->kinds, ElementsAre(0, 7));
}

TEST(ProgramSlice, TellsABlockThatStoresWithoutTheWork) {
  const Shown slice = run_kernel(R"(
  mov.u32 %r5, 100;
  setp.eq.u32 %p2, %r1, 42;
  @%p2 mov.u32 %r5, 1;
)" + std::string(kTurns),
                                 1);
  EXPECT_THAT(slice.blocks, SizeIs(kSliceBlocks));
  ASSERT_TRUE(slice.report.slice);
  EXPECT_THAT(slice.report.slice->kinds, ElementsAre(0, 42));
}

TEST(ProgramSlice, RunsBlocksThatLieAStepApart) {
  const Shown slice = run_kernel("", 33, 4);
  EXPECT_EQ(slice.blocks, (std::set<std::uint32_t>{0, 33, 66, 99}));
  EXPECT_EQ(run_kernel("", 67, 3).blocks, (std::set<std::uint32_t>{0, 67, 34})) << "round the end";
}

TEST(ProgramSlice, KeepsLoadsThatDecide) {
  // All words of the input are 3: with a 0 in its place each thread would leave.
  const Shown slice = run_kernel("setp.ne.u32 %p2, %r4, 3;\n@%p2 ret;\n", 1);
  EXPECT_THAT(slice.blocks, SizeIs(kSliceBlocks));
}

TEST(ProgramSlice, KeepsSharedMemoryAndItsBarriersWhereTheyDecide) {
  // Each thread hands the other warp's thread a word through shared memory.
  const std::string hand_over = R"(
  .shared .align 4 .b8 handed[256];
  mov.u32 %r8, handed;
  shl.b32 %r9, %r0, 2;
  add.u32 %r9, %r8, %r9;
  st.shared.u32 [%r9], %r4;
  bar.sync 0;
  xor.b32 %r10, %r0, 32;
  shl.b32 %r10, %r10, 2;
  add.u32 %r10, %r8, %r10;
  ld.shared.u32 %r11, [%r10];
)";
  const Shown decides = run_kernel(hand_over + "setp.ne.u32 %p2, %r11, 3;\n@%p2 ret;\n", 1);
  EXPECT_THAT(decides.blocks, SizeIs(kSliceBlocks));
  const Shown is_value = run_kernel(hand_over + "mov.u32 %r4, %r11;\n", 1);
  EXPECT_THAT(is_value.blocks, SizeIs(kSliceBlocks));
  EXPECT_LT(is_value.report.warp_instructions, decides.report.warp_instructions);
}

TEST(ProgramSlice, PassesOverWhatAnAtomicAdditionAdds) {
  const std::string red = std::string(kLong) + "red.global.add.u32 [%rd4], %r4;\n";
  // As nvcc writes it: nobody reads %r11.
  const std::string atom = std::string(kLong) + "atom.global.add.u32 %r11, [%rd4], %r4;\n";
  const Shown whole = run_kernel(atom, 0), slice = run_kernel(atom, 1);
  EXPECT_LT(slice.report.warp_instructions, whole.report.warp_instructions / 2);
  EXPECT_EQ(slice.report.warp_instructions, run_kernel(red, 1).report.warp_instructions);
}

TEST(ProgramSlice, IsNotRunWhereBlocksMayLearnFromEachOther) {
  const Shown slice =
      run_kernel("atom.global.add.u32 %r5, [%rd0], 1;\nadd.u32 %r4, %r4, %r5;\n", 1);
  EXPECT_EQ(slice.report.unsampled, "its blocks may learn from each other");
  EXPECT_TRUE(slice.blocks.empty());
}

}  // namespace
}  // namespace membound::vgpu::exec
