// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/replayed_test.hpp"

#include <algorithm>
#include <utility>

#include "grader/base/result.hpp"

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

void run_with_other_copies(const ProgramTest& first, Setting setting, std::uint64_t key,
                           ReplayedTest& told) {
  setting.keeps_requests = false;
  setting.changed_bits = static_cast<std::uint32_t>(key) | 1;  // some bit of every word
  setting.runner_environment["MEMBOUND_CHECK"] = "none";
  const auto run = run_program(setting, first.given());
  if (!run) {
    told.abort = course::Cause::kCrash;
    told.message = base::to_string(run.error());
    return;
  }
  if (run->program.exit_code != 0) return;
  for (const auto& [name, output] : first.end().outputs)
    if (const auto changed = run->outputs.find(name);
        changed != run->outputs.end() && told.message.empty())
      told.message = why_not_as_copied(output, changed->second, name);
}

}  // namespace

std::future<ReplayedTest> begin_replay(const HostTest& test,
                                       std::shared_ptr<const ProgramTest> first,
                                       const Setting& setting, std::uint64_t key, bool runs_again) {
  return std::async(std::launch::async,
                    [&test, first = std::move(first), setting, key, runs_again] {
                      if (!runs_again) return replayed(test, *first, setting, key);
                      ReplayedTest told;
                      told.name = test.name;
                      run_with_other_copies(*first, setting, key, told);
                      return told;
                    });
}

}  // namespace membound::harness
