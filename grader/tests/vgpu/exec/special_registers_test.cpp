// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Special registers say what they say on the GPU that is imitated, and the same whoever looks on:
/// no kernel learns from them how it is run.
#include <gmock/gmock.h>

#include <set>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

using testing::ElementsAre;

/// The first thread of each block stores `name` to out[block].
std::string kernel_that_tells(const std::string& name, const std::string& variables = "") {
  return ".version 9.0\n.target sm_90\n.address_size 64\n.extern .shared .align 4 .b8 dynamic[];\n"
         ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred "
         "%p;\n" +
         variables +
         "ld.param.u64 %rd0, [out];\nmov.u32 %r0, %ctaid.x;\nmul.wide.u32 %rd1, %r0, 4;\n"
         "add.s64 %rd2, %rd0, %rd1;\nmov.u32 %r2, %tid.x;\nsetp.ne.u32 %p, %r2, 0;\n"
         "@%p ret;\nmov.u32 %r1, " +
         name + ";\nst.global.u32 [%rd2], %r1;\nret;\n}\n";
}

/// What each block is told, where `change` changes how the launch is run.
template <typename Change>
std::vector<std::uint32_t> told(const std::string& ptx, std::uint32_t blocks, std::uint32_t threads,
                                Change change) {
  Machine machine(ptx);
  const std::uint64_t out = machine.upload(std::vector<std::uint32_t>(blocks, 0xABCDu));
  change(machine.request());
  const LaunchReport report = machine.argument(out).run("k", {blocks, 1, 1}, {threads, 1, 1});
  EXPECT_FALSE(report.fault);
  return machine.download<std::uint32_t>(out, blocks);
}

std::vector<std::uint32_t> told(const std::string& name) {
  return told(kernel_that_tells(name), 1, 32, [](LaunchRequest& request) {
    request.registers = {
        .warps_per_sm = 48, .shared_unit_bytes = 128, .shared_reserved_bytes = 1024};
  });
}

TEST(SpecialRegisters, TellOfTheMachineThatIsImitated) {
  EXPECT_THAT(told("%nwarpid"), ElementsAre(48));
  EXPECT_THAT(told("%nsmid"), ElementsAre(132));
  EXPECT_THAT(told("%current_graph_exec"), ElementsAre(0)) << "no graph that a device launches";
}

TEST(SpecialRegisters, SharedMemoryIsGivenInWholeUnits) {
  const std::string with_static = ".shared .align 4 .b8 fixed[100];\nmov.u32 %r3, fixed;\n";
  const auto sizes = [&](const std::string& name) {
    return told(kernel_that_tells(name, with_static), 1, 32, [](LaunchRequest& request) {
      request.registers.shared_unit_bytes = 256;
      request.dynamic_shared_bytes = 500;
    });
  };
  EXPECT_THAT(sizes("%dynamic_smem_size"), ElementsAre(500));
  EXPECT_THAT(sizes("%total_smem_size"), ElementsAre(768)) << "112 and 500 bytes, in units of 256";
  EXPECT_THAT(sizes("%aggr_smem_size"), ElementsAre(768 + 1024)) << "what the system takes as well";
}

TEST(SpecialRegisters, WarpsAreNumberedOnTheirMultiprocessor) {
  const auto ids = told(kernel_that_tells("%warpid"), 12, 64, [](LaunchRequest& request) {
    request.sm_count = 3;
    request.caches.resident_blocks_per_sm = 2;
  });
  EXPECT_THAT(ids, ElementsAre(0, 0, 0, 2, 2, 2, 0, 0, 0, 2, 2, 2));
}

TEST(SpecialRegisters, LaunchesAreNumbered) {
  const auto number = told(kernel_that_tells("%gridid"), 1, 32,
                           [](LaunchRequest& request) { request.number = 17; });
  EXPECT_THAT(number, ElementsAre(17));
}

TEST(SpecialRegisters, TellNothingOfHowALaunchIsRun) {
  for (const char* name : {"%smid", "%warpid", "%nwarpid", "%total_smem_size", "%lanemask_gt"}) {
    const std::string ptx = kernel_that_tells(name);
    const auto plain = told(ptx, 300, 64, [](LaunchRequest&) {});
    EXPECT_EQ(told(ptx, 300, 64,
                   [](LaunchRequest& request) {
                     request.checks.memcheck = request.checks.racecheck = true;
                   }),
              plain)
        << name << " where checkers look on";
    EXPECT_EQ(told(ptx, 300, 64,
                   [](LaunchRequest& request) {
                     request.shuffle_seed = 5;
                     request.scheduling = Scheduling::kLockstep;
                   }),
              plain)
        << name << " in another order";
    EXPECT_EQ(told(ptx, 300, 64, [](LaunchRequest& request) { request.counts = false; }), plain)
        << name << " where nothing is counted";
  }
}

TEST(ActiveMask, IsAllLanesUnlessTurnsAreDrawn) {
  const std::string ptx = kernel_that_tells("%r3", "activemask.b32 %r3;\n");
  EXPECT_THAT(told(ptx, 4, 64, [](LaunchRequest&) {}), testing::Each(0xFFFFFFFFu));
  std::set<std::uint32_t> masks;
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    for (const std::uint32_t mask :
         told(ptx, 4, 64, [seed](LaunchRequest& request) { request.warp_order_seed = seed; }))
      masks.insert(mask);
  EXPECT_GT(masks.size(), 2u) << "a GPU promises nobody that lanes come together";
}

}  // namespace
}  // namespace membound::vgpu::exec
