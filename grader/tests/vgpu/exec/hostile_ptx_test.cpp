// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// PTX that no compiler writes: what would reach memory of ours is a fault with a sentence, or an
/// error of the linker. Run under AddressSanitizer these say more than here.
#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

using testing::HasSubstr;

constexpr char kHeader[] = ".version 8.0\n.target sm_90\n.address_size 64\n";
constexpr char kRegisters[] =
    ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b128 %q<2>;\n"
    ".reg .f32 %f<9>; .shared .align 16 .b8 tile[256]; .local .align 16 .b8 frame[64];\n";

/// What a kernel of these instructions ends with, in a block of 64 threads.
LaunchReport run(const std::string& body, const std::string& before = "") {
  Machine machine(kHeader + before + ".visible .entry k(.param .u32 n)\n{\n" + kRegisters + body +
                  "\nret;\n}\n");
  machine.argument(7u);
  return machine.run("k", {1, 1, 1}, {64, 1, 1});
}

/// A function and a call of it through a pointer with a prototype of another layout.
std::string call_as(const std::string& prototype, const std::string& call) {
  return "mov.u64 %rd1, f;\n" + prototype + call;
}
constexpr char kCallee[] = ".func (.param .b32 out) f(.param .b64 in)\n{\nret;\n}\n";

TEST(HostilePtx, ACallThroughAPointerCastToLargerParametersIsAFault) {
  const LaunchReport report =
      run(call_as("shape: .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[4096]);\n",
                  ".param .b32 out; .param .align 8 .b8 in[4096];\ncall (out), %rd1, (in), shape;"),
          kCallee);
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::kIllegalAddress);
  EXPECT_THAT(report.fault->text,
              HasSubstr("the call has 1 result and 1 parameter (4100 bytes in "
                        "all), but 'f' has 1 result and 1 parameter (12 bytes"));
  EXPECT_THAT(report.fault->text, HasSubstr("the function pointer was cast to another type"));
}

TEST(HostilePtx, ACallOfTheSameLayoutGoesThrough) {
  EXPECT_FALSE(run(call_as("shape: .callprototype (.param .b32 _) _ (.param .b64 _);\n",
                           ".param .b32 out; .param .b64 in;\ncall (out), %rd1, (in), shape;"),
                   kCallee)
                   .fault);
  EXPECT_FALSE(run(call_as("shape: .callprototype (.param .b32 _) _ (.param .b64 _);\n",
                           ".param .b64 in;\ncall (_), %rd1, (in), shape;"),
                   kCallee)
                   .fault);
}

TEST(HostilePtx, ACallOfAKernelIsAFault) {
  const LaunchReport report =
      run("mov.u64 %rd1, k;\nshape: .callprototype _ ();\ncall %rd1, shape;");
  ASSERT_TRUE(report.fault);
  EXPECT_THAT(report.fault->text, HasSubstr("call of 'k', which is a kernel"));
}

TEST(HostilePtx, AMbarrierThatWrapsAroundIsOutsideSharedMemory) {
  for (const char* arrive :
       {"cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];",
        "cp.async.mbarrier.arrive.shared.b64 [%r1];", "mbarrier.arrive.shared.b64 %rd1, [%r1];"}) {
    const LaunchReport report = run(std::string("mov.u32 %r1, 0xfffffffc;\n") + arrive);
    ASSERT_TRUE(report.fault) << arrive;
    EXPECT_EQ(report.fault->kind, FaultKind::kIllegalAddress) << arrive;
  }
}

TEST(HostilePtx, ABarrierThatABlockDoesNotHaveIsAFault) {
  const LaunchReport report = run("bar.sync 4111;");
  ASSERT_TRUE(report.fault);
  EXPECT_THAT(report.fault->text, HasSubstr("barrier 4111: a block has the barriers 0 to 15"));
}

