// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/policy/policy.hpp"

#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>

namespace membound::policy {
namespace {

/// A module with one kernel whose body is `body`, from line 7 of kernel.cu.
std::string module_with(const std::string& body, const std::string& before = "") {
  return ".version 8.0\n.target sm_90\n.address_size 64\n" + before +
         ".visible .entry stage()\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.reg .pred %p<2>;\n"
         ".loc 1 7 3\n" +
         body + "\nret;\n}\n.file 1 \"/course/kernel.cu\"\n";
}

std::vector<std::string> names(const std::string& ptx, const std::vector<std::string>& also = {}) {
  const auto breaches = check_ptx(ptx, also);
  EXPECT_TRUE(breaches) << base::to_string(breaches.error());
  std::vector<std::string> all;
  if (breaches)
    for (const Breach& breach : *breaches) all.push_back(breach.what);
  return all;
}

TEST(Policy, AllowsOrdinaryCode) {
  EXPECT_THAT(names(module_with("mov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, 1;\nbar.sync 0;")),
              testing::IsEmpty());
}

TEST(Policy, RefusesTheGlobalClock) {
  EXPECT_THAT(names(module_with("mov.u64 %rd1, %globaltimer;")),
              testing::ElementsAre("%globaltimer"));
}

TEST(Policy, RefusesWhatNumbersLaunchesAndMultiprocessors) {
  EXPECT_THAT(names(module_with("mov.u32 %r1, %smid;\nmov.u64 %rd1, %gridid;")),
              testing::ElementsAre("%smid", "%gridid"));
}

TEST(Policy, RefusesWhatTellsDevicesAndRunsApart) {
  for (const std::string name :
       {"%warpid", "%nwarpid", "%nsmid", "%total_smem_size", "%aggr_smem_size",
        "%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap",
        "%reserved_smem_offset_0", "%envreg2", "%pm1", "%clock", "%clock_hi", "%globaltimer_lo"})
    EXPECT_THAT(names(module_with("mov.u32 %r1, " + name + ";")), testing::ElementsAre(name));
  EXPECT_THAT(names(module_with("mov.u64 %rd1, %current_graph_exec;")),
              testing::ElementsAre("%current_graph_exec"));
}

TEST(Policy, AllowsRegistersThatAThreadIsNumberedBy) {
  EXPECT_THAT(names(module_with("mov.u32 %r1, %laneid;\nmov.u32 %r1, %lanemask_lt;\n"
                                "mov.u32 %r1, %dynamic_smem_size;\nmov.u32 %r1, %clusterid.x;")),
              testing::IsEmpty());
}

TEST(Policy, RefusesInstructionsThatStopOrWaitOrRuleTheCache) {
  EXPECT_THAT(names(module_with("trap;\nbrkpt;\nnanosleep.u32 100;\n"
                                "discard.global.L2 [%rd1], 128;")),
              testing::ElementsAre("trap", "brkpt", "nanosleep", "discard"));
}

TEST(Policy, RefusesManagedMemory) {
  EXPECT_THAT(names(module_with("", ".visible .global .attribute(.managed) .align 4 .u32 x;\n")),
              testing::ElementsAre(".managed"));
}

TEST(Policy, RefusesFunctionsFromElsewhere) {
  EXPECT_THAT(names(module_with("", ".extern .func elsewhere();\n")),
              testing::ElementsAre(".extern"));
  EXPECT_THAT(names(module_with("",
                                ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param "
                                ".b64 b);\n")),
              testing::IsEmpty());
}

TEST(Policy, LetsALabAllowMore) {
  EXPECT_THAT(names(module_with("mov.u64 %rd1, %clock64;")), testing::ElementsAre("%clock64"));
  EXPECT_THAT(names(module_with("mov.u64 %rd1, %clock64;"), {"%clock64"}), testing::IsEmpty());
}

TEST(Policy, NamesInstructionAndSourceLine) {
  const auto breaches = check_ptx(module_with("mov.u64 %rd1, %globaltimer;"), {});
  ASSERT_TRUE(breaches);
  ASSERT_EQ(breaches->size(), 1u);
  EXPECT_EQ(to_string(breaches->front()),
            "kernel.cu:7: %globaltimer is not allowed in graded code (mov.u64), in stage");
}

TEST(Policy, HasNothingAgainstAProgramWithoutDeviceCode) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = EM_X86_64;
  const std::string program(reinterpret_cast<const char*>(&header), sizeof header);
  const auto breaches = check_policy(program, {});
  ASSERT_TRUE(breaches) << breaches.error().found;
  EXPECT_THAT(*breaches, testing::IsEmpty());
}

TEST(Policy, DoesNotPassWhatItCannotRead) {
  EXPECT_FALSE(check_ptx("this is no PTX", {}));
  EXPECT_FALSE(check_policy("neither is this", {}));
}

}  // namespace
}  // namespace membound::policy
