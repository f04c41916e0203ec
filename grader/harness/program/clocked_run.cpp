// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/clocked_run.hpp"

#include <chrono>
#include <cstdio>
#include <utility>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/harness/cases/statistics.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::harness {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr const char* kScratch = "/scratch";  // run_unjailed() puts a folder in its place
/// A driver's start, and a first launch, on top of the program's own limit.
constexpr double kStartSeconds = 20;
/// A pair starts two programs, each for about a second.
constexpr double kSecondsClear = 5, kSecondsNear = 20;
constexpr std::size_t kMostPairs = 41, kRunsWithoutReference = 5, kRunsApart = 5;

std::string format(const char* pattern, auto... values) {
  char text[240];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}
double ms(double ns) { return ns / 1e6; }

/// Whatever it was, it says nothing about a submission.
base::Error not_here(const fs::path& program, const jail::JailOutcome& outcome) {
  return {base::ErrorKind::kMachine, program.string(),
          "ended with exit code " + std::to_string(outcome.exit_code) + " and without a time\n" +
              outcome.output,
          "a program that runs on this GPU", "membound doctor looks at the machine"};
}

}  // namespace

/// One run of one program.
struct ClockedProgram::Once {
  jail::JailOutcome outcome;
  std::vector<Operation> operations;  ///< empty: no time was taken

  [[nodiscard]] bool ended_well() const {
    return outcome.exit_code == 0 && outcome.limit == jail::LimitHit::kNone;
  }
  [[nodiscard]] double ns() const { return operations.empty() ? 0 : operations.front().ns; }
};

struct ClockedProgram::Pair {
  Once student;
  double reference_ns = 0;  ///< 0: there is no reference program
};

base::Result<ClockedProgram::Once> ClockedProgram::run_once(const fs::path& program,
                                                            const Given& given,
                                                            const fs::path& folder,
                                                            bool apart) const {
  const fs::path report = folder / "report";
  std::error_code ignored;
  fs::remove(report, ignored);
  jail::JailRequest request;
  request.arguments = {program, std::to_string(given.stage), folder / "inputs", kScratch};
  request.scratch = request.folder = kScratch;
  request.environment = setting_.runner_environment;
  request.environment["LD_LIBRARY_PATH"] = base::search_path(setting_.runtime_folders);
  request.environment["LD_PRELOAD"] = clock_.clock;
  request.environment["MEMBOUND_WORK_CLOCK"] = report;
  if (apart) request.environment["MEMBOUND_WORK_CLOCK_APART"] = "on";
  // Kernels are loaded before the work begins, not by their first launch.
  request.environment["CUDA_MODULE_LOADING"] = "EAGER";
  request.limits = setting_.program_limits;
  request.limits.wall_seconds += kStartSeconds;
  for (const std::string& name : given.outputs) request.collected.emplace_back(name);
  auto outcome = jail::run_unjailed(request);
  if (!outcome) return outcome.error();
  Once once{*std::move(outcome), {}};
  if (const auto text = base::read_file(report))
    once.operations = operations_from_text(*text).value_or(std::vector<Operation>());
  return once;
}

base::Result<ClockedProgram::Pair> ClockedProgram::run_pair(const Given& given,
                                                            const fs::path& folder,
                                                            bool reference_first) const {
  Pair pair;
  const auto run_student = [&]() -> base::Status {
    auto once = run_once(setting_.program, given, folder, false);
    if (!once) return once.error();
    pair.student = *std::move(once);
    return base::Done{};
  };
  const auto run_reference = [&]() -> base::Status {
    if (clock_.reference.empty()) return base::Done{};
    const auto once = run_once(clock_.reference, given, folder, false);
    if (!once) return once.error();
    if (!once->ended_well() || once->ns() <= 0) return not_here(clock_.reference, once->outcome);
    pair.reference_ns = once->ns();
    return base::Done{};
  };
  if (reference_first)
    if (const auto done = run_reference(); !done) return done.error();
  if (const auto done = run_student(); !done) return done.error();
  if (!reference_first)
    if (const auto done = run_reference(); !done) return done.error();
  // Without a reference program nobody knows whether any program runs here.
  if (clock_.reference.empty() && !pair.student.ended_well())
    return not_here(setting_.program, pair.student.outcome);
  return pair;
}

