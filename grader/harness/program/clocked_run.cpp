// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/clocked_run.hpp"

#include <chrono>
#include <cstdio>
#include <utility>

#include "grader/base/process.hpp"
#include "grader/base/scratch_folder.hpp"
#include "grader/base/text_files.hpp"
#include "grader/harness/cases/statistics.hpp"
#include "grader/harness/cases/stop_rule.hpp"
#include "grader/sandbox/jail/unjailed.hpp"

namespace membound::harness {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr const char* kScratch = "/scratch";  // jail/unjailed puts a folder in its place
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

}  // namespace

/// One run of one program.
struct ClockedProgram::Once {
  jail::JailOutcome outcome;
  std::vector<Piece> pieces;  ///< empty: no time was taken

  [[nodiscard]] bool ended_well() const {
    return outcome.exit_code == 0 && outcome.limit == jail::LimitHit::kNone;
  }
  [[nodiscard]] double ns() const { return pieces.empty() ? 0 : pieces.front().ns; }
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
    once.pieces = pieces_from_text(*text).value_or(std::vector<Piece>());
  return once;
}

void ClockedProgram::tell_reference(const Once& reference) {
  notes_.push_back("not held against the reference program: it ended with exit code " +
                   std::to_string(reference.outcome.exit_code) + ", without a time\n" +
                   reference.outcome.output);
}

void ClockedProgram::tell_times(double usual_ns, const AloneTimes& alone) {
  notes_.push_back(
      format("on the GPU, from the first kernel or asynchronous copy to the end of "
             "the last: %.4f ms, by events of the grader's",
             ms(usual_ns)));
  if (alone.kernels == 0 || alone.total_ns() <= usual_ns) return;
  std::string text = format(
      "its pieces one at a time: %.4f ms (copies in %.4f, kernels %.4f, "
      "copies out %.4f); %.3f of that is saved",
      ms(alone.total_ns()), ms(alone.in_ns), ms(alone.kernels_ns), ms(alone.out_ns),
      1 - usual_ns / alone.total_ns());
  if (clock_.copies_beside_kernels)
    text += format("; without a gap %d pieces take %.4f ms, %.3f of the time taken, and save %.3f",
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
  bool has_reference = !clock_.reference.empty();
  course::Timing timing;
  std::vector<double> usual_ns;
  RunEnd end;
  const auto keep_end = [&](Once& once) {
    end.program = std::move(once.outcome);
    end.outputs = end.program.files;
  };
  StopDecision decision;
  const auto start = SteadyClock::now();
  for (std::size_t i = 0; !decision.stop; ++i) {
    double reference_ns = 0;
    const auto time_reference = [&]() -> base::Status {
      auto reference = run_once(clock_.reference, given, folder.path(), false);
      if (!reference) return reference.error();
      reference_ns = reference->ns();
      has_reference = reference->ended_well() && reference_ns > 0;
      if (!has_reference) tell_reference(*reference);
      return base::Done{};
    };
    // Whichever goes first finds a GPU that has been idle: in turn each of them.
    if (has_reference && i % 2 == 0)
      if (const auto timed = time_reference(); !timed) return timed.error();
    auto student = run_once(setting_.program, given, folder.path(), false);
    if (!student) return student.error();
    if (has_reference && i % 2 == 1)
      if (const auto timed = time_reference(); !timed) return timed.error();
    ++timing.runs_checked;
    const double student_ns = student->ns();
    const bool as_before = i == 0 || student->outcome.files == end.outputs;
    const bool ended_well = student->ended_well();
    if (i == 0 || !as_before || !ended_well) keep_end(*student);
    if (!as_before || !ended_well) return end;
    if (student_ns <= 0) {
      notes_.emplace_back("not timed: no kernel and no asynchronous copy was handed in");
      return end;
    }
    usual_ns.push_back(student_ns);
    if (!has_reference) {
      decision.stop = clock_.same_every_time || usual_ns.size() >= kRunsWithoutReference;
      continue;
    }
    timing.student_ns.push_back(student_ns);
    timing.reference_ns.push_back(reference_ns);
    const std::chrono::duration<double> taken = SteadyClock::now() - start;
    decision =
        decide_stop(speed_ratios(timing.student_ns, timing.reference_ns), taken.count(), limits);
  }
  // The quickest of them: what could be saved is told for the device at its best.
  std::optional<AloneTimes> alone;
  for (std::size_t i = 0; i < (clock_.same_every_time ? 1 : kRunsApart); ++i) {
    const auto apart = run_once(setting_.program, given, folder.path(), true);
    if (!apart) return apart.error();
    const AloneTimes now = alone_times(apart->pieces);
    if (!alone || now.total_ns() < alone->total_ns()) alone = now;
  }
  tell_times(median(usual_ns), *alone);
  if (!has_reference) return end;
  const std::vector<double> ratios = speed_ratios(timing.student_ns, timing.reference_ns);
  const Interval interval = median_interval(ratios, kReportedConfidence);
  timing.student_median_ns = median(timing.student_ns);
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
