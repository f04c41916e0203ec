// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// main() of every lab's test program: options, session, one suite per stage, GoogleTest; or, once
/// for many submissions, the times of the reference answer alone. Exit codes: course::test_exit.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <deque>
#include <exception>
#include <memory>

#include <gtest/gtest.h>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/lab/session.hpp"
#include "grader/harness/lab/stage_run.hpp"
#include "grader/harness/lab/test_registry.hpp"
#include "grader/harness/measure/bench.hpp"
#include "grader/harness/measure/timed_run.hpp"

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
    // What depends on the data shows at the largest size; where that cannot be sampled, run whole.
    if (one.is_largest || !one.sampled)
      other_ns = time_with(session.seeds().derive(request.seed, 1)).time_ns;
  }
  const double time_ns = time.time_ns;
  times.add(one.stage.number, one.timed.label, one.sampled, std::move(time));
  if (std::abs(other_ns - time_ns) <= kSameTime * time_ns) return "";
  return "the time of " + one.name() + " depends on the data: " + base::decimal(time_ns, 1) +
         " ns, and " + base::decimal(other_ns, 1) + " ns with others";
}

/// Every timed case of every stage, each with two seeds: predicted times that differ depend on the
/// data, and are of no use for another submission's; nor are any without TimedCase::expected. Only
/// for virtual GPUs. Throws ReferenceError.
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

}  // namespace

}  // namespace membound::harness

namespace {

using namespace membound;
using namespace membound::harness;

namespace test_exit = course::test_exit;

int write_times(Session& session, const std::filesystem::path& file) {
  if (!session.device().timing_rules().same_every_time) {
    std::fputs("--time-reference: a real GPU is timed beside each submission\n", stderr);
    return test_exit::kWrongUse;
  }
  const base::Status written = base::write_file(file, time_references(session).to_text());
  if (written) return test_exit::kAllPassed;
  std::fprintf(stderr, "%s\n", base::to_string(written.error()).c_str());
  return test_exit::kOurFault;
}

/// Each stage's timed cases whole; what goes wrong on the way is written as in any other run.
int look_at_all(Session& session, std::deque<StageRun>& runs, std::atomic<StageRun*>& current) {
  if (!session.device().can_sample()) {
    std::fputs("--whole: a real GPU runs all blocks when it times them\n", stderr);
    return test_exit::kWrongUse;
  }
  bool all_right = true;
  for (const course::Stage& stage : session.stages()) {
    StageRun& run = runs.emplace_back(session, stage);
    current = &run;
    run.begin_stage();
    run.begin_test(std::string(to_string(course::BuiltInTest::kSpeed)));
    run.look_at_all();
    run.end_stage();
    for (const course::WholeRun& whole : run.measurement().whole_runs)
      all_right = all_right && !whole.is_wrong();
  }
  return all_right ? test_exit::kAllPassed : test_exit::kSomeFailed;
}

int run_all(const Options& options, const LabProgram& program) {
  std::atomic<StageRun*> current{nullptr};
  Watchdog watchdog([&current](const std::string& what, double seconds) {
    if (StageRun* run = current) run->abort_timeout(what, seconds);
  });
  const auto session = Session::open(options, program, watchdog);
  if (!session) {
    std::fprintf(stderr, "%s\n", base::to_string(session.error()).c_str());
    if (session.error().kind == base::ErrorKind::kInput) return test_exit::kNotLoadable;
    return session.error().kind == base::ErrorKind::kUsage ? test_exit::kWrongUse
                                                           : test_exit::kOurFault;
  }
  if (!options.time_reference.empty()) return write_times(**session, options.time_reference);
  const DeviceScope on_students_device(options.student_device);
  std::deque<StageRun> runs;  // a deque: the runs must stay where they are
  auto recorder = std::make_unique<StageRecorder>(current);
  for (const course::Stage& stage : (*session)->stages()) {
    if (options.whole) break;  // no tests
    StageRun& run = runs.emplace_back(**session, stage);
    recorder->add(run, register_stage(run));
  }
  testing::UnitTest::GetInstance()->listeners().Append(recorder.release());
  try {
    return options.whole ? look_at_all(**session, runs, current) : RUN_ALL_TESTS();
  } catch (const CudaError& error) {
    if (current.load() == nullptr || !current.load()->is_its_doing(error.code())) throw;
    current.load()->abort_fault(error.code());
  } catch (const nlohmann::json::exception& error) {
    // Of a graded run; else the report is our own process's.
    if (current.load() == nullptr || !options.seed_key) throw;
    current.load()->abort_nonsense(error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  base::keep_freed_memory();
  testing::InitGoogleTest(&argc, argv);
  // What a test throws is not the student's fault: it ends the run, with exit code 3.
  GTEST_FLAG_SET(catch_exceptions, false);
  const ParsedOptions parsed = parse_options(argc, argv);
  if (!parsed.options) {
    std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  if (!parsed.options->oracle.empty()) {
    if (const base::Status added = register_oracle(*parsed.options); !added) {
      std::fprintf(stderr, "%s\n", base::to_string(added.error()).c_str());
      return test_exit::kOurFault;
    }
  }
  const LabProgram* program = lab_program();
  MEMBOUND_CHECK(program != nullptr);  // neither --oracle nor a test.cpp with LAB_PROGRAM
  try {
    return run_all(*parsed.options, *program);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "internal error: %s\n", error.what());
    return test_exit::kOurFault;
  }
}
