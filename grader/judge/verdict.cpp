// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/verdict.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "grader/judge/counter_bars.hpp"
#include "grader/judge/counters_profile.hpp"
#include "grader/judge/findings.hpp"
#include "grader/judge/source_lines.hpp"

namespace membound::judge {
namespace {

using course::BuiltInTest;
using course::Cause;
using course::StageMeasurement;
using course::StageResult;
using course::TestOutcome;
using course::Timing;
using course::Verdict;

constexpr double kNsPerSecond = 1e9;

StageResult empty_result(const course::Lab& lab, const course::Stage& stage) {
  StageResult result;
  result.lab = lab.id;
  result.stage = stage.number;
  result.name = stage.name;
  result.kernel = stage.kernel;
  result.title = stage.title;
  result.bound = lab.bound;
  result.pass_ratio = stage.pass_ratio;
  result.full_ratio = stage.full_ratio;
  result.max_points = stage.points;
  return result;
}

/// Fills in speeds and ratio. The interval is the ratio itself where none was measured.
void take_timing(const Timing& timing, StageResult& result) {
  const double useful =
      result.bound == course::Bound::kBandwidth ? timing.useful_bytes : timing.useful_operations;
  const auto speed = [&](double ns) -> std::optional<double> {
    if (ns <= 0 || useful <= 0) return std::nullopt;
    return useful / ns * kNsPerSecond;
  };
  result.speed = speed(timing.student_median_ns);
  result.reference_speed = speed(timing.reference_median_ns);
  if (timing.ceiling > 0) result.ceiling = timing.ceiling;
  result.ratio = timing.ratio;
  const bool has_interval = timing.ratio_low > 0 && timing.ratio_high >= timing.ratio_low;
  result.ratio_low = has_interval ? timing.ratio_low : timing.ratio;
  result.ratio_high = has_interval ? timing.ratio_high : timing.ratio;
  result.samples = static_cast<std::int64_t>(timing.student_ns.size());
  result.similar_stage = timing.similar_stage;
}

/// Whether a failed test speaks of nothing but speed.
bool is_only_slow(const TestOutcome& test) {
  return test.cause() == Cause::kSlow || test.cause() == Cause::kSuspicious;
}

/// The verdict on the results alone; nothing when they are right. The first failure decides, as it
/// is the easiest to understand: a fault counts as such only where nothing failed before it.
std::optional<Verdict> verdict_on_results(const StageMeasurement& measurement) {
  bool any_ran = false;
  for (const TestOutcome& test : measurement.tests) {
    if (test.skipped) continue;
    any_ran = true;
    if (!test.passed && !is_only_slow(test)) return course::verdict_of(test.cause());
  }
  if (measurement.abort != Cause::kNone) return course::verdict_of(measurement.abort);
  if (!any_ran) return Verdict::kSkipped;
  return std::nullopt;
}

Verdict verdict_on_speed(const StageMeasurement& measurement, const StageResult& result,
                         const course::Stage& stage) {
  for (const Timing& timing : measurement.timings) {
    if (timing.runs_wrong > 0) return Verdict::kWrong;
    if (timing.suspicious) return Verdict::kSuspicious;
  }
  if (!result.ratio) return Verdict::kSkipped;  // a quick run: right, and not timed
  if (*result.ratio_low >= stage.pass_ratio) return Verdict::kPassed;
  if (*result.ratio_high < stage.pass_ratio) return Verdict::kSlow;
  return Verdict::kAmbiguous;
}

/// Whether a stage's bars on counters matter: wrong results are told of first.
bool is_right(Verdict verdict) {
  return verdict == Verdict::kPassed || verdict == Verdict::kSlow || verdict == Verdict::kAmbiguous;
}

/// Puts the judge's own test before that of speed, of which it may be the reason.
void add_budget_test(const std::optional<course::Finding>& missed, StageResult& result) {
  TestOutcome test{std::string(to_string(BuiltInTest::kBudget)), !missed, false, "", "", 0};
  if (missed) test.message = missed->text;
  if (missed) test.hint_tag = missed->hint_tag;
  const auto speed = std::find_if(
      result.tests.begin(), result.tests.end(),
      [](const TestOutcome& other) { return other.name == to_string(BuiltInTest::kSpeed); });
  result.tests.insert(speed, std::move(test));
}

/// All of them, or below the bar those for a right result.
double points_for_program(const course::Stage& stage, const std::optional<double>& ratio) {
  return ratio && *ratio < stage.pass_ratio ? points_for(stage, *ratio) : stage.points;
}

/// Above the bar only where all of the first size's results are known to be right.
double ratio_that_counts(const course::Stage& stage, const StageMeasurement& measurement,
                         const StageResult& result) {
  const double ratio = result.ratio.value_or(0);
  return measurement.no_full_points.empty() ? ratio : std::min(ratio, stage.pass_ratio);
}

/// Turns a right result at which the checkers found something the lab does not allow: what is
/// undefined may come out otherwise next time.
void call_unsafe(const course::Lab& lab, std::vector<course::Finding> found, StageResult& result) {
  result.verdict = Verdict::kUnsafe;
  result.correct = false;
  result.points *= lab.unsafe.points_share;
  TestOutcome test{std::string(to_string(BuiltInTest::kUndefined)), false, false, "", "", 0};
  test.message =
      "The results are right by luck: what follows may come out otherwise at another size, on "
      "another GPU, or tomorrow.";
  test.hint_tag = to_string(Cause::kUnsafe);
  result.tests.push_back(std::move(test));
  result.findings = std::move(found);
}

/// Adds the reasons. A hint written for this very stage comes first, then the one that fits the
/// most wasteful line, then the lab's general one.
void explain_speed(const course::Lab& lab, const course::Stage& stage,
                   const StageMeasurement& measurement, StageResult& result) {
  for (course::Finding& finding :
       speed_findings(lab, stage, measurement, source_lines(measurement.counters, CountedBy::kPtx)))
    result.findings.push_back(std::move(finding));
  if (result.findings.empty()) result.findings.push_back({"slow", "", "", "", "", 0});
  if (std::all_of(result.findings.begin(), result.findings.end(),
                  [](const course::Finding& finding) { return finding.hint_tag.empty(); }))
    result.findings.front().hint_tag = first_known_tag(lab, {std::string(to_string(Cause::kSlow))});
}

}  // namespace

double points_for(const course::Stage& stage, double ratio) {
  const double for_correctness = stage.correctness_points_share * stage.points;
  if (!(ratio >= stage.pass_ratio)) return for_correctness;
  const double for_speed = stage.points - for_correctness;
  return for_correctness + for_speed * std::clamp(ratio / stage.full_ratio, 0.0, 1.0);
}

StageResult judge_stage(const course::Lab& lab, const course::Stage& stage,
                        const StageMeasurement& measurement) {
  StageResult result = empty_result(lab, stage);
  result.device = measurement.device.short_name();
  result.tests = measurement.tests;
  result.timings = measurement.timings;
  result.kernels = measurement.kernels;
  result.cpu_baselines = measurement.cpu_baselines;
  result.notes = measurement.notes;
  result.remarks = measurement.remarks;
  result.seconds = measurement.seconds;
  result.source_lines = source_lines(measurement.counters);
  result.profiles = profiles(measurement.counters);
  result.answer = counted_answer(stage, measurement);
  if (const Timing* const timing = course::slowest(measurement.timings))
    take_timing(*timing, result);
  if (measurement.similar_stage > 0) result.similar_stage = measurement.similar_stage;

  const auto wrong = verdict_on_results(measurement);
  // A program is timed by a check on a GPU alone: what its calls cost is among its demands.
  const bool timed = stage.kind->has_reference || result.ratio.has_value();
  result.verdict = wrong    ? *wrong
                   : !timed ? Verdict::kPassed
                            : verdict_on_speed(measurement, result, stage);
  std::optional<course::Finding> missed;
  if (!stage.counters.empty() && is_right(result.verdict)) {
    // What another device counted explains, and is held against no bar.
    const bool own_counts = measurement.counted_on.empty();
    StageMeasurement uncounted = own_counts ? StageMeasurement() : measurement;
    uncounted.counters = nullptr;
    missed = missed_counter_bar(lab, stage, own_counts ? measurement : uncounted);
    if (missed || (own_counts && measurement.counters.is_object())) add_budget_test(missed, result);
    if (missed) result.verdict = Verdict::kOverBudget;
  }
  result.correct = !wrong && course::row_of(result.verdict).earns_points;
  // Correctness alone earns its share also where nothing could be timed.
  if (result.correct)
    result.points =
        stage.kind->has_reference
            ? points_for(stage, missed ? 0 : ratio_that_counts(stage, measurement, result))
            : points_for_program(stage, result.ratio);

  if (missed)
    result.findings = {*missed};
  else if (result.verdict != Verdict::kPassed && result.verdict != Verdict::kSkipped)
    result.findings = failure_findings(lab, stage, measurement, result.verdict);
  std::vector<course::Finding> found = checker_findings(lab, measurement, result.correct);
  if (result.correct && !found.empty())
    call_unsafe(lab, std::move(found), result);
  else
    std::move(found.begin(), found.end(), std::back_inserter(result.findings));
  if (result.verdict == Verdict::kSlow || result.verdict == Verdict::kAmbiguous)
    explain_speed(lab, stage, measurement, result);
  auto edges = result.correct ? edge_findings(measurement, result) : std::vector<course::Finding>();
  auto remarked = result.correct ? remarks(lab, measurement) : std::vector<course::Finding>();
  auto beside = side_findings(measurement);
  for (auto* more : {&edges, &remarked, &beside})
    std::move(more->begin(), more->end(), std::back_inserter(result.findings));
  return result;
}

StageResult not_run(const course::Lab& lab, const course::Stage& stage, Verdict verdict,
                    std::string reason) {
  StageResult result = empty_result(lab, stage);
  result.verdict = verdict;
  if (!reason.empty()) {
    result.findings.push_back({std::string(course::to_string(verdict)), std::move(reason),
                               verdict == Verdict::kCompileError
                                   ? first_known_tag(lab, {std::string(to_string(Cause::kCompile))})
                                   : "",
                               "", "", 0});
  }
  return result;
}

std::string failed_test(const StageResult& result) {
  for (const TestOutcome& test : result.tests)
    if (test.failed()) return test.name;
  return std::string(to_string(course::row_of(result.verdict).test));
}

}  // namespace membound::judge
