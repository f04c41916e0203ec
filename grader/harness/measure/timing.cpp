// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/timing.hpp"

#include <chrono>

#include "grader/harness/measure/statistics.hpp"
#include "grader/harness/measure/timed_run.hpp"

namespace membound::harness {
namespace {

constexpr std::uint64_t kWarmUpPairs = 2;
constexpr std::uint64_t kClockTries = 10;
constexpr double kLongWarmUp = 1;  // seconds after which one pair was warm-up enough

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Null where the reference is to be run.
const ReferenceTime* known_time(const TimingBench& bench, const TimingRequest& request) {
  if (bench.known == nullptr) return nullptr;
  const ReferenceTime* const time = bench.known->find(request.stage, request.timed_case.label);
  if (time == nullptr)
    throw ReferenceError("the reference times do not hold " + request.timed_case.label +
                         " of stage " + std::to_string(request.stage));
  return time;
}

ReadyLaunch reference_launch(const TimingBench& bench, const TimingRequest& request) {
  if (bench.known != nullptr) return {};
  Preparation preparation = bench.reference.prepare(
      {request.kernel, request.timed_case.instance, request.timed_case.sizes},
      request.timeout_seconds);
  if (preparation.refusal)
    throw ReferenceError("the reference answer cannot be launched: " +
                         base::to_string(preparation.refusal->error));
  return std::move(preparation.launch);
}

/// The measurement of one case while it grows, pair by pair.
class PairLoop {
 public:
  PairLoop(const TimingBench& bench, const TimingRequest& request, const ReadyLaunch& student,
           const ReadyLaunch& reference, TimingOutcome& outcome)
      : bench_(bench),
        request_(request),
        outcome_(outcome),
        run_(bench, request),
        student_(run_.runner(bench.student, student, true)),
        reference_(run_.runner(bench.reference, reference, false)) {}

  void measure() {
    course::Timing& timing = outcome_.timing;
    timing.event_overhead_ns = run_.event_overhead_ns();
    if (bench_.device.is_virtual()) {
      run_single();
      return;
    }
    // Warm-up looks exactly like the measurement; its seeds are others.
    auto start = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < kWarmUpPairs && seconds_since(start) < kLongWarmUp; ++i)
      run_pair(bench_.seeds.derive(~request_.seed, i), false);
    start = std::chrono::steady_clock::now();
    StopDecision decision;
    for (std::uint64_t pair = 0; !decision.stop; ++pair) {
      run_pair(bench_.seeds.derive(request_.seed, pair), true);
      decision = decide_stop(speed_ratios(timing.student_ns, timing.reference_ns),
                             seconds_since(start), request_.limits);
    }
    timing.stopped = decision.word;
    timing.stop_reason = decision.reason;
    timing.decided = decision.decided;
    if (bench_.reference_device.number() != bench_.device.number()) check_clock();
  }

 private:
  /// The virtual GPU's time is computed, not measured: one pair says all.
  void run_single() {
    if (const ReferenceTime* const known = known_time(bench_, request_))
      run_against(*known);
    else
      run_pair(request_.seed, true);
    outcome_.timing.stopped = "single";
    outcome_.timing.stop_reason =
        "the virtual GPU's time is the same every time: one run is enough";
    outcome_.timing.decided = true;
  }

  void run_against(const ReferenceTime& known) {
    bench_.device.forget_report();
    outcome_.timing.student_ns.push_back(run_.run(student_, request_.seed));
    take_counters(bench_.device, nullptr);
    if (outcome_.counters.is_object() && known.counters.is_object())
      outcome_.counters["reference"] = known.counters;
    run_.keep_output();
    check_output();
    outcome_.timing.reference_ns.push_back(known.time_ns);
  }

  void run_pair(std::uint64_t seed, bool counts) {
    const bool reference_first =
        (bench_.seeds.derive(seed, 1) & 1) != 0 && !bench_.device.is_virtual();
    double reference_ns = reference_first ? run_.run(reference_, seed) : 0;
    bench_.device.forget_report();
    const double student_ns = run_.run(student_, seed);
    take_counters(bench_.device, nullptr);
    run_.keep_output();
    const double last_ns = run_.run(reference_, seed);
    take_counters(bench_.reference_device, "reference");
    if (!reference_first) reference_ns = last_ns;
    check_output();
    if (!counts) return;
    outcome_.timing.student_ns.push_back(student_ns);
    outcome_.timing.reference_ns.push_back(reference_ns);
  }

  void check_output() {
    course::Timing& timing = outcome_.timing;
    const Difference difference = run_.compare_kept();
    ++timing.runs_checked;
    if (!run_.suspicion().empty()) timing.suspicion = run_.suspicion();
    if (difference.wrong == 0) return;
    if (timing.runs_wrong++ == 0) {
      timing.wrong_elements = static_cast<std::int64_t>(difference.wrong);
      timing.first_wrong_index = static_cast<std::int64_t>(difference.first);
    }
  }

