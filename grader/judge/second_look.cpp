// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/second_look.hpp"

#include <algorithm>

#include "grader/judge/verdict.hpp"

namespace membound::judge {
namespace {

/// Where the first run took longer, a second, slower one is not worth waiting for.
constexpr double kMostSeconds = 20;

const course::TestOutcome* first_failed(const course::StageMeasurement& measurement) {
  const auto found =
      std::find_if(measurement.tests.begin(), measurement.tests.end(),
                   [](const course::TestOutcome& test) { return !test.passed && !test.skipped; });
  return found == measurement.tests.end() ? nullptr : &*found;
}

}  // namespace

bool deserves_second_look(const course::Lab& lab, const course::StageMeasurement& measurement) {
  const course::Stage* const stage = lab.stage(measurement.stage);
  if (stage == nullptr || measurement.seconds > kMostSeconds) return false;
  switch (judge_stage(lab, *stage, measurement).verdict) {
    case course::Verdict::kWrong:
    case course::Verdict::kFault:
    case course::Verdict::kTimeout:
      return true;
    default:
      return false;
  }
}

RunRequest second_look(const RunRequest& run, const course::StageMeasurement& measurement) {
  RunRequest again = run;
  again.stages = {measurement.stage};
  again.more_arguments = {"--quick"};
  const course::TestOutcome* const failed = first_failed(measurement);
  // A fault has no test of its own, and a timed run is not among the quick ones.
  if (measurement.abort.empty() && failed != nullptr && failed->hint_tag != "wrong-in-timed-run")
    again.more_arguments.push_back("--gtest_filter=" + measurement.kernel + "." + failed->name);
  again.environment["MEMBOUND_CHECK"] = "memcheck,racecheck,initcheck,synccheck";
  again.environment["MEMBOUND_CACHES"] = "off";
  return again;
}

void look_again(const RunRequest& run, std::vector<course::StageMeasurement>& measurements) {
  for (course::StageMeasurement& measurement : measurements) {
    if (!deserves_second_look(*run.lab, measurement)) continue;
    // What the second look itself ends in says nothing new.
    const auto outcome = run_stages(second_look(run, measurement));
    if (outcome && !outcome->measurements.empty())
      measurement.checks = outcome->measurements.front().checks;
  }
}

}  // namespace membound::judge