base::Result<AloneTimes> ClockedProgram::times_alone(const Given& given,
                                                     const fs::path& folder) const {
  AloneTimes least;
  for (std::size_t i = 0; i < (clock_.same_every_time ? 1 : kRunsApart); ++i) {
    const auto apart = run_once(setting_.program, given, folder, true);
    if (!apart) return apart.error();
    const AloneTimes now = alone_times(apart->operations);
    if (least.kernels == 0 || (now.kernels > 0 && now.total_ns() < least.total_ns())) least = now;
  }
  return least;
}

void ClockedProgram::tell_times(double usual_ns, const AloneTimes& alone) {
  notes_.push_back(
      format("on the GPU, from the first kernel or asynchronous copy to the end of "
             "the last: %.4f ms, by events of the grader's",
             ms(usual_ns)));
  if (alone.kernels == 0 || alone.total_ns() <= usual_ns) return;
  std::string text = format(
      "its operations one at a time: %.4f ms (copies in %.4f, kernels %.4f, "
      "copies out %.4f); %.3f of that is saved",
      ms(alone.total_ns()), ms(alone.in_ns), ms(alone.kernels_ns), ms(alone.out_ns),
      1 - usual_ns / alone.total_ns());
  if (clock_.copies_beside_kernels)
    text += format("; without a gap %d chunks take %.4f ms, %.3f of the time taken, and save %.3f",
                   alone.kernels, ms(alone.ideal_ns()), alone.ideal_ns() / usual_ns,
                   1 - alone.ideal_ns() / alone.total_ns());
  notes_.push_back(std::move(text));
}

base::Result<RunEnd> ClockedProgram::run(const Given& given) {
  const base::ScratchFolder folder("clocked");
  if (const auto laid = lay_out_inputs(given, folder.path()); !laid) return laid.error();
  const StopLimits limits{.bar = clock_.bar,
                          .full_bar = clock_.bar,
                          .seconds_clear = kSecondsClear,
                          .seconds_near = kSecondsNear,
                          .most_pairs = kMostPairs,
                          .same_every_time = clock_.same_every_time};
  course::Timing timing;
  RunEnd end;
  StopDecision decision;
  const auto start = SteadyClock::now();
  for (std::size_t i = 0; !decision.stop; ++i) {
    // Whichever goes first finds a GPU that has been idle: in turn each of them.
    auto pair = run_pair(given, folder.path(), i % 2 == 0);
    if (!pair) return pair.error();
    Once& student = pair->student;
    ++timing.runs_checked;
    const bool as_before = i == 0 || student.outcome.files == end.outputs;
    const bool well = student.ended_well() && as_before;
    if (i == 0 || !well) {
      end.program = std::move(student.outcome);
      end.outputs = end.program.files;
    }
    if (!well) return end;
    if (student.ns() <= 0) {
      notes_.emplace_back("not timed: no kernel and no asynchronous copy was handed in");
      return end;
    }
    timing.student_ns.push_back(student.ns());
    timing.reference_ns.push_back(pair->reference_ns);
    const std::chrono::duration<double> taken = SteadyClock::now() - start;
    if (clock_.reference.empty())
      decision.stop = clock_.same_every_time || i + 1 >= kRunsWithoutReference;
    else
      decision =
          decide_stop(speed_ratios(timing.student_ns, timing.reference_ns), taken.count(), limits);
  }
  timing.student_median_ns = median(timing.student_ns);
  const auto alone = times_alone(given, folder.path());
  if (!alone) return alone.error();
  tell_times(timing.student_median_ns, *alone);
  if (clock_.reference.empty()) return end;
  const std::vector<double> ratios = speed_ratios(timing.student_ns, timing.reference_ns);
  const Interval interval = median_interval(ratios, kReportedConfidence);
  timing.reference_median_ns = median(timing.reference_ns);
  timing.ratio = median(ratios);
  timing.ratio_low = interval.low;
  timing.ratio_high = interval.high;
  timing.decided = decision.decided;
  timing.stopped = decision.word;
  timing.stop_reason = decision.reason;
  timing_ = std::move(timing);
  return end;
}

}  // namespace membound::harness
