// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the compilers on this machine really write, read by the PTX parser and the fat binary
/// reader. The files are made at build time from inputs/*.cu; see CMakeLists.txt.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "grader/device_code/fatbin/cubin.hpp"
#include "grader/device_code/fatbin/fatbin.hpp"
#include "grader/device_code/ptx/parser.hpp"
#include "grader/device_code/ptx/printer.hpp"

namespace membound::vgpu {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string content_of(const std::string& name) {
  std::ifstream file(std::string(MEMBOUND_COMPILED "/") + name, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_GT(text.str().size(), 0u) << name;
  return text.str();
}

class PtxOf : public ::testing::TestWithParam<const char*> {};

TEST_P(PtxOf, EveryCompilationParsesAndPrintsBackToTheSameTree) {
  const std::string text = content_of(GetParam());
  const auto module = ptx::parse(text, GetParam());
  ASSERT_TRUE(module.ok()) << to_string(module.error());
  EXPECT_FALSE(module->functions.empty());
  const std::string printed = to_text(*module);
  const auto again = ptx::parse(printed, "printed");
  ASSERT_TRUE(again.ok()) << to_string(again.error());
  EXPECT_EQ(to_text(*again), printed);
}

INSTANTIATE_TEST_SUITE_P(Compilers, PtxOf, ::testing::Values(MEMBOUND_COMPILED_PTX),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(PtxOfNvcc, LineInformationNamesTheSourceFileAndInlinedFunctions) {
  const auto module = ptx::parse(content_of("cub_block.90.ptx"), "cub_block.ptx");
  ASSERT_TRUE(module.ok());
  const auto& kernel = module->functions.back();
  EXPECT_THAT(std::string(module->file_name(kernel.locations.front().file)),
              HasSubstr("cub_block.cu"));
  const auto inlined =
      std::count_if(kernel.locations.begin(), kernel.locations.end(),
                    [](const auto& each) { return each.function_name.starts_with("_ZN3cub"); });
  EXPECT_GT(inlined, 10);
}

class FatbinOf : public ::testing::TestWithParam<const char*> {};

TEST_P(FatbinOf, EveryCompressionHoldsTheSamePtx) {
  const std::string file = content_of(GetParam());
  const auto entries = fatbin::read(std::as_bytes(std::span(file)), GetParam());
  ASSERT_TRUE(entries.ok()) << to_string(entries.error());
  const auto chosen = fatbin::choose_ptx(*entries, 90, GetParam());
  ASSERT_TRUE(chosen.ok()) << to_string(chosen.error());
  const auto module = ptx::parse((*chosen)->text(), GetParam());
  ASSERT_TRUE(module.ok()) << to_string(module.error());
  EXPECT_NE(module->find_function("_Z10everythingPiPfi"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Compilers, FatbinOf,
                         ::testing::Values("default.fatbin", "speed.fatbin", "size.fatbin",
                                           "none.fatbin", "several.fatbin"),
                         [](const auto& each) {
                           const std::string name = each.param;
                           return name.substr(0, name.find('.'));
                         });

TEST(FatbinOfNvcc, MachineCodeAloneIsExplained) {
  const std::string file = content_of("machine_code.fatbin");
  const auto entries = fatbin::read(std::as_bytes(std::span(file)), "machine_code.fatbin");
  ASSERT_TRUE(entries.ok());
  const auto chosen = fatbin::choose_ptx(*entries, 90, "machine_code.fatbin");
  ASSERT_FALSE(chosen.ok());
  EXPECT_THAT(to_string(chosen.error()), HasSubstr("`code=sm_90` alone leaves the PTX out"));
}

TEST(CubinOfNvcc, TellsSharedMemoryParametersAndLimits) {
  const std::string file = content_of("default.fatbin");
  const auto entries = fatbin::read(std::as_bytes(std::span(file)), "default.fatbin");
  ASSERT_TRUE(entries.ok());
  const fatbin::Entry* const cubin = fatbin::choose_cubin(*entries, 90);
  ASSERT_NE(cubin, nullptr);
  const auto kernels = fatbin::read_cubin(cubin->payload);
  ASSERT_TRUE(kernels.ok());
  ASSERT_THAT(*kernels, SizeIs(2));
  const auto& kernel = (*kernels)[0].name == "_Z10everythingPiPfi" ? (*kernels)[0] : (*kernels)[1];
  EXPECT_EQ(kernel.shared_bytes, 400u);
  EXPECT_EQ(kernel.reserved_shared_bytes, 1024u);
  EXPECT_EQ(kernel.max_threads, 256u);
  EXPECT_EQ(kernel.parameter_sizes, (std::vector<std::uint32_t>{8, 8, 4}));
  EXPECT_GT(kernel.registers, 8u);
  EXPECT_LE(kernel.registers, 255u);
  EXPECT_GT(kernel.local_bytes, 0u) << "recursion and printf need a stack";
}

}  // namespace
}  // namespace membound::vgpu
