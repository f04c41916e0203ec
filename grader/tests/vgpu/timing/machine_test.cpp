// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/machine.hpp"

#include <gmock/gmock.h>

namespace membound::vgpu::timing {
namespace {

TEST(Machine, EveryBuiltInFileIsCompleteAndConsistent) {
  ASSERT_GE(built_in_machines().size(), 8u);
  for (const BuiltInMachine& built_in : built_in_machines()) {
    const auto machine = read_machine(built_in.json, built_in.id);
    ASSERT_TRUE(machine) << base::to_string(machine.error());
    EXPECT_EQ(machine->id, built_in.id);
    EXPECT_GT(machine->sm_count, 0u);
    EXPECT_LE(machine->dram_reached_gbs, machine->dram_peak_gbs) << built_in.id;
    EXPECT_GE(machine->l2_gbs, machine->dram_reached_gbs) << built_in.id;
    EXPECT_GE(machine->load_round_ns, machine->cached_round_ns) << built_in.id;
    EXPECT_LE(machine->shared_per_block_bytes, machine->shared_per_block_optin_bytes);
  }
}

TEST(Machine, EveryNumberSaysWhereItComesFrom) {
  for (const BuiltInMachine& built_in : built_in_machines())
    for (const NumberSource& number : read_sources(built_in.json))
      EXPECT_THAT(number.source, testing::AnyOf(testing::StartsWith("[measured]"),
                                                testing::StartsWith("[published]"),
                                                testing::StartsWith("[recalled]")))
          << built_in.id << " " << number.field;
}

TEST(Machine, AnUnknownNameListsTheKnownOnes) {
  const auto machine = find_machine("h2000");
  ASSERT_FALSE(machine);
  EXPECT_THAT(machine.error().expected, testing::HasSubstr("h200"));
  EXPECT_THAT(machine.error().expected, testing::HasSubstr("titan-v"));
  EXPECT_EQ(machine.error().kind, base::ErrorKind::kUsage);
}

TEST(Machine, AMissingNumberIsNamed) {
  const auto machine = read_machine(R"({"id": "x", "name": "X", "numbers": {}})", "x.json");
  ASSERT_FALSE(machine);
  EXPECT_THAT(machine.error().found, testing::HasSubstr("compute_major"));
}

TEST(Machine, ANumberWithoutKindOfSourceIsRefused) {
  const auto machine = read_machine(
      R"({"id": "x", "name": "X", "numbers": {"compute_major": [9, "somewhere"]}})", "x.json");
  ASSERT_FALSE(machine);
  EXPECT_THAT(machine.error().expected, testing::HasSubstr("[measured]"));
}

TEST(Machine, TextThatIsNoJsonIsRefused) { EXPECT_FALSE(read_machine("{", "x.json")); }

TEST(Machine, ASliceHasItsShareOfWhatAllSmsHaveInCommon) {
  const Machine whole = std::move(find_machine("h200")).value();
  const Machine slice = slice_of(whole, whole.sm_count / 4);
  EXPECT_EQ(slice.sm_count, 33u);
  EXPECT_DOUBLE_EQ(slice.dram_reached_gbs, whole.dram_reached_gbs / 4);
  EXPECT_DOUBLE_EQ(slice.atomic_same_address_ns, whole.atomic_same_address_ns * 4);
  EXPECT_EQ(slice.l2_bytes, whole.l2_bytes / 4);
  EXPECT_EQ(slice.load_round_ns, whole.load_round_ns) << "waiting is no shorter";
  EXPECT_EQ(slice.max_threads_per_sm, whole.max_threads_per_sm);
  EXPECT_EQ(slice.name, "NVIDIA H200, 33 of 132 multiprocessors");
}

TEST(Machine, ASliceIsNeverLargerThanTheMachine) {
  const Machine whole = std::move(find_machine("k80")).value();
  EXPECT_EQ(slice_of(whole, 16).name, whole.name);
  EXPECT_EQ(slice_of(whole, 0).sm_count, whole.sm_count);
}

}  // namespace
}  // namespace membound::vgpu::timing
