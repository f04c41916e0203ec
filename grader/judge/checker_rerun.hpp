// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// After a stage was run: its tests once more on the virtual GPU with checkers on, which name the
/// line, the thread and what to do. After a wrong result, a fault or a deadlock they tell the
/// cause; after a right one, whether it is right by luck. They cost several times the time, so
/// nothing is timed with them.
#pragma once

#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/measurement.hpp"
#include "grader/judge/stage_runs.hpp"

namespace membound::judge {

/// After which results checkers are to look on.
struct CheckerReruns {
  bool at_failures = false;
  bool at_right_results = false;

  [[nodiscard]] bool any() const { return at_failures || at_right_results; }
};

class EarlyRerun;

/// Is there something in this measurement that checkers could explain?
[[nodiscard]] bool deserves_checker_rerun(const course::Lab& lab,
                                          const course::StageMeasurement& measurement);

/// Is the result right, whatever the speed, so that only checkers can say whether that is luck?
[[nodiscard]] bool may_be_right_by_luck(const course::Lab& lab,
                                        const course::StageMeasurement& measurement);

/// What a runner is told where its kernels' results are right: which checkers look on, at how much.
[[nodiscard]] std::map<std::string, std::string> environment_at_right_results();

/// How the stage is run again, without timing: its failed test alone where that is known; where the
/// results are right the first half of the lab's tests, and some blocks of what is timed; else all.
[[nodiscard]] RunRequest checker_rerun(const RunRequest& run,
                                       const course::StageMeasurement& measurement);

/// How stages whose results are right are run again, in one start of the test program: the first
/// half of their tests, and some blocks of what is timed.
[[nodiscard]] RunRequest rerun_at_right_results(
    const RunRequest& run, const std::vector<const course::StageMeasurement*>& measurements);

/// How a stage is run again before its results are known to be right: as above, where the test
/// program itself takes the first half of its tests.
[[nodiscard]] RunRequest rerun_before_results(const RunRequest& run);

/// How a stage is run beside its rerun where nvcc has compiled it: the code with red zones, with
/// memcheck alone, and nothing of what is timed unless that is what failed.
[[nodiscard]] RunRequest rerun_with_red_zones(const RunRequest& run,
                                              const course::StageMeasurement& measurement);

/// Runs these again and puts what the checkers found into `checks` of their measurements. An early
/// rerun was of the only one.
void rerun_with_checkers(const RunRequest& run, CheckerReruns reruns,
                         std::vector<course::StageMeasurement>& measurements,
                         EarlyRerun* early = nullptr);

/// The rerun of a stage's right results, begun while the run goes on that will say whether they are
/// right: where one stage is checked a processor has little to do. It comes after that run where
/// both want one, and it counts for nothing where the results are wrong. It runs from when it is
/// made until it is taken or goes.
class EarlyRerun {
 public:
  /// Beside `run`; null where nobody wants it, it would be no help, or another rerun than the later
  /// one: with several stages, one processor, a GPU that times, chosen tests, graded runs.
  [[nodiscard]] static std::unique_ptr<EarlyRerun> begin(const RunRequest& run,
                                                         CheckerReruns reruns,
                                                         const DeviceKind& device);
  explicit EarlyRerun(RunRequest rerun);
  EarlyRerun(const EarlyRerun&) = delete;
  EarlyRerun& operator=(const EarlyRerun&) = delete;
  /// Ends it.
  ~EarlyRerun();

  /// The code that it runs.
  [[nodiscard]] const std::filesystem::path& submission() const { return rerun_.submission; }
  /// Waits for what came of it. `waiting` says who may end it meanwhile, and whom to tell that it
  /// runs.
  [[nodiscard]] base::Result<RunOutcome> take(const RunRequest& waiting);

 private:
  std::atomic<bool> ended_{false};
  RunRequest rerun_;
  std::future<base::Result<RunOutcome>> outcome_;
};

// The same looked at by NVIDIA's compute-sanitizer, on a GPU.

/// compute-sanitizer in a folder of `path` or in the toolkit of this compiler; empty without one.
[[nodiscard]] std::filesystem::path find_compute_sanitizer(const std::string& path,
                                                           const std::filesystem::path& compiler);

/// What it said of a run, in a line: "memcheck: Invalid __global__ read of size 4 bytes, kernel.cu
/// 12, thread (192,0,0) in block (8,0,0); 3 in all". `log` is what --log-file got.
[[nodiscard]] std::string sanitizer_words(const std::string& tool, std::string_view log);

/// Runs the tests of each stage of `run`, which are about kernels, once more below each of its four
/// tools, and adds what they say to the remarks of the measurement.
void add_sanitizer_reports(const RunRequest& run, const std::filesystem::path& sanitizer,
                           std::vector<course::StageMeasurement>& measurements);

}  // namespace membound::judge