TEST(HostilePtx, ABranchBeyondItsListIsAFault) {
  const LaunchReport report =
      run("list: .branchtargets here, there;\nmov.u32 %r1, 2;\nbrx.idx %r1, list;\nhere:\nthere:");
  ASSERT_TRUE(report.fault);
  EXPECT_THAT(report.fault->text, HasSubstr("branch to entry 2 of a list of 2 labels"));
}

TEST(HostilePtx, AParameterBeforeTheFirstIsZero) {
  Machine machine(std::string(kHeader) +
                  ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
                  "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [out-4];\n"
                  "st.global.u32 [%rd1], %r1;\nret;\n}\n");
  const auto out = machine.upload(std::vector<std::uint32_t>{5});
  machine.argument(out);
  EXPECT_FALSE(machine.run("k", {1, 1, 1}, {32, 1, 1}).fault);
  EXPECT_EQ(machine.download<std::uint32_t>(out, 1)[0], 0u);
}

std::string repeated(const char* element, int times) {
  std::string all = element;
  for (int i = 1; i < times; ++i) all += std::string(", ") + element;
  return all;
}

/// Forms that have no meaning: none is executed, whatever its registers hold.
TEST(HostilePtx, OperandsOfAnotherKindOrSizeAreNoInstruction) {
  const std::string cases[] = {
      // Sizes that storage of ours would have to follow.
      "cp.async.ca.shared.global [tile], [%rd1], 240;",
      "cp.async.ca.shared.global [tile], [%rd1], 272;",
      "cp.async.cg.shared.global [tile], [%rd1], 8;",
      "ld.local.b128 %rd1, [frame];",
      "ld.local.b128 %r1, [frame];",
      "st.local.b32 [frame+60], %q1;",
      "suld.b.2d.b128.trap %q1, [%rd1, {%r1, %r2}];",
      // Vectors of none, and of as many as fit a byte again.
      "mov.b32 %r1, {};",
      "mov.b32 {" + repeated("%h1", 258) + "}, %r1;",
      "mov.b32 %r1, {" + repeated("%h1", 258) + "};",
      "ld.local.v2.u32 {}, [frame];",
      "st.local.v2.u32 [frame], {};",
      "red.global.add.u32 [%rd1], {};",
      // Predicates for data and data for predicates.
      "setp.eq.u32 %r8, %r1, %r2;",
      "add.u32 %p8, %r1, %r2;",
      "add.u32 %r1, %p8, %r2;",
      "selp.b32 %r1, %r2, %r3, %r4;",
      "mov.pred %p1, %r8;",
      "mov.b32 %r1, %p8;",
      "@%r8 add.u32 %r1, %r1, %r2;",
      "@%r8 bar.sync 0;",
      "bar.red.and.pred %r8, 0, %p1;",
      "bar.red.popc.u32 %p8, 0, %p1;",
      "bar.sync %p8;",
      "vote.sync.all.pred %r8, %p1, -1;",
      "shfl.sync.down.b32 %r1|%r2, %r3, 1, 31, -1;",
      "isspacep.global %r8, %rd1;",
      "testp.finite.f32 %r8, %f1;",
      "ld.global.u32 %p8, [%rd1];",
      "ld.global.u32 %r1, [%p8];",
      "ld.global.u32 %r1, [%q1];",
      "ld.param.u32 %p8, [n];",
      "txq.width.b32 %r1, [%p8];",
      "cvt.u32.pred %r1, %p8;",
      "selp.pred %r1, %p1, %p2, %p3;",
      "add.pred %p1, %p2, %p3;",
      "cp.async.ca.shared.global [%p8], [%rd1], 4;",
      // Destinations that are none.
      "mov.u32 5, %r1;",
      "mov.u32 %tid.x, %r1;",
      // Lists of labels and of functions.
      "list: .calltargets f;\nmov.u32 %r1, 0;\nbrx.idx %r1, list;",
      "list: .branchtargets here;\n.param .b32 out; .param .b64 in;\nmov.u64 %rd1, f;\n"
      "call (out), %rd1, (in), list;\nhere:",
      // Arguments that are smaller than what is passed.
      ".param .b32 out; .param .b32 in;\ncall (out), f, (in);",
      ".param .b32 out;\ncall (out), f, (%p1);",
  };
  for (const std::string& instruction : cases) {
    const LaunchReport report = run(instruction, kCallee);
    ASSERT_TRUE(report.fault) << instruction;
    EXPECT_EQ(report.fault->kind, FaultKind::kUnsupportedInstruction) << instruction;
  }
}

