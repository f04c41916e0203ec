// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loads and stores of shared memory as the machine code has them are counted beside what the PTX
/// says.
#include <gtest/gtest.h>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"
#include "grader/vgpu/program/machine_accesses.hpp"

namespace membound::vgpu::exec {
namespace {

using program::AccessesFrom;
using program::MachineCode;
using program::SharedAccess;

/// Four neighbouring words that all threads read, in lines 9 to 12, and a thread's own in line 15,
/// four rounds of a loop that line 18 closes.
constexpr const char* kSum = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .pred %p<2>; .reg .b32 %r<16>;
  .shared .align 16 .b8 words[1024];
  mov.u32 %r0, %tid.x;
  mov.u32 %r9, words;
  ld.shared.u32 %r1, [words+4];
  ld.shared.u32 %r2, [words];
  ld.shared.u32 %r3, [words+8];
  ld.shared.u32 %r4, [words+12];
  shl.b32 %r5, %r0, 3;
  mov.u32 %r6, 0;
L:ld.shared.u32 %r7, [%r5];
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p0, %r6, 4;
  @%p0 bra L;
  ret;
})";
constexpr std::uint32_t kFirst = 9, kOwn = 15, kBack = 18;

MachineCode machine_code(std::vector<SharedAccess> loads, bool has_lines = true) {
  return {"k", has_lines, std::move(loads), {kBack}};
}

struct Counted {
  std::uint64_t requests, wavefronts, ideal, bytes;
  friend bool operator==(const Counted&, const Counted&) = default;
  friend void PrintTo(const Counted& c, std::ostream* out) {
    *out << c.requests << " requests, " << c.wavefronts << " wavefronts, ideal " << c.ideal << ", "
         << c.bytes << " bytes";
  }
};
/// 4 words read by all, then 4 times 32 words, two lanes of a bank.
constexpr Counted kAsPtx = {4 + 4, 4 + 4 * 2, 4 + 4, 4 * 4 + 4 * 128};

struct Outcome {
  Counted machine, ptx;
  AccessesFrom from;
};

Outcome run_with(const std::vector<MachineCode>& code) {
  Machine machine(kSum);
  const std::string_view names[] = {"k"};
  program::take_machine_accesses(machine.program(), names, code);
  const LaunchReport report = machine.run("k", {1, 1, 1}, {32, 1, 1});
  EXPECT_FALSE(report.fault);
  const counters::Counters& c = report.counters.totals;
  return {{c.shared_load_requests, c.shared_load_wavefronts, c.shared_load_ideal_wavefronts,
           c.shared_bytes},
          {c.ptx_shared_load_requests, c.ptx_shared_load_wavefronts,
           c.ptx_shared_load_ideal_wavefronts, kAsPtx.bytes},
          *program::shared_accesses_from(machine.program(), *machine.program().find_kernel("k"))};
}

TEST(IssuedAccesses, WithoutMachineCodeAreThoseOfThePtx) {
  const Outcome outcome = run_with({});
  EXPECT_EQ(outcome.machine, kAsPtx);
  EXPECT_EQ(outcome.ptx, kAsPtx);
  EXPECT_EQ(outcome.from, AccessesFrom::kPtx);
}

TEST(IssuedAccesses, AJoinedLoadIsOneFromWhereItsBytesBegin) {
  const Outcome outcome = run_with({machine_code({{kFirst, 16}, {kOwn, 4, {kBack}}})});
  EXPECT_EQ(outcome.machine, (Counted{1 + 4, 2 + 4 * 2, 2 + 4, 16 + 4 * 128}));
  EXPECT_EQ(outcome.ptx, kAsPtx) << "the clock and bars go by these";
  EXPECT_EQ(outcome.from, AccessesFrom::kMachineCode);
}

TEST(IssuedAccesses, ADroppedLoadIsNone) {
  const Outcome outcome =
      run_with({machine_code({{kFirst, 4}, {kFirst + 2, 4}, {kFirst + 3, 4}, {kOwn, 4, {kBack}}})});
  EXPECT_EQ(outcome.machine, (Counted{3 + 4, 3 + 4 * 2, 3 + 4, 3 * 4 + 4 * 128}));
}

