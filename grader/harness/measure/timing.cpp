// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/timing.hpp"

#include <algorithm>
#include <chrono>

#include "grader/harness/cases/statistics.hpp"
#include "grader/harness/measure/timed_run.hpp"

namespace membound::harness {
namespace {

constexpr std::uint64_t kClockTries = 10;
constexpr double kLongWarmUp = 1;  // seconds after which one pair was warm-up enough

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The measurement of one case while it grows, pair by pair.
class PairLoop {
 public:
  PairLoop(const Bench& bench, const TimingRequest& request, const ReadyLaunch& student,
           TimingOutcome& outcome)
      : parts_(bench.parts()),
        rules_(parts_.device.timing_rules()),
        request_(request),
        outcome_(outcome),
        run_(bench.start(request, student)) {}

  void measure() {
    course::Timing& timing = outcome_.timing;
    timing.event_overhead_ns = run_->event_overhead_ns();
    // Warm-up looks exactly like the measurement; its seeds are others.
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < rules_.warm_up_pairs && seconds_since(start) < kLongWarmUp; ++i)
      run_pair(parts_.seeds.derive(~request_.seed, static_cast<std::uint64_t>(i)), false);
    start = std::chrono::steady_clock::now();
    StopDecision decision;
    for (std::uint64_t pair = 0; !decision.stop; ++pair) {
      run_pair(seed_of(parts_.seeds, request_.seed, pair), true);
      if (!outcome_.not_sampled.empty()) return;
      decision = decide_stop(speed_ratios(timing.student_ns, timing.reference_ns),
                             seconds_since(start), request_.limits, timing.runs_wrong > 0);
    }
    timing.stopped = decision.word;
    timing.stop_reason = request_.sampled ? sample_text_ : decision.reason;
    timing.decided = decision.decided;
    check_clock();
  }

 private:
  double run_student(std::uint64_t seed, bool some_warps) {
    parts_.device.forget_report();
    const double time_ns = run_->run_student(seed, some_warps);
    if (nlohmann::json counters = take_counters(parts_.device); counters.is_object())
      outcome_.counters = std::move(counters);
    return time_ns;
  }

  void run_pair(std::uint64_t seed, bool counts) {
    const bool reference_first = rules_.random_order && (parts_.seeds.derive(seed, 1) & 1) != 0;
    double reference_ns = reference_first ? run_->run_reference(seed) : 0;
    double student_ns = run_student(seed, false);
    // By some warps of each block, with arrays drawn anew: what was given up has left parts behind.
    if (request_.sampled && sample_of(outcome_.counters).takes_long)
      student_ns = run_student(seed, true);
    if (request_.sampled) {
      if (!take_sample(seed)) return;
    } else {
      run_->keep_output();
    }
    if (!reference_first)
      reference_ns = run_->run_reference(seed);
    else if (!run_->keeps_reference_output())
      static_cast<void>(run_->run_reference(seed));  // once more, for its output alone
    if (nlohmann::json counters = run_->take_reference_counters(); counters.is_object())
      outcome_.counters["reference"] = std::move(counters);
    if (!request_.sampled) {
      check_output();
    } else if (const SampleReport of_reference = sample_of(outcome_.counters["reference"]);
               !of_reference.not_sampled.empty()) {
      outcome_.not_sampled = "the reference answer: " + of_reference.not_sampled;
      return;
    }
    if (!counts) return;
    outcome_.timing.student_ns.push_back(student_ns);
    outcome_.timing.reference_ns.push_back(reference_ns);
  }

  /// What the student's sampled launch said and wrote; false: it was not run.
  bool take_sample(std::uint64_t seed) {
    const SampleReport report = sample_of(outcome_.counters);
    outcome_.not_sampled = report.not_sampled;
    outcome_.takes_long = report.takes_long;
    if (!report.not_sampled.empty()) return false;
    sample_text_ = text_of(report);
    course::Timing& timing = outcome_.timing;
    ++timing.runs_checked;
    SampledPlaces& places = outcome_.places;
    places = {report.ran, report.warps < 1, {}};
    const WrittenPart part = run_->compare_sample(seed, [&](std::size_t first, std::size_t count) {
      append(places.touched, static_cast<std::int64_t>(first), static_cast<std::int64_t>(count));
    });
    outcome_.instructions = report.instructions;
    outcome_.writes_variables = report.writes_variables;
    run_->look_at_sampled_inputs(seed);
    if (!run_->suspicion().empty()) timing.suspicion = run_->suspicion();
    const TimedCase& timed = request_.timed_case;
    const bool of_read = static_cast<bool>(timed.expected_of_read);
    if (of_read && part.difference.wrong != 0) {
      // Chunks of the input are known to be read, not words: one of which others should use a part
      // looks the same as a wrong sum. All blocks will tell.
      outcome_.not_sampled = "what the blocks that ran left is not what all that they read makes";
      return false;
    }
    if (report.lacks_others && part.difference.wrong != 0) {
      outcome_.not_sampled = "its last block uses more than sums of what the others leave";
      return false;
    }
    if (part.difference.wrong != 0) {
      if (timing.runs_wrong++ != 0) return true;
      timing.wrong_elements = static_cast<std::int64_t>(part.difference.wrong);
      timing.first_wrong_index = static_cast<std::int64_t>(part.difference.first);
    } else if (!(of_read ? stands_for_all(report.loaded, report.error, part, timed.inputs.front())
                         : stands_for_all(report.stored, report.error, part, timed.output))) {
      outcome_.unlike = of_read
                            ? "what the blocks that ran read stands for too little of the input"
                            : "what the blocks that ran wrote stands for too little of the output";
    }
    return true;
  }