/// An operand that is not there still has a place, where its kind has one.
TEST(HostilePtx, MissingPredicatesAreNoRegisters) {
  for (const char* instruction :
       {"isspacep.global _, %rd1;", "testp.finite.f32 _, %f1;", "mov.pred _, %p1;",
        "bar.red.and.pred _, 0, %p1;", "bar.red.popc.u32 _, 0, %p1;",
        "setp.eq.u32 _|%p1, %r1, %r2;", "selp.b32 %r1, %r2, %r3;", "setp.eq.and.u32 %p1, %r1, %r2;",
        "and.pred _, %p1, %p2;", "vote.sync.all.pred _, %p1, -1;",
        "shfl.sync.down.b32 _|_, %r3, 1, 31, -1;"})
    EXPECT_FALSE(run(instruction).fault) << instruction;
}

/// Each lane leaves the others at a branch of its own, and waits where they meet again.
TEST(HostilePtx, LockstepHoldsAsManyMeetingPlacesAsLanes) {
  std::string body = "mov.u32 %r1, %laneid;\n", ends;
  for (int lane = 0; lane < 31; ++lane) {
    const std::string number = std::to_string(lane);
    body += "setp.eq.u32 %p1, %r1, " + number + ";\n@%p1 bra meet" + number + ";\n";
    ends = "add.u32 %r2, %r2, 1;\nmeet" + number + ":\n" + ends;
    ends = "add.u32 %r3, %r3, 1;\n" + ends;
  }
  std::string reversed;
  for (int lane = 30; lane >= 0; --lane)
    reversed += "add.u32 %r2, %r2, 1;\nmeet" + std::to_string(lane) + ":\n";
  Machine machine(kHeader + std::string(".visible .entry k()\n{\n") + kRegisters + body + reversed +
                  "ret;\n}\n");
  machine.request().scheduling = Scheduling::kLockstep;
  EXPECT_FALSE(machine.run("k", {1, 1, 1}, {32, 1, 1}).fault);
}

/// Two warps for ever at a barrier, at a call, at a branch through a list, and apart.
std::vector<std::string> endless_bodies() {
  return {
      ".loc 1 12 0\nagain:\nbar.sync 0;\n.loc 1 14 0\nbra again;",
      ".loc 1 12 0\nagain:\n.param .b32 out; .param .b64 in;\ncall (out), f, (in);\n"
      ".loc 1 14 0\nbra again;",
      "list: .branchtargets again;\n.loc 1 12 0\nmov.u32 %r1, 0;\nagain:\n.loc 1 13 0\n"
      "add.u32 %r1, %r1, 0;\n.loc 1 14 0\nadd.u32 %r2, %r1, 0;\nbrx.idx %r1, list;",
      "mov.u32 %r1, %laneid;\nsetp.lt.u32 %p1, %r1, 9;\n.loc 1 12 0\nagain:\nnot.pred %p1, %p1;\n"
      "@%p1 bra again;\n.loc 1 14 0\nbra again;",
      ".loc 1 12 0\nagain:\nnanosleep.u32 5;\n.loc 1 14 0\nbra again;",
      // As nvcc writes an unsigned k >= 0 of a tree: the barrier is in the loop.
      "mov.u32 %r1, 64;\n.loc 1 12 0\nagain:\nshr.u32 %r1, %r1, 1;\nbar.sync 0;\n"
      "setp.ge.u32 %p1, %r1, 0;\n.loc 1 14 0\n@%p1 bra again;",
  };
}

