// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The half of StageRun that times: its cases, what follows from a slow one, the CPU beside them.
#include <algorithm>
#include <cstdio>
#include <limits>

#include "grader/harness/lab/stage_run.hpp"
#include "grader/harness/measure/timed_run.hpp"
#include "grader/harness/measure/timing.hpp"

namespace membound::harness {
namespace {

std::string format(const char* pattern, double a, double b) {
  char text[160];
  std::snprintf(text, sizeof(text), pattern, a, b);
  return text;
}

/// "3912 GB/s"
std::string rate_text(double per_second, bool operations) {
  return format(operations ? "%.4g Gops/s" : "%.4g GB/s", per_second / 1e9, 0);
}

/// Shortest of a few runs; one is enough when it takes long.
double time_on_cpu(const std::function<void()>& work) {
  constexpr int kRuns = 5;
  constexpr double kLongNs = 5e8;
  double best_ns = 0;
  for (int i = 0; i < kRuns && best_ns < kLongNs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double time_ns =
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
    best_ns = i == 0 ? time_ns : std::min(best_ns, time_ns);
  }
  return best_ns;
}

/// Adds a case's counters to the stage's, each kernel marked with the case's label.
void merge_counters(nlohmann::json& all, nlohmann::json one, const std::string& label) {
  if (!one.is_object()) return;
  for (auto* part : {&one, one.contains("reference") ? &one["reference"] : nullptr})
    if (part != nullptr && part->contains("kernels"))
      for (nlohmann::json& kernel : (*part)["kernels"]) kernel["case"] = label;
  if (!all.is_object()) {
    all = std::move(one);
    return;
  }
  for (const char* list : {"kernels", "reports"})
    for (const nlohmann::json& entry : one.value(list, nlohmann::json::array()))
      all[list].push_back(entry);
  if (one.contains("reference"))
    for (const nlohmann::json& entry : one["reference"].value("kernels", nlohmann::json::array()))
      all["reference"]["kernels"].push_back(entry);
}

bool same_work(const TimedCase& one, const TimedCase& other) {
  return one.sizes == other.sizes && one.useful_bytes == other.useful_bytes &&
         one.useful_operations == other.useful_operations;
}

/// A size with more than this share of the elements whose blocks took too many instructions is not
/// tried: those of 1536 places take 6 % fewer than those of 1568.
constexpr double kNearlyAsLong = 0.9;

double elements_of(const std::vector<std::int64_t>& size) {
  double product = 1;
  for (const std::int64_t each : size) product *= static_cast<double>(each);
  return product;
}

std::vector<course::CpuBaselineTime> time_cpu_baselines(const LabProgram& program,
                                                        const std::vector<std::int64_t>& size,
                                                        const TimedCase& timed_case) {
  std::vector<course::CpuBaselineTime> times;
  for (const CpuBaseline& baseline : program.cpu_baselines) {
    const std::function<void()> work = baseline.prepare(size);
    times.push_back(
        {baseline.label, time_on_cpu(work), timed_case.useful_bytes, timed_case.useful_operations});
  }
  return times;
}

}  // namespace

testing::AssertionResult StageRun::check_speed() {
  const std::vector<Session::SizedCases> ways = session_.ways_to_time(stage_);
  testing::AssertionResult verdict = testing::AssertionSuccess();
  std::string why_not;
  double long_elements = std::numeric_limits<double>::infinity();  // whose blocks take too long
  for (const Session::SizedCases& way : ways) {
    const double elements = elements_of(way.size);
    if (way.sampled && elements > kNearlyAsLong * long_elements) continue;
    bool takes_long = false;
    const std::optional<testing::AssertionResult> timed = time_cases(way, why_not, takes_long);
    if (takes_long) long_elements = elements;
    if (!timed) continue;
    if (!why_not.empty()) add_remark("timed at " + way.cases.front().label + ": " + why_not);
    verdict = *timed;
    break;
  }
  if (session_.is_kept_from_sampling(stage_))
    add_note("timed at " + ways.front().cases.front().label +
             ", the smallest size: checkers or a trace look on at all blocks there");
  if (session_.knows_no_parts(stage_))
    add_remark(
        "timed at " + ways.front().cases.front().label +
        ", the smallest size, with all of its blocks: what some of them leave depends on all "
        "of the input");
  const bool is_last = session_.stages().back().number == stage_.number;
  if (is_last && session_.device().timing_rules().comparable_with_cpus)
    measurement_.cpu_baselines = time_cpu_baselines(session_.program(), session_.timed_size(stage_),
                                                    ways.front().cases.front());
  return verdict;
}

std::optional<testing::AssertionResult> StageRun::time_cases(const Session::SizedCases& way,
                                                             std::string& why_not,
                                                             bool& takes_long) {
  testing::AssertionResult verdict = testing::AssertionSuccess();
  course::Cause first_cause = course::Cause::kNone;
  for (std::size_t i = 0; i < way.cases.size(); ++i) {
    TimingRequest request = timing_request(way.cases[i], stage_, seed_of_case(i));
    request.sampled = way.sampled;
    session_.renew_student();
    TimingOutcome outcome = time_case(session_.bench(), request);
    if (outcome.refusal) return refuse(*outcome.refusal);
    if (outcome.not_sampled.empty() && outcome.timing.runs_wrong == 0) {
      check_places(way, i, outcome);
      // Results are right, or wrong here; the time is another question.
      if (outcome.timing.runs_wrong == 0) outcome.not_sampled = outcome.unlike;
    }
    if (!outcome.not_sampled.empty()) {
      const std::string why =
          way.cases[i].label + " cannot be timed by some of its blocks: " + outcome.not_sampled;
      if (way.cases[i].may_be_left_out) {
        add_remark("not timed: " + why);
        continue;
      }
      forget_timings();
      takes_long = outcome.takes_long;
      if (why_not.empty()) why_not = why;
      return std::nullopt;
    }
    const testing::AssertionResult one = judge_case(outcome.timing, way.cases[i]);
    keep(std::move(outcome), way, i);
    if (one || !verdict) continue;
    verdict = one;
    first_cause = cause_;
  }
  cause_ = first_cause;
  return verdict;
}

void StageRun::add_note(std::string note) {
  const std::lock_guard lock(mutex_);
  measurement_.notes.push_back(std::move(note));
}

void StageRun::add_remark(std::string remark) {
  const std::lock_guard lock(mutex_);
  measurement_.remarks.push_back(std::move(remark));
}

void StageRun::forget_timings() {
  const std::lock_guard lock(mutex_);
  measurement_.timings.clear();
  measurement_.kernels.clear();
  measurement_.counters = nullptr;
  measurement_.whole_runs.clear();
  measurement_.no_full_points.clear();
  measurement_.remarks.clear();
  measurement_.similar_stage = 0;
}

/// False: some launch must run whole.
bool StageRun::look_at(const TimingRequest& request, ReadyLaunch student, bool some_of_last) {
  student.samples_last = some_of_last;
  const auto run = session_.bench().start(request, std::move(student));
  session_.device().forget_report();
  static_cast<void>(run->run_student(request.seed));
  const nlohmann::json report = session_.device().take_report();
  const bool samples = request.sampled || some_of_last;
  if (samples && !sample_of(report).not_sampled.empty()) return false;
  keep_checks(report);
  return true;
}

testing::AssertionResult StageRun::look_at_timed_launches() {
  const std::vector<Session::SizedCases> ways = session_.ways_to_look(stage_);
  auto way = ways.begin();  // what does not do for one case does not for the next
  bool some_of_last = session_.looks_at_some_blocks();
  for (std::size_t i = 0; i < ways.front().cases.size(); ++i) {
    for (bool done = false; !done;) {
      const TimedCase& one = way->cases[i];
      TimingRequest request = timing_request(one, stage_, seed_of_case(i));
      request.sampled = way->sampled;
      session_.renew_student();
      const Preparation student = session_.student().prepare(
          {stage_.kernel, one.instance, one.sizes}, request.timeout_seconds);
      if (student.refusal) return refuse(*student.refusal);
      // What a later launch of a plan reads, all blocks of those before it have written.
      const bool can = !way->sampled || student.launch.prepares_little();
      done = can && look_at(request, student.launch, !way->sampled && some_of_last);
      if (done) continue;
      if (way->sampled)
        ++way;
      else
        some_of_last = false;
    }
  }
  return testing::AssertionSuccess();
}

std::uint64_t StageRun::seed_of_case(std::size_t index) const {
  const std::uint64_t seed = session_.options().seed;
  const std::uint64_t of_stage =
      session_.options().seed_key
          ? session_.seeds().derive(seed, static_cast<std::uint64_t>(stage_.number))
          : seed;
  return session_.seeds().derive(of_stage, index);
}

TimingRequest StageRun::timing_request(const TimedCase& timed_case, const course::Stage& stage,
                                       std::uint64_t seed) {
  StopLimits limits;
  limits.bar = stage.pass_ratio;
  limits.full_bar = stage.full_ratio;
  limits.same_every_time = session_.device().timing_rules().same_every_time;
  return {timed_case,
          stage.number,
          stage.kernel,
          limits,
          session_.timeout_seconds(stage_),
          seed,
          [this](cudaError_t code) { abort_fault(code); }};
}

void StageRun::keep(TimingOutcome outcome, const Session::SizedCases& way, std::size_t case_index) {
  course::Timing& timing = outcome.timing;
  if (timing.ratio < stage_.pass_ratio && timing.runs_wrong == 0)
    find_similar_stage(way, case_index, timing);
  const std::lock_guard lock(mutex_);
  if (case_index == 0) measurement_.kernels = std::move(outcome.facts);
  if (session_.options().counters)
    merge_counters(measurement_.counters, std::move(outcome.counters), timing.label);
  if (measurement_.counters.is_object()) measurement_.counters["size"] = way.size;
  measurement_.timings.push_back(std::move(timing));
  const auto slowest = std::min_element(
      measurement_.timings.begin(), measurement_.timings.end(),
      [](const course::Timing& a, const course::Timing& b) { return a.ratio < b.ratio; });
  measurement_.similar_stage = slowest->similar_stage;
}

void StageRun::find_similar_stage(const Session::SizedCases& way, std::size_t case_index,
                                  course::Timing& timing) {
  std::vector<std::pair<int, double>> times;
  const TimedCase& own = way.cases[case_index];
  for (const course::Stage& other : session_.lab().stages) {
    if (other.number == stage_.number) continue;
    const auto& sizes = other.timed_sizes;
    if (way.size != session_.timed_size(other) &&
        std::find(sizes.begin(), sizes.end(), way.size) == sizes.end())
      continue;
    const std::vector<TimedCase> cases = session_.program().timed_cases(other, way.size);
    // A stage with other work is no faster way to do this one's; at this one's size it may not even
    // fit into the device's memory.
    if (case_index >= cases.size() || !same_work(own, cases[case_index])) continue;
    try {
      TimingRequest request = timing_request(cases[case_index], other, session_.options().seed);
      request.sampled = way.sampled;
      const double time_ns = session_.bench().time_reference(request);
      if (time_ns > 0) times.emplace_back(other.number, time_ns);
    } catch (const ReferenceError& error) {  // a hint less; the stage itself was measured
      measurement_.notes.emplace_back(error.what());
    }
  }
  timing.similar_stage = nearest_stage(timing.student_median_ns, times);
  for (const auto& [number, time_ns] : times)
    if (number == timing.similar_stage) timing.similar_stage_ns = time_ns;
}

testing::AssertionResult StageRun::judge_case(const course::Timing& timing,
                                              const TimedCase& timed_case) {
  const bool operations = timed_case.useful_operations > 0;
  const double work = operations ? timed_case.useful_operations : timed_case.useful_bytes;
  const std::string rate = rate_text(work / timing.student_median_ns * 1e9, operations);
  if (timing.runs_wrong > 0) {
    cause_ = course::Cause::kWrongInTimedRun;
    if (!timing.wrong_text.empty())
      return testing::AssertionFailure() << timing.label << ": " << timing.wrong_text;
    return testing::AssertionFailure()
           << timing.label << ": the result of " << timing.runs_wrong << " of "
           << timing.runs_checked
           << " timed runs differs from the reference answer's: " << timing.wrong_elements
           << " elements in the first of them, the first is element " << timing.first_wrong_index;
  }
  if (timing.suspicious) {
    cause_ = course::Cause::kSuspicious;
    if (!timing.suspicion.empty())
      return testing::AssertionFailure() << timing.label << ": " << timing.suspicion;
    return testing::AssertionFailure()
           << timing.label << ": " << rate << " is more than the device can do ("
           << rate_text(timing.ceiling, operations) << " measured in the same run)";
  }
  if (timing.ratio < stage_.pass_ratio) {
    cause_ = course::Cause::kSlow;
    return testing::AssertionFailure()
           << timing.label << ": " << rate
           << format(", %.3f of the reference answer's speed; the bar is %.3f", timing.ratio,
                     stage_.pass_ratio);
  }
  return testing::AssertionSuccess();
}

}  // namespace membound::harness