  /// Noise only ever adds to what a clock outside sees: one agreement in a few tries is enough.
  void check_clock() {
    course::Timing& timing = outcome_.timing;
    ClockComparison comparison;
    for (std::uint64_t i = 0; i < kClockTries; ++i) {
      comparison =
          compare_clocks(timing.student_ns,
                         run_.time_from_outside(student_, bench_.seeds.derive(request_.seed, ~i)));
      if (comparison.agrees) break;
    }
    timing.outside_ns = comparison.outside_ns;
    timing.outside_tolerance_ns = comparison.tolerance_ns;
    if (!comparison.agrees)
      timing.suspicion = disagreement_text(median(timing.student_ns), comparison);
  }

  /// Keeps what the virtual GPU counted since the last call; under `key` if that is given.
  void take_counters(const Device& device, const char* key) {
    nlohmann::json report = device.take_report();
    if (!report.is_object()) return;
    drop_own_kernels(report);
    if (key == nullptr)
      outcome_.counters = std::move(report);
    else
      outcome_.counters[key] = std::move(report);
  }

  const TimingBench& bench_;
  const TimingRequest& request_;
  TimingOutcome& outcome_;
  TimedRun run_;
  TimedRun::Runner student_, reference_;
};

void summarize(course::Timing& timing) {
  timing.student_median_ns = median(timing.student_ns);
  timing.reference_median_ns = median(timing.reference_ns);
  const std::vector<double> ratios = speed_ratios(timing.student_ns, timing.reference_ns);
  const Interval interval = median_interval(ratios, kReportedConfidence);
  timing.ratio = median(ratios);
  timing.ratio_low = interval.low;
  timing.ratio_high = interval.high;
}

void compare_with_ceiling(const TimingBench& bench, const TimingRequest& request,
                          course::Timing& timing) {
  const TimedCase& timed_case = request.timed_case;
  const CeilingKind kind = ceiling_kind_of(timed_case);
  const ReferenceTime* const known = known_time(bench, request);
  timing.ceiling =
      known != nullptr ? known->ceiling : bench.ceilings.measure(kind, timed_case.useful_bytes);
  timing.ceiling_kind = to_string(kind);
  timing.suspicion_margin = kSuspicionMargin;
  const double work =
      kind == CeilingKind::kOperations ? timed_case.useful_operations : timed_case.useful_bytes;
  // A predicted time breaks no physics: another kernel's prediction is no ceiling for this one's.
  const bool too_fast = !bench.device.is_virtual() &&
                        is_suspicious(work / timing.student_median_ns * 1e9, timing.ceiling);
  timing.suspicious = too_fast || !timing.suspicion.empty();
}

}  // namespace

void drop_own_kernels(nlohmann::json& report) {
  nlohmann::json kept = nlohmann::json::array();
  for (nlohmann::json& kernel : report["kernels"])
    if (!kernel.value("name", "").starts_with("membound_")) kept.push_back(std::move(kernel));
  report["kernels"] = std::move(kept);
}

TimingOutcome time_case(const TimingBench& bench, const TimingRequest& request) {
  const TimedCase& timed_case = request.timed_case;
  TimingOutcome outcome;
  outcome.timing.label = timed_case.label;
  outcome.timing.useful_bytes = timed_case.useful_bytes;
  outcome.timing.useful_operations = timed_case.useful_operations;
  Preparation student = bench.student.prepare(
      {request.kernel, timed_case.instance, timed_case.sizes}, request.timeout_seconds);
  if (student.refusal) {
    outcome.refusal = std::move(student.refusal);
    return outcome;
  }
  outcome.facts = bench.student.facts(student.launch);
  const ReadyLaunch reference = reference_launch(bench, request);
  PairLoop(bench, request, student.launch, reference, outcome).measure();
  summarize(outcome.timing);
  bench.clocks.take(outcome.timing.clocks, outcome.timing.throttle_reasons);
  compare_with_ceiling(bench, request, outcome.timing);
  return outcome;
}

double time_reference(const TimingBench& bench, const TimingRequest& request) {
  if (const ReferenceTime* const known = known_time(bench, request)) return known->time_ns;
  const ReadyLaunch launch = reference_launch(bench, request);
  TimedRun run(bench, request);
  const TimedRun::Runner runner = run.runner(bench.reference, launch, false);
  if (bench.device.is_virtual()) return run.run(runner, request.seed);
  std::vector<double> times;
  for (std::uint64_t i = 0; i < 4; ++i) {
    const double time_ns = run.run(runner, bench.seeds.derive(request.seed, i));
    if (i > 0) times.push_back(time_ns);  // the first one warms up
  }
  return median(times);
}

}  // namespace membound::harness