/// A kernel of such a body, in tree.cu.
Machine endless(const std::string& body) {
  return Machine(std::string(kHeader) +
                 ".file 1 \"tree.cu\"\n.func (.param .b32 out) f(.param .b64 in)\n{\n.loc 1 5 0\n"
                 "ret;\n}\n.visible .entry k()\n{\n" +
                 kRegisters + body + "\nret;\n}\n");
}

TEST(EndlessCode, EndsAtTheStepLimitWithItsLoop) {
  for (const Scheduling scheduling : {Scheduling::kIndependent, Scheduling::kLockstep}) {
    for (const std::string& body : endless_bodies()) {
      Machine machine = endless(body);
      machine.request().limits.warp_instructions = 300000;
      machine.request().scheduling = scheduling;
      const LaunchReport report = machine.run("k", {1, 1, 1}, {64, 1, 1});
      ASSERT_TRUE(report.fault) << body;
      EXPECT_EQ(report.fault->kind, FaultKind::kStepLimit) << body;
      EXPECT_THAT(
          report.fault->text,
          testing::ContainsRegex("the loop (in line 12|of lines 1[23] to 14) may never end"))
          << body;
      EXPECT_EQ(report.fault->place.file, "tree.cu");
      EXPECT_LT(report.warp_instructions, 600000u) << body;
    }
  }
}

/// What an endless loop does, and how many instructions of warps of it the limit may let through.
struct EndlessLoop {
  const char* what;
  const char* body;
  std::uint64_t most_instructions;
};

/// The limit stands for the host's time: what takes long counts as more. In instructions, which are
/// the same on every machine.
TEST(EndlessCode, CostsAboutTheSameWhateverTheLoopDoes) {
  constexpr std::uint64_t kLimit = 300'000, kLookUp = 1 << 16;
  // What is executed until somebody looks up again comes on top.
  constexpr std::uint64_t kPlain = kLimit + 2 * kLookUp;
  constexpr std::uint64_t kTurns = 3 * kLookUp;  // of a short loop's time slice
  const EndlessLoop cases[] = {
      {"loads and stores", "ld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1+4], %r1;", kPlain},
      {"fences", "st.volatile.global.u32 [%rd1], %r1;\nmembar.gl;", kPlain},
      {"waits", "ld.volatile.global.u32 %r1, [%rd1];", kPlain},
      {"barriers", "st.shared.u32 [tile], %r1;\nbar.sync 0;", kPlain},
      {"local memory", "st.local.u32 [frame], %r1;", kPlain},
      {"shuffles", "shfl.sync.bfly.b32 %r1, %r1, 1, 31, 0xffffffff;", kPlain},
      {"calls", ".param .b32 out; .param .b64 in;\ncall (out), f, (in);", kPlain},
      {"atomics", "atom.global.add.u32 %r1, [%rd1], 1;", kPlain / 10},
      {"reductions", "red.global.add.u32 [%rd1], 1;", kTurns},
      {"atomics on shared memory", "atom.shared.cas.b32 %r1, [tile], 0, 1;", kPlain / 10},
      {"printf",
       ".param .b64 a; .param .b64 b; .param .b32 out;\nst.param.b64 [a], %rd2;\n"
       "st.param.b64 [b], %rd3;\ncall (out), vprintf, (a, b);",
       kPlain / 20},
      {"malloc",
       ".param .b64 size; .param .b64 place;\nst.param.b64 [size], %rd4;\n"
       "call (place), malloc, (size);",
       kPlain / 20},
  };
  const std::string before =
      std::string(kHeader) + ".file 1 \"loops.cu\"\n.global .align 8 .b8 words[256];\n" +
      ".global .align 1 .b8 text[4] = {97, 98, 10, 0};\n" +
      ".func (.param .b32 out) f(.param .b64 in)\n{\nret;\n}\n" +
      ".extern .func (.param .b32 out) vprintf(.param .b64 a, .param .b64 b);\n" +
      ".extern .func (.param .b64 place) malloc(.param .b64 size);\n" + ".visible .entry k()\n{\n" +
      kRegisters +
      "mov.u64 %rd1, words;\nmov.u64 %rd2, text;\nmov.u64 %rd3, 0;\nmov.u64 %rd4, 16;\n";
  for (const EndlessLoop& loop : cases) {
    SCOPED_TRACE(loop.what);
    Machine machine(before + ".loc 1 12 0\nagain:\n{\n" + loop.body +
                    "\n}\n.loc 1 14 0\nbra again;\n}\n");
    machine.request().limits.warp_instructions = kLimit;
    const LaunchReport report = machine.run("k", {1, 1, 1}, {64, 1, 1});
    ASSERT_TRUE(report.fault);
    EXPECT_EQ(report.fault->kind, FaultKind::kStepLimit);
    EXPECT_THAT(report.fault->text, HasSubstr("the loop of lines 12 to 14 may never end"));
    EXPECT_LT(report.warp_instructions, loop.most_instructions);
    const bool counts_as_more = loop.most_instructions < kPlain;
    EXPECT_EQ(report.fault->text.find("counted as more") != std::string::npos, counts_as_more);
  }
}

