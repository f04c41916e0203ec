// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <string>
#include <utility>

#include "grader/base/demangle.hpp"
#include "grader/course/json_io.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/judge/counters_profile.hpp"
#include "grader/judge/findings.hpp"

namespace membound::judge {
namespace {

using nlohmann::json;

/// Of a quotient, for its own rounding; counts are whole and exact.
constexpr double kRounding = 1e-9;

/// "32", "3.29"
std::string quotient_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, value == std::round(value) ? "%.0f" : "%.2f", value);
  return text;
}

/// "local load requests" for "local_load_requests".
std::string words(std::string counter) {
  std::replace(counter.begin(), counter.end(), '_', ' ');
  return counter;
}

/// What `bar` divides by.
double divisor(const course::CounterBar& bar, const json& counters, int multiprocessors) {
  if (bar.per.empty()) return 1;
  return bar.per == course::kMultiprocessors ? multiprocessors : counted_in_ptx(counters, bar.per);
}

/// By how much these counts pass the bar; not above 0 if they do not.
double excess(const course::CounterBar& bar, const json& counters, int multiprocessors) {
  const double allowed = bar.at_most * divisor(bar, counters, multiprocessors);
  return counted_in_ptx(counters, bar.counter) - allowed * (1 + kRounding);
}

/// Puts in the line of the kernel that passes the bar by the most, if one does by itself.
void find_line(const course::CounterBar& bar, const json& kernel, int multiprocessors,
               course::Finding& finding) {
  double most = 0;
  for (const json& line : kernel.value("lines", json::array())) {
    if (!line.is_object() || !line.contains("counters")) continue;
    const double above = excess(bar, line["counters"], multiprocessors);
    if (above <= most) continue;
    most = above;
    finding.file = course::text_or_empty(line, "file");
    finding.line = static_cast<int>(course::number_or_zero(line, "line", 0, 1e9));
  }
}

/// A kernel whose blocks have more shared memory than `bar` allows.
std::optional<course::Finding> missed_shared_bytes(const course::CounterBar& bar,
                                                   const course::StageMeasurement& measurement) {
  for (const course::KernelFacts& kernel : measurement.kernels) {
    const auto bytes =
        static_cast<double>(kernel.static_shared_bytes + kernel.dynamic_shared_bytes);
    if (bytes <= bar.at_most) continue;
    course::Finding finding;
    finding.text = "A block of " + base::short_function_name(kernel.name) + " has " +
                   quotient_text(bytes) + " bytes of shared memory; this stage allows " +
                   quotient_text(bar.at_most) + ".";
    return finding;
  }
  return std::nullopt;
}

std::string told(const course::CounterBar& bar, const json& kernel, double per) {
  const double all = counted_in_ptx(kernel.at("counters"), bar.counter);
  std::string text = base::short_function_name(course::text_or_empty(kernel, "name")) + " takes " +
                     quotient_text(per > 0 ? all / per : all) + " " + words(bar.counter);
  // "for each of its ideal shared wavefronts"
  if (!bar.per.empty())
    text += bar.per == course::kMultiprocessors ? " for each of the multiprocessors"
                                                : " for each of its " + words(bar.per);
  return text + " in the timed run; this stage allows " + quotient_text(bar.at_most) + ".";
}

/// The first kernel of which more was counted than `bar` allows.
std::optional<course::Finding> missed_count(const course::CounterBar& bar,
                                            const course::StageMeasurement& measurement) {
  if (!measurement.counters.is_object()) return std::nullopt;
  const int multiprocessors = measurement.device.sm_count;
  for (const json& kernel : measurement.counters.value("kernels", json::array())) {
    if (!kernel.is_object() || is_harness_kernel(kernel_name(kernel)) ||
        !kernel.contains("counters"))
      continue;
    if (excess(bar, kernel["counters"], multiprocessors) <= 0) continue;
    course::Finding finding;
    finding.text = told(bar, kernel, divisor(bar, kernel["counters"], multiprocessors));
    find_line(bar, kernel, multiprocessors, finding);
    return finding;
  }
  return std::nullopt;
}

}  // namespace

