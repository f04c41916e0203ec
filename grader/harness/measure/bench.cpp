// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/bench.hpp"

#include "grader/harness/cases/statistics.hpp"
#include "grader/harness/measure/known_times_bench.hpp"
#include "grader/harness/measure/one_process_bench.hpp"
#include "grader/harness/measure/sample_report.hpp"
#include "grader/harness/measure/sandbox_bench.hpp"

namespace membound::harness {

double Bench::time_reference(const TimingRequest& request) const {
  const TimingRules& rules = parts_.device.timing_rules();
  const auto run = start(request, {});
  std::vector<double> times;
  for (int i = 0; i < rules.reference_warm_up + rules.reference_samples; ++i) {
    const double time_ns =
        run->run_reference(seed_of(parts_.seeds, request.seed, static_cast<std::uint64_t>(i)));
    if (request.sampled && !sample_of(run->take_reference_counters()).not_sampled.empty()) return 0;
    if (i >= rules.reference_warm_up) times.push_back(time_ns);
  }
  return median(times);
}

double Bench::ceiling(const TimingRequest& request) const {
  return parts_.ceilings.measure(ceiling_kind_of(request.timed_case),
                                 request.timed_case.useful_bytes);
}

std::unique_ptr<Bench> make_bench(const BenchParts& parts, const ReferenceTimes* known) {
  if (known != nullptr) return make_known_times_bench(parts, *known);
  if (parts.reference_device.number() != parts.device.number()) return make_sandbox_bench(parts);
  return make_one_process_bench(parts);
}

}  // namespace membound::harness