TEST(EndlessCode, HearsThatItIsToStop) {
  for (const std::string& body : endless_bodies()) {
    Machine machine = endless(body);
    const std::atomic<bool> stop{true};
    machine.request().stop = &stop;
    const LaunchReport report = machine.run("k", {1, 1, 1}, {64, 1, 1});
    ASSERT_TRUE(report.fault) << body;
    EXPECT_EQ(report.fault->kind, FaultKind::kStopped) << body;
  }
}

/// A turn has as many instructions whether the loop is short or long.
TEST(EndlessCode, IsLookedAtAsOftenInALongLoop) {
  constexpr std::uint64_t kLimit = 300'000, kMostOfATurn = 6'000'000;
  std::string body = "again:\n";
  for (int i = 0; i < 1000; ++i) body += "add.u32 %r1, %r1, %r2;\n";
  Machine machine = endless(body + "bra again;");
  machine.request().limits.warp_instructions = kLimit;
  const LaunchReport report = machine.run("k", {1, 1, 1}, {32, 1, 1});
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::kStepLimit);
  EXPECT_LT(report.warp_instructions, kLimit + kMostOfATurn);
}

/// No instruction of 32 lanes takes the host less than a nanosecond, so by that clock a launch ends
/// before it has executed as many as its limit; without a clock, behind it.
TEST(EndlessCode, EndsByTheHostsClockWhereTheLimitHasOne) {
  constexpr std::uint64_t kLimit = 20'000'000;
  for (const std::uint32_t ns : {0u, 1u}) {
    Machine machine =
        endless(".loc 1 12 0\nagain:\nst.volatile.shared.u32 [tile], %r1;\nbra again;");
    machine.request().limits.warp_instructions = kLimit;
    machine.request().limits.cpu_ns_per_instruction = ns;
    const LaunchReport report = machine.run("k", {1, 1, 1}, {32, 1, 1});
    ASSERT_TRUE(report.fault);
    EXPECT_EQ(report.fault->kind, FaultKind::kStepLimit);
    EXPECT_THAT(report.fault->text, HasSubstr("the loop in line 12 may never end"));
    EXPECT_EQ(report.warp_instructions < kLimit, ns != 0);
    EXPECT_EQ(report.fault->text.find("counted as more") != std::string::npos, ns != 0);
  }
}

