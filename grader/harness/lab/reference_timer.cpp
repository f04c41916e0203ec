// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/reference_timer.hpp"

#include <cmath>

#include "grader/base/strings.hpp"
#include "grader/harness/measure/sample_report.hpp"

namespace membound::harness {
namespace {

/// A case as one of the ways to time its stage has it.
struct OneCase {
  const course::Stage& stage;
  const TimedCase& timed;
  bool sampled;
  bool is_largest;  ///< of its stage

  [[nodiscard]] std::string name() const {
    return timed.label + " of stage " + std::to_string(stage.number);
  }
};

/// Where the blocks that ran did all the same, the whole takes as long as the sample says.
const ReferenceTime* known_whole(const OneCase& one, const ReferenceTimes& times) {
  if (one.sampled) return nullptr;
  const ReferenceTime* const sample = times.find(one.stage.number, one.timed.label, true);
  if (sample == nullptr || sample->time_ns == 0 || sample_of(sample->counters).error > 0)
    return nullptr;
  return sample;
}

/// Times that data change by no more than this are shared: half of the last digit of a ratio.
/// Conflicts of random places in shared memory make 1.5e-4, lines of L1 at other addresses 4e-7.
constexpr double kSameTime = 5e-4;

/// Adds what the reference takes; why that is of no use for another submission, or "".
std::string time_one(Session& session, const OneCase& one, ReferenceTimes& times) {
  if (const ReferenceTime* const known = known_whole(one, times)) {
    times.add(one.stage.number, one.timed.label, false, ReferenceTime(*known));
    return "";
  }
  const Bench& bench = session.bench();
  TimingRequest request{one.timed,
                        one.stage.number,
                        one.stage.kernel,
                        StopLimits{},
                        session.timeout_seconds(one.stage),
                        session.options().seed};
  request.sampled = one.sampled;
  const auto time_with = [&](std::uint64_t seed) {
    session.device().forget_report();
    const auto run = bench.start(request, {});
    const double time_ns = run->run_reference(seed);
    return ReferenceTime{time_ns, 0, run->take_reference_counters()};
  };
  ReferenceTime time = time_with(request.seed);
  if (one.sampled && !sample_of(time.counters).not_sampled.empty()) time.time_ns = 0;
  double other_ns = time.time_ns;  // with other data
  if (time.time_ns > 0) {
    time.ceiling = bench.ceiling(request);
    // What hangs on the data shows at the largest size; where that cannot be sampled, run whole.
    if (one.is_largest || !one.sampled)
      other_ns = time_with(session.seeds().derive(request.seed, 1)).time_ns;
  }
  const double time_ns = time.time_ns;
  times.add(one.stage.number, one.timed.label, one.sampled, std::move(time));
  if (std::abs(other_ns - time_ns) <= kSameTime * time_ns) return "";
  return "the time of " + one.name() + " depends on the data: " + base::decimal(time_ns, 1) +
         " ns, and " + base::decimal(other_ns, 1) + " ns with others";
}

}  // namespace

ReferenceTimes time_references(Session& session) {
  ReferenceTimes times;
  times.lab = session.lab().id;
  times.device = session.device().info().virtual_name;
  const std::vector<course::Stage> stages = session.stages();
  for (const bool only_look : {true, false}) {  // times that are of no use are not taken
    for (const course::Stage& stage : stages) {
      const std::vector<Session::SizedCases> ways = session.ways_to_time(stage);
      for (const Session::SizedCases& way : ways)
        for (const TimedCase& timed : way.cases) {
          if (!times.unusable.empty()) return times;
          const OneCase one{stage, timed, way.sampled, &way == &ways.front()};
          const bool is_known = way.sampled ? timed.can_be_sampled() : bool(timed.expected);
          if (!is_known) times.unusable = "nothing but the reference answers " + one.name();
          if (!only_look) times.unusable = time_one(session, one, times);
        }
    }
  }
  return times;
}

}  // namespace membound::harness
