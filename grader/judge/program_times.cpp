// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/program_times.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

namespace membound::judge {
namespace {

using course::Cause;
using course::StageMeasurement;

bool passes(const StageMeasurement& measurement) {
  return measurement.abort == Cause::kNone &&
         std::none_of(measurement.tests.begin(), measurement.tests.end(),
                      [](const course::TestOutcome& test) { return test.failed(); });
}

template <typename T>
void append(std::vector<T>& to, std::vector<T>& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

void add(StageMeasurement& timed, StageMeasurement& to) {
  append(to.timings, timed.timings);
  append(to.notes, timed.notes);
  append(to.tests, timed.tests);
  to.seconds += timed.seconds;
  // Of our own programs: the stage was judged without it.
  if (timed.abort == Cause::kCrash) {
    to.notes.push_back("not timed: " + timed.abort_text);
  } else {
    to.abort = timed.abort;
    to.abort_text = timed.abort_text;
  }
}

}  // namespace

base::Status time_programs(const RunRequest& run, std::vector<StageMeasurement>& measurements) {
  RunRequest timing = run;
  timing.stages.clear();
  timing.stages_at_once = 1;  // a clock's times
  for (const StageMeasurement& measurement : measurements)
    if (passes(measurement)) timing.stages.push_back(measurement.stage);
  if (timing.stages.empty()) return base::Done{};
  if (std::error_code ignored; !std::filesystem::exists(run.parts.work_clock, ignored)) {
    for (StageMeasurement& measurement : measurements)
      measurement.notes.push_back("not timed: " + run.parts.work_clock.string() + " is not built");
    return base::Done{};
  }
  timing.more_arguments = {"--clock", run.parts.work_clock.string()};
  if (!run.parts.reference.empty())
    timing.more_arguments.insert(timing.more_arguments.end(),
                                 {"--reference", run.parts.reference.string()});
  auto outcome = run_stages(timing);
  if (!outcome) return outcome.error();
  for (StageMeasurement& timed : outcome->measurements)
    for (StageMeasurement& measurement : measurements)
      if (measurement.stage == timed.stage) add(timed, measurement);
  return base::Done{};
}

}  // namespace membound::judge