/// f(n) calls f(n - 1): its calls take 16 bytes each and what its array has.
std::string recursion(const std::string& array) {
  return ".func f(.param .b32 n)\n{\n.reg .b32 %r<3>; .reg .pred %p<2>;\n" + array +
         "ld.param.u32 %r1, [n];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 ret;\nsub.u32 %r2, %r1, 1;\n"
         "{\n.param .b32 next;\nst.param.b32 [next], %r2;\ncall f, (next);\n}\nret;\n}\n"
         ".visible .entry k(.param .u32 n)\n{\n.reg .b32 %r<2>;\nld.param.u32 %r1, [n];\n"
         ".param .b32 first;\nst.param.b32 [first], %r1;\ncall f, (first);\nret;\n}\n";
}

std::optional<Fault> recurse(const std::string& array, std::uint32_t calls, std::uint64_t stack) {
  Machine machine(kHeader + recursion(array));
  machine.request().limits.stack_bytes = stack;
  return machine.argument(calls).run("k", {1, 1, 1}, {32, 1, 1}).fault;
}

TEST(Stack, HoldsWhatTheLimitSays) {
  EXPECT_FALSE(recurse("", 50, 1024));
  const std::optional<Fault> fault = recurse("", 4000, 1024);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::kStackOverflow);
  EXPECT_THAT(fault->text, HasSubstr("64 calls deep: a thread's stack has 1024 bytes"));
  EXPECT_THAT(fault->text, HasSubstr("cudaLimitStackSize"));
  EXPECT_FALSE(recurse("", 4000, 4001 * 16 + 16));
  EXPECT_FALSE(recurse("", 4000, 512 << 10));
}

TEST(Stack, OfAKernelWithoutRecursionIsKnownBefore) {
  EXPECT_FALSE(recurse(".local .b8 big[60000];\n", 0, 1024));
  EXPECT_TRUE(recurse(".local .b8 big[60000];\n", 1, 1024));
  EXPECT_FALSE(recurse(".local .b8 big[60000];\n", 3, 256 << 10));
}

TEST(HostilePtx, WhatNoGpuHasIsAnErrorOfTheProgram) {
  const std::string kernel = ".visible .entry k()\n{\n";
  const std::string cases[] = {
      ".file 4294967295 \"a.cu\"\n" + kernel + "ret;\n}\n",
      ".file 4000000000 \"a.cu\"\n" + kernel + "ret;\n}\n",
      kernel + ".local .b8 a[4294967295]; .local .b8 b[64];\nret;\n}\n",
      kernel + ".shared .b8 a[4294967295]; .shared .b8 b[64];\nret;\n}\n",
      ".shared .b8 a[4294967295];\n.shared .b8 b[64];\n" + kernel + "ret;\n}\n",
      ".func f(.param .b8 a[4294967295], .param .b8 b[64])\n{\nret;\n}\n" + kernel + "ret;\n}\n",
  };
  for (const std::string& text : cases) EXPECT_THROW(Machine{kHeader + text}, std::runtime_error);
}

/// Keeps what is printed.
class Console final : public DeviceCalls {
 public:
  bool print(std::string_view text) override { return said += text, true; }
  std::uint64_t allocate(std::uint64_t, const Place* /*where*/) override { return 0; }
  bool release(std::uint64_t) override { return false; }
  std::string said;
};

TEST(HostilePtx, AWidthThatNoLibraryPadsIsCut) {
  for (const std::string format : {"%99999999999d", "%.99999999999d", "%-2000000000d", "%0999d"}) {
    std::string bytes;
    for (const char c : format) bytes += std::to_string(int{c}) + ", ";
    Machine machine(kHeader +
                    std::string(".extern .func (.param .b32 out) vprintf(.param .b64 a, "
                                ".param .b64 b);\n.global .align 8 .b8 format[] = {") +
                    bytes + "0};\n.global .align 8 .b8 values[8];\n.visible .entry k()\n{\n" +
                    ".reg .b64 %rd<3>;\n.param .b32 out; .param .b64 a; .param .b64 b;\n"
                    "mov.u64 %rd1, format;\nmov.u64 %rd2, values;\nst.param.b64 [a], %rd1;\n"
                    "st.param.b64 [b], %rd2;\ncall (out), vprintf, (a, b);\nret;\n}\n");
    Console console;
    machine.request().device_calls = &console;
    EXPECT_FALSE(machine.run("k", {1, 1, 1}, {1, 1, 1}).fault);
    EXPECT_EQ(console.said.size(), 511u) << format;
  }
}

