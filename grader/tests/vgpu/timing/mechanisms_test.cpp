// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/mechanisms.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "grader/vgpu/timing/model.hpp"

namespace membound::vgpu::timing {
namespace {

using counters::LaunchCounters;

/// Whether two machines have a number, or an assumption about ptxas, that is not the same.
bool differ(const Machine& a, const Machine& b) {
  bool differ = a.ignored_counts != b.ignored_counts;
#define MACHINE_FIELD(type, field, meaning) differ = differ || a.field != b.field;
#include "grader/vgpu/timing/machine_fields.def"
#undef MACHINE_FIELD
  const auto& p = a.passes;
  const auto& q = b.passes;
  return differ || p.unrolls != q.unrolls || p.fuses != q.fuses ||
         p.joins_vectors != q.joins_vectors || p.batches_loads != q.batches_loads ||
         p.aggregates_atomics != q.aggregates_atomics ||
         a.costs.covers_waits != b.costs.covers_waits ||
         a.costs.moves_loads_up != b.costs.moves_loads_up ||
         a.costs.jump_back_clocks != b.costs.jump_back_clocks;
}

TEST(Mechanisms, EachSwitchChangesTheMachinesThatWereMeasured) {
  for (const char* gpu : {"h200", "h100"}) {
    const Machine machine = *find_machine(gpu);
    for (const Mechanism& each : all_mechanisms())
      EXPECT_TRUE(differ(machine, without(machine, each))) << gpu << " without " << each.name;
  }
}

TEST(Mechanisms, EachHasANameOfItsOwnARoomAndAMeaning) {
  std::set<std::string_view> names;
  for (const Mechanism& each : all_mechanisms()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_EQ(find_mechanism(each.name), &each);
    EXPECT_TRUE(std::filesystem::is_directory(std::filesystem::path(MEMBOUND_SOURCE_DIR) /
                                              "grader/vgpu" / each.room))
        << each.room;
    EXPECT_FALSE(each.meaning.empty());
    EXPECT_NE(each.change == nullptr, each.ignore == nullptr) << each.name;
  }
  EXPECT_EQ(find_mechanism("luck"), nullptr);
}

/// A copy of 16 MiB, whose blocks are of two kinds.
LaunchCounters copied() {
  LaunchCounters counters;
  auto& c = counters.totals;
  c.global_load_requests = c.global_store_requests = 131072;
  c.global_load_sectors = c.global_store_sectors = c.l2_read_sectors = c.l2_write_sectors = 524288;
  c.dram_read_bytes = c.dram_write_bytes = c.global_load_bytes = c.global_store_bytes = 16 << 20;
  c.l1_load_hit_sectors = c.l1_load_joined_sectors = 100000;
  counters.work.kinds = {{.chain_clocks = 100, .load_batches = 1, .all_load_batches = 8},
                         {.chain_clocks = 90000, .load_batches = 9, .all_load_batches = 9}};
  counters.work.runs = {{0, 16383}, {1, 1}};
  return counters;
}

TEST(Mechanisms, WhatIsOffIsTakenOutOfTheCounts) {
  const LaunchShape shape{.grid = {16384, 1, 1}, .block = {256, 1, 1}};
  const Machine machine = *find_machine("h200");
  const double with_all = predict(machine, copied(), shape).ns;
  LaunchCounters alone = copied();
  alone.totals.l1_load_joined_sectors = 0;
  EXPECT_EQ(predict(without(machine, *find_mechanism("joined_loads")), copied(), shape).ns,
            predict(machine, alone, shape).ns);
  EXPECT_LT(predict(without(machine, *find_mechanism("joined_loads")), copied(), shape).ns,
            with_all);
  EXPECT_LT(predict(without(machine, *find_mechanism("block_kinds")), copied(), shape).ns, with_all)
      << "the block that takes long is spread over all";
  EXPECT_LT(predict(without(machine, *find_mechanism("first_bytes")), copied(), shape).ns,
            with_all);
}

TEST(Mechanisms, AMachineFileSwitchesThemOff) {
  const auto file = [](const std::string& rest) {
    return read_machine(R"({"id": "x", "name": "X", "like": "h200", "numbers": {}, )" + rest + "}",
                        "x.json");
  };
  const auto machine = file(R"("without": ["first_bytes", "unrolling", "joined_loads"])");
  ASSERT_TRUE(machine) << base::to_string(machine.error());
  EXPECT_EQ(machine->first_bytes_ns, 0);
  EXPECT_FALSE(machine->passes.unrolls);
  EXPECT_TRUE(machine->passes.fuses);
  EXPECT_NE(machine->ignored_counts, 0u);
  const auto unknown = file(R"("without": ["luck"])");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().found, testing::HasSubstr("luck"));
}

TEST(Mechanisms, ThePageHasARowForEach) {
  std::stringstream page;
  page << std::ifstream(MEMBOUND_SOURCE_DIR "/docs/timing_model.md").rdbuf();
  const std::string text = page.str();
  const std::size_t begin = text.find(
                        "<!-- mechanisms: written by `membound dev mechanisms --fix` -->"),
                    end = text.find("<!-- end of mechanisms -->");
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  std::istringstream table(text.substr(begin, end - begin));
  std::vector<std::string> names, rows;
  for (const Mechanism& each : all_mechanisms()) names.emplace_back(each.name);
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string name;
    if (line.starts_with("    ") && line[4] != ' ' && words >> name && name != "without" &&
        name != "(nothing)")
      rows.push_back(name);
  }
  EXPECT_EQ(rows, names) << "membound dev mechanisms --fix writes it";
}

}  // namespace
}  // namespace membound::vgpu::timing
