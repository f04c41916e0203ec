// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/reference_timer.hpp"

#include "grader/base/check.hpp"
#include "grader/harness/device/cuda_check.hpp"
#include "grader/harness/measure/speed_rules.hpp"
#include "grader/harness/measure/timing.hpp"

namespace membound::harness {
namespace {

TimingBench bench_of(Session& session) {
  return {session.device(),
          session.kernels(),
          session.reference_device(),
          session.reference_kernels(),
          session.seeds(),
          session.student(),
          session.reference(),
          session.watchdog(),
          session.clocks(),
          session.ceilings(),
          nullptr,
          [](cudaError_t code) {
            throw ReferenceError("the reference answer failed: " + cuda_error_text(code));
          }};
}

}  // namespace

ReferenceTimes time_references(Session& session) {
  MEMBOUND_CHECK(session.device().is_virtual());
  const TimingBench bench = bench_of(session);
  ReferenceTimes times;
  times.lab = session.lab().id;
  times.device = session.device().info().virtual_name;
  for (const course::Stage& stage : session.stages()) {
    for (const TimedCase& timed : session.timed_cases(stage)) {
      TimingRequest request{timed,
                            stage.number,
                            stage.kernel,
                            StopLimits{},
                            session.timeout_seconds(stage),
                            session.options().seed};
      bench.device.forget_report();
      ReferenceTime time{time_reference(bench, request), 0, bench.device.take_report()};
      if (time.counters.is_object()) drop_own_kernels(time.counters);
      time.ceiling = bench.ceilings.measure(ceiling_kind_of(timed), timed.useful_bytes);
      request.seed = bench.seeds.derive(request.seed, 1);
      const std::string what = timed.label + " of stage " + std::to_string(stage.number);
      if (time_reference(bench, request) != time.time_ns)
        times.unusable = "the time of " + what + " depends on the data";
      if (!timed.expected) times.unusable = "nothing but the reference answers " + what;
      times.add(stage.number, timed.label, std::move(time));
    }
  }
  return times;
}

}  // namespace membound::harness
