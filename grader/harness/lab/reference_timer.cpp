// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/reference_timer.hpp"

namespace membound::harness {
ReferenceTimes time_references(Session& session) {
  const Bench& bench = session.bench();
  const Device& device = session.device();
  ReferenceTimes times;
  times.lab = session.lab().id;
  times.device = device.info().virtual_name;
  for (const course::Stage& stage : session.stages()) {
    for (const TimedCase& timed : session.timed_cases(stage)) {
      TimingRequest request{timed,
                            stage.number,
                            stage.kernel,
                            StopLimits{},
                            session.timeout_seconds(stage),
                            session.options().seed};
      device.forget_report();
      ReferenceTime time{bench.time_reference(request), 0, take_counters(device)};
      time.ceiling = bench.ceiling(request);
      request.seed = session.seeds().derive(request.seed, 1);
      const std::string what = timed.label + " of stage " + std::to_string(stage.number);
      if (bench.time_reference(request) != time.time_ns)
        times.unusable = "the time of " + what + " depends on the data";
      if (!timed.expected) times.unusable = "nothing but the reference answers " + what;
      times.add(stage.number, timed.label, std::move(time));
    }
  }
  return times;
}

}  // namespace membound::harness
