// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/replayed_test.hpp"

#include <algorithm>
#include <utility>

#include "grader/base/check.hpp"

namespace membound::harness {
namespace {

ReplayedTest replayed(const HostTest& test, const ProgramTest& first, const Setting& setting,
                      std::uint64_t key) {
  ProgramTest again(
      first,
      [&](const RunEnd& run, OtherInputs inputs) {
        return replay(setting, run, std::move(inputs));
      },
      key);
  const testing::AssertionResult result = test.body(again);
  ReplayedTest told;
  told.name = test.name;
  told.abort = again.abort();
  if (!result) told.message = result.message();
  told.arrived = again.arrived();
  for (const runner::Call& call : again.replayed_calls())
    if (has_worked(call)) told.uses.push_back(call.uses);
  const auto worked = std::ranges::count_if(first.end().calls, has_worked);
  // Both runners were asked for the same and answered the same.
  MEMBOUND_CHECK(told.arrived.empty() ||
                 static_cast<std::ptrdiff_t>(told.arrived.size()) == worked);
  return told;
}

}  // namespace

std::future<ReplayedTest> begin_replay(const HostTest& test,
                                       std::shared_ptr<const ProgramTest> first,
                                       const Setting& setting, std::uint64_t key) {
  return std::async(std::launch::async, [&test, first = std::move(first), setting, key] {
    return replayed(test, *first, setting, key);
  });
}

}  // namespace membound::harness