TEST(HostilePtx, LaunchBoundsMayMultiplyToNothing) {
  Machine machine(std::string(kHeader) +
                  ".visible .entry k()\n.maxntid 1024\n.minnctapersm 4194304\n{\nret;\n}\n");
  EXPECT_EQ(machine.program().find_kernel("k")->register_count, 16u);
}

/// The estimate of a kernel that keeps 200 numbers at the same time.
std::uint32_t registers_with(const std::string& bounds) {
  std::string body;
  for (int i = 0; i < 200; ++i)
    body += "ld.volatile.global.f32 %f" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) +
            "];\n";
  for (int i = 1; i < 200; ++i) body += "add.f32 %f0, %f0, %f" + std::to_string(i) + ";\n";
  // Used twice, so that they stay alive between.
  for (int i = 1; i < 200; ++i) body += "mul.f32 %f0, %f0, %f" + std::to_string(i) + ";\n";
  Machine machine(std::string(kHeader) + ".visible .entry k(.param .u64 p)\n" + bounds +
                  "{\n.reg .f32 %f<200>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n" + body +
                  "st.global.f32 [%rd1], %f0;\nret;\n}\n");
  return machine.program().find_kernel("k")->register_count;
}

TEST(LaunchBounds, AloneLeaveABlockOfTheirThreadsItsRegisters) {
  EXPECT_GT(registers_with(""), 128u);
  EXPECT_EQ(registers_with(".maxntid 512\n"), 128u);
  EXPECT_EQ(registers_with(".maxntid 256\n.minnctapersm 4\n"), 64u);
}

TEST(HostilePtx, AnArrayWithoutElementsIsCopiedAsNothing) {
  Machine machine(std::string(kHeader) +
                  ".global .align 16 .b8 g[0];\n.visible .entry k()\n{\n.reg .b64 %rd<2>;\n"
                  "mov.u64 %rd1, g;\nret;\n}\n");
  EXPECT_FALSE(machine.run("k", {1, 1, 1}, {32, 1, 1}).fault);
}

/// What tile holds after so many copies of 5 to it that nobody has waited for.
std::uint32_t after_copies(std::uint32_t count) {
  Machine machine(std::string(kHeader) +
                  ".visible .entry k(.param .u64 in, .param .u32 n)\n{\n.reg .b64 %rd<3>; "
                  ".reg .b32 %r<5>; .reg .pred %p<2>;\n.shared .align 4 .b8 tile[128];\n"
                  "ld.param.u64 %rd1, [in];\nld.param.u32 %r3, [n];\nmov.u32 %r1, 0;\n"
                  "st.shared.u32 [tile], %r1;\nagain:\n"
                  "cp.async.ca.shared.global [tile], [%rd1], 4;\nadd.u32 %r1, %r1, 1;\n"
                  "setp.lt.u32 %p1, %r1, %r3;\n@%p1 bra again;\nld.shared.u32 %r2, [tile];\n"
                  "st.global.u32 [%rd1+4], %r2;\nret;\n}\n");
  const auto in = machine.upload(std::vector<std::uint32_t>{5, 9});
  machine.argument(in).argument(count);
  EXPECT_FALSE(machine.run("k", {1, 1, 1}, {32, 1, 1}).fault);
  return machine.download<std::uint32_t>(in, 2)[1];
}

/// They are kept in memory of ours until they land: the oldest do where there are too many.
TEST(HostilePtx, CopiesNobodyWaitsForAreLandedInTheEnd) {
  EXPECT_EQ(after_copies(1), 0u);
  EXPECT_EQ(after_copies(5000), 5u);
}

}  // namespace
}  // namespace membound::vgpu::exec
