// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Traces come from a smaller run than the counters beside which a page shows them.
#include "grader/judge/profiling_runs.hpp"

#include <gmock/gmock.h>

#include "grader/judge/counters_profile.hpp"

namespace membound::judge {
namespace {

using nlohmann::json;

json traced_kernel(const std::string& name, const std::string& label) {
  return {{"display_name", name}, {"case", label}, {"grid", {1, 1, 1}}, {"block", {32, 1, 1}}};
}

json traced(json of, int line) {
  of["accesses"] = {{{"line", line}, {"file", "kernel.cu"}}};
  of["traced_block"] = {0, 0, 0};
  of["traced_warp"] = 0;
  return of;
}

std::vector<int> lines_of(const json& kernel) {
  std::vector<int> lines;
  for (const json& access : kernel.value("accesses", json::array()))
    lines.push_back(access["line"]);
  return lines;
}

TEST(Traces, GoToTheSameKernelOfTheSameCase) {
  const json small = {
      {"kernels",
       {traced(traced_kernel("membound_draw()", "n = 64"), 1),
        traced(traced_kernel("prepare()", "n = 64"), 2),
        traced(traced_kernel("sum()", "n = 64"), 3), traced(traced_kernel("sum()", "n = 64"), 4),
        traced(traced_kernel("sum()", "n = 65"), 5)}}};
  json large = {{"kernels",
                 {traced_kernel("prepare()", "n = 1000"), traced_kernel("sum()", "n = 1000"),
                  traced_kernel("membound_draw()", "n = 1000"), traced_kernel("sum()", "n = 1000"),
                  traced_kernel("sum()", "n = 1001"), traced_kernel("sum()", "n = 1001")}}};
  put_traces(small, large);
  const json& kernels = large["kernels"];
  EXPECT_EQ(lines_of(kernels[0]), std::vector{2});
  EXPECT_EQ(lines_of(kernels[1]), std::vector{3});
  EXPECT_EQ(lines_of(kernels[2]), std::vector<int>{}) << "the harness's own";
  EXPECT_EQ(lines_of(kernels[3]), std::vector{4});
  EXPECT_EQ(lines_of(kernels[4]), std::vector{5});
  EXPECT_EQ(lines_of(kernels[5]), std::vector<int>{}) << "launched at the large size alone";
  EXPECT_EQ(profiles(large).front().traced_label, "n = 64");
  EXPECT_EQ(profiles(large).front().label, "n = 1000");
}

TEST(Traces, ChangeNothingElseOfWhatWasCounted) {
  json counted = traced_kernel("sum()", "n = 1000");
  counted["counters"] = {{"warp_instructions", 7}};
  json large = {{"kernels", {counted}}};
  json other = traced(traced_kernel("sum()", "n = 64"), 3);
  other["counters"] = {{"warp_instructions", 1}};
  put_traces({{"kernels", {other}}}, large);
  for (const char* field : {"accesses", "traced_block", "traced_warp", "traced_case"})
    large["kernels"][0].erase(field);
  EXPECT_EQ(large["kernels"][0], counted);
}

}  // namespace
}  // namespace membound::judge