TEST(IssuedAccesses, CopiesOfAnUnrolledLoopAreTheLoadOfEachRound) {
  const Outcome outcome =
      run_with({machine_code({{kFirst, 16}, {kOwn, 4, {kBack}}, {kOwn, 4, {kBack}}, {kOwn, 4}})});
  EXPECT_EQ(outcome.machine.requests, 1u + 4);
  EXPECT_EQ(outcome.from, AccessesFrom::kMachineCode);
}

TEST(IssuedAccesses, WhatIsNotClearIsCountedAsPtxHasIt) {
  const std::vector<MachineCode> unclear[] = {
      {machine_code({{kFirst, 16}, {kOwn, 4}})},                          // moved out of its loop
      {machine_code({{kFirst, 16}, {kOwn, 4, {kBack}}, {kOwn, 16}})},     // of two widths
      {machine_code({{kFirst, 2}, {kOwn, 4, {kBack}}})},                  // narrower than it was
      {machine_code({{kFirst, 16}, {kOwn, 4, {kBack}}, {kOwn + 1, 4}})},  // from no load's line
  };
  for (const std::vector<MachineCode>& code : unclear) {
    const Outcome outcome = run_with(code);
    EXPECT_EQ(outcome.machine, kAsPtx);
    EXPECT_EQ(outcome.from, AccessesFrom::kPtx);
  }
}

TEST(IssuedAccesses, WithoutLinesTheVectorsAreHeldAgainstTheWidths) {
  EXPECT_EQ(run_with({machine_code({{0, 16}, {0, 4}}, false)}).machine.requests, 1u + 4);
  EXPECT_EQ(run_with({machine_code({{0, 16}, {0, 4}, {0, 16}, {0, 4}}, false)}).machine.requests,
            1u + 4)
      << "copies of both";
  EXPECT_EQ(run_with({machine_code({{0, 8}, {0, 8}, {0, 4}}, false)}).from, AccessesFrom::kPtx);
}

/// Two halves of 8 bytes a thread, lines 9 and 10.
constexpr const char* kStores = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .b32 %r<4>;
  .shared .align 16 .b8 words[1024];
  mov.u32 %r0, %tid.x;
  shl.b32 %r1, %r0, 3;
  st.shared.u32 [%r1], %r0;
  st.shared.u32 [%r1+4], %r0;
  ret;
})";

TEST(IssuedAccesses, StoresAreJoinedToo) {
  Machine machine(kStores);
  const std::string_view names[] = {"k"};
  const MachineCode code[] = {{"k", true, {{kFirst, 8, {}, true}}, {}}};
  program::take_machine_accesses(machine.program(), names, code);
  const counters::Counters c = machine.run("k", {1, 1, 1}, {32, 1, 1}).counters.totals;
  EXPECT_EQ(c.shared_store_requests, 1u);
  EXPECT_EQ(c.shared_store_wavefronts, 2u);
  EXPECT_EQ(c.shared_wavefronts, 2u);
  EXPECT_EQ(c.shared_bytes, 256u);
  EXPECT_EQ(c.ptx_shared_store_requests, 2u);
  EXPECT_EQ(c.ptx_shared_store_wavefronts, 4u) << "two lanes of a bank, twice";
}

/// 32 lanes add to words that lie so many bytes apart.
std::uint64_t wavefronts_of_additions(const std::string& value, const std::string& apart) {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .b32 %r<8>;
  .shared .align 16 .b8 words[8192];
  mov.u32 %r0, %tid.x;
  mul.lo.u32 %r1, %r0, )" + apart +
                           R"(;
  and.b32 %r1, %r1, 255;
  mov.u32 %r2, words;
  add.u32 %r2, %r2, %r1;
  atom.shared.add.u32 %r3, [%r2], )" +
                           value + ";\n  ret;\n}\n";
  const LaunchReport report = Machine(text).run("k", {1, 1, 1}, {32, 1, 1});
  EXPECT_FALSE(report.fault);
  return report.counters.totals.shared_atomic_wavefronts;
}

// grader/gpu_truth/profiler/shared_increments.cu has what a GPU says.
TEST(SharedIncrements, LanesOfOneWordPassTogetherWhereTheCodeAddsOne) {
  EXPECT_EQ(wavefronts_of_additions("1", "128"), 2u) << "two words of one bank";
  EXPECT_EQ(wavefronts_of_additions("2", "128"), 32u);
  EXPECT_EQ(wavefronts_of_additions("%r0", "128"), 32u);
}

}  // namespace
}  // namespace membound::vgpu::exec