std::optional<course::Finding> missed_counter_bar(const course::Lab& lab,
                                                  const course::Stage& stage,
                                                  const course::StageMeasurement& measurement) {
  for (const course::CounterBar& bar : stage.counters) {
    auto finding = bar.counter == kSharedBytesOfABlock ? missed_shared_bytes(bar, measurement)
                                                       : missed_count(bar, measurement);
    if (!finding) continue;
    finding->kind = "over-budget";
    finding->hint_tag = first_known_tag(lab, {bar.hint_tag});
    finding->test = to_string(course::BuiltInTest::kBudget);
    return finding;
  }
  return std::nullopt;
}

namespace {

/// What a question counts of one kernel. Whether the hardware executes an atomic operation whose
/// result nobody reads as a reduction is up to the compiler: a question about the one asks for
/// both.
double counted_for_question(const json& counters, const std::string& name) {
  if (name == "atomic_requests" || name == "reduction_requests")
    return counted_in_ptx(counters, "atomic_requests") +
           counted_in_ptx(counters, "reduction_requests");
  return counted_in_ptx(counters, name);
}

}  // namespace

std::optional<double> counted_answer(const course::Stage& stage,
                                     const course::StageMeasurement& measurement) {
  if (!stage.question || !measurement.counters.is_object()) return std::nullopt;
  const course::Question& question = *stage.question;
  if (!stage.kind->has_reference) {
    const json program = measurement.counters.value("program", json::object());
    return program.contains(question.counter) ? std::optional(program[question.counter])
                                              : std::nullopt;
  }
  double count = 0, per = 0;
  const auto kernels = kernels_of_first_case(measurement.counters);
  if (kernels.empty()) return std::nullopt;
  for (const json* kernel : kernels) {
    count += counted_for_question((*kernel)["counters"], question.counter);
    per += counted_in_ptx((*kernel)["counters"], question.per);
  }
  if (question.per.empty()) return count;
  if (question.per == course::kMultiprocessors) per = measurement.device.sm_count;
  if (per <= 0) return std::nullopt;
  return count / per;
}

namespace {

using course::BuiltInTest;
using course::Cause;
using course::StageMeasurement;
using course::StageResult;
using course::TestOutcome;
using course::Timing;
using course::Verdict;

constexpr double kNsPerSecond = 1e9;
/// The tag of the hints about what answers.md says.
constexpr std::string_view kAnswersHint = "answers";

StageResult empty_result(const course::Lab& lab, const course::Stage& stage) {
  StageResult result;
  result.lab = lab.id;
  result.stage = stage.number;
  result.name = stage.name;
  result.kernel = stage.kernel;
  result.title = stage.title;
  result.bound = stage.bound;
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

void hold_answers(const course::Lab& lab, const course::Stage& stage, std::string_view submission,
                  StageResult& result) {
  if (stage.answers.empty()) return;
  const std::string problem = course::problem_with_answers(lab, stage, submission);
  const double share = lab.answers.points_share;
  result.points = result.points * (1 - share) + (problem.empty() ? share * stage.points : 0);
  TestOutcome test{
      std::string(to_string(BuiltInTest::kAnswers)), problem.empty(), false, problem, "", 0};
  if (!problem.empty()) {
    test.hint_tag = first_known_tag(lab, {std::string(kAnswersHint)});
    // A mistake in the code is told first.
    const bool all_else_is_right =
        result.passed() || (result.verdict == Verdict::kSkipped && result.correct);
    if (all_else_is_right) result.verdict = Verdict::kNotAsAsked;
    result.findings.push_back({"failed-test", problem, test.hint_tag, test.name, "", 0});
  }
  result.tests.push_back(std::move(test));
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