  void check_output() {
    course::Timing& timing = outcome_.timing;
    const Difference difference = run_->compare_kept();
    ++timing.runs_checked;
    if (!run_->suspicion().empty()) timing.suspicion = run_->suspicion();
    if (difference.wrong == 0) return;
    if (timing.runs_wrong++ == 0) {
      timing.wrong_elements = static_cast<std::int64_t>(difference.wrong);
      timing.first_wrong_index = static_cast<std::int64_t>(difference.first);
    }
  }

  /// Noise only ever adds to what a clock outside sees: one agreement in a few tries is enough. Who
  /// is too slow, or wrong, gains nothing by a device that tells wrong times.
  void check_clock() {
    course::Timing& timing = outcome_.timing;
    if (timing.stopped == kStoppedBelow || timing.stopped == kStoppedWrong) return;
    ClockComparison comparison;
    for (std::uint64_t i = 0; i < kClockTries; ++i) {
      const auto samples = run_->time_from_outside(parts_.seeds.derive(request_.seed, ~i));
      if (!samples) return;
      comparison = compare_clocks(timing.student_ns, *samples);
      if (comparison.agrees) break;
    }
    timing.outside_ns = comparison.outside_ns;
    timing.outside_tolerance_ns = comparison.tolerance_ns;
    if (!comparison.agrees)
      timing.suspicion = disagreement_text(median(timing.student_ns), comparison);
  }

  const BenchParts& parts_;
  const TimingRules& rules_;
  const TimingRequest& request_;
  TimingOutcome& outcome_;
  std::string sample_text_;
  std::unique_ptr<TimedRun> run_;
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

/// A predicted time breaks no physics, but what is faster than the best known kernel shows a gap in
/// the model: the speed shown is then the ceiling's.
void hold_prediction(double work, course::Timing& timing) {
  const double reference_rate =
      timing.reference_median_ns > 0 ? work / timing.reference_median_ns * 1e9 : 0;
  timing.ceiling = ceiling_of_prediction(timing.ceiling, reference_rate);
  for (double& time_ns : timing.student_ns) time_ns = held_below(timing.ceiling, work, time_ns);
  summarize(timing);
}

void compare_with_ceiling(const Bench& bench, const TimingRequest& request,
                          course::Timing& timing) {
  const TimedCase& timed_case = request.timed_case;
  const CeilingKind kind = ceiling_kind_of(timed_case);
  timing.ceiling = bench.ceiling(request);
  timing.ceiling_kind = to_string(kind);
  timing.suspicion_margin = kSuspicionMargin;
  const double work =
      timed_case.useful_operations > 0 ? timed_case.useful_operations : timed_case.useful_bytes;
  const bool measured = bench.parts().device.timing_rules().bound_by_ceiling;
  // What the reference answer reached beside it the device can reach, wherever a plain copy's
  // arrays came to lie.
  if (measured)
    timing.ceiling = std::max(timing.ceiling, work / timing.reference_median_ns * 1e9);
  else
    hold_prediction(work, timing);
  const bool too_fast =
      measured && is_suspicious(work / timing.student_median_ns * 1e9, timing.ceiling);
  timing.suspicious = too_fast || !timing.suspicion.empty();
}

}  // namespace

TimingOutcome time_case(const Bench& bench, const TimingRequest& request) {
  const TimedCase& timed_case = request.timed_case;
  const BenchParts& parts = bench.parts();
  TimingOutcome outcome;
  outcome.timing.label = timed_case.label;
  outcome.timing.useful_bytes = timed_case.useful_bytes;
  outcome.timing.useful_operations = timed_case.useful_operations;
  Preparation student = parts.student.prepare(
      {request.kernel, timed_case.instance, timed_case.sizes}, request.timeout_seconds);
  if (student.refusal) {
    outcome.refusal = std::move(student.refusal);
    return outcome;
  }
  outcome.facts = parts.student.facts(student.launch);
  // Of a sum all of the input must be read by blocks that are sampled.
  if (request.sampled && timed_case.expected_of_read && !student.launch.prepares_little()) {
    outcome.not_sampled = "one kernel uses what another leaves";
    return outcome;
  }
  PairLoop(bench, request, student.launch, outcome).measure();
  if (!outcome.not_sampled.empty()) return outcome;
  summarize(outcome.timing);
  parts.clocks.take(outcome.timing.clocks, outcome.timing.throttle_reasons);
  compare_with_ceiling(bench, request, outcome.timing);
  return outcome;
}

}  // namespace membound::harness
