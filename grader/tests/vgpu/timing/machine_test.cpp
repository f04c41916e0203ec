// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/machine.hpp"

#include <gmock/gmock.h>

#include <map>

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

TEST(Machine, TakesFromAnotherOneWhatItDoesNotSay) {
  const std::string text = R"({"id": "x", "name": "X", "like": "h100",
    "numbers": {"sm_count": [7, "[published] somewhere"]}})";
  const auto machine = read_machine(text, "x.json");
  ASSERT_TRUE(machine) << base::to_string(machine.error());
  const Machine h100 = *find_machine("h100");
  EXPECT_EQ(machine->sm_count, 7u);
  EXPECT_EQ(machine->dram_reached_gbs, h100.dram_reached_gbs);
  EXPECT_EQ(machine->jump_back_clocks, h100.jump_back_clocks) << "which it takes from the H200";
  for (const NumberSource& number : read_sources(text))
    EXPECT_EQ(number.source,
              number.field == "sm_count" ? "[published] somewhere" : "[recalled] as h100");
  const auto whole = written_out(text, "x.json");
  ASSERT_TRUE(whole);
  const auto again = read_machine(*whole, "x.json");
  ASSERT_TRUE(again) << base::to_string(again.error());
  EXPECT_EQ(again->dram_reached_gbs, machine->dram_reached_gbs);
  EXPECT_EQ(*written_out(*whole, "x.json"), *whole);
}

TEST(Machine, IsLikeNoneThatIsNotBuiltIn) {
  const auto machine =
      read_machine(R"({"id": "x", "name": "X", "like": "x", "numbers": {}})", "x.json");
  ASSERT_FALSE(machine);
  EXPECT_THAT(machine.error().found, testing::HasSubstr("\"like\": \"x\""));
}

TEST(Machine, NoBuiltInFileRecallsANumberThatItCouldTakeFromAnother) {
  constexpr std::string_view kLike = "\"like\": \"";
  std::size_t like_another = 0;
  for (const BuiltInMachine& built_in : built_in_machines()) {
    const std::size_t at = built_in.json.find(kLike);
    if (at == std::string_view::npos) continue;
    ++like_another;
    const std::string_view rest = built_in.json.substr(at + kLike.size());
    const std::string other(rest.substr(0, rest.find('"')));
    std::map<std::string, double> others;
    for (const NumberSource& number : read_sources(find_machine_file(other, {})->json))
      others[number.field] = number.value;
    for (const NumberSource& number : read_sources(built_in.json)) {
      const bool is_own = number.source != "[recalled] as " + other;
      if (!is_own || !number.source.starts_with("[recalled]")) continue;
      EXPECT_NE(number.value, others[number.field])
          << built_in.id << " " << number.field << " is as in " << other << ": leave it out";
    }
  }
  EXPECT_EQ(like_another, built_in_machines().size() - 1) << "the H200 alone says all itself";
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
